import { z } from 'zod'
import type { SettledAttempt } from '../../platform/outbox/channel.ts'
import { AttemptDetails } from '../../platform/requests/attempt-details.ts'
import { ATTEMPT_TIMEOUT_MS } from '../../platform/requests/schedule.ts'
import type { TlsError } from './view-endpoint.ts'

/** The state of an endpoint after its attempts. */
export type Health = {
  readonly lastStatus: number | null
  readonly lastAttemptAt: Date | null
  readonly lastDeliveredAt: Date | null
  /** Since the last success. */
  readonly failingSince: Date | null
  readonly failedAttempts: number
  readonly tlsError: TlsError | null
  /** Minute of the newest entry in the audit log, by code of the error. */
  readonly tlsAudited: Readonly<Record<string, string>>
}

export const TlsAudited = z.record(z.string(), z.string())

export type AfterAttempts = {
  readonly health: Health
  /** Errors of TLS to write into the audit log: each code once a minute. */
  readonly tlsErrors: readonly TlsError[]
}

/** @param attempts of one endpoint */
export function afterAttempts(before: Health, attempts: readonly SettledAttempt[]): AfterAttempts {
  const tlsErrors: TlsError[] = []
  const health = attempts
    .toSorted((a, b) => a.endedAt.getTime() - b.endedAt.getTime())
    .reduce<Health>((known, { delivery, result, startedAt, endedAt }) => {
      // Another worker may have recorded a newer attempt first. One that is newer by more than an attempt takes is from
      // before the database's clock jumped back.
      const isNewest =
        known.lastAttemptAt === null ||
        endedAt >= known.lastAttemptAt ||
        known.lastAttemptAt.getTime() - endedAt.getTime() > ATTEMPT_TIMEOUT_MS
      const newest = isNewest ? { lastStatus: result.status, lastAttemptAt: endedAt } : {}
      if (result.outcome === 'delivered')
        return {
          ...known,
          ...newest,
          lastDeliveredAt:
            !isNewest && known.lastDeliveredAt !== null && known.lastDeliveredAt > endedAt
              ? known.lastDeliveredAt
              : endedAt,
          failingSince: null,
          failedAttempts: 0,
          tlsError: isNewest ? null : known.tlsError,
        }
      const failing = {
        ...known,
        ...newest,
        failingSince: known.failingSince ?? startedAt,
        failedAttempts: known.failedAttempts + 1,
      }
      if (AttemptDetails.parse(result.details).error_kind !== 'tls') return failing
      const code = result.errorCode ?? 'unknown'
      const tlsError = { code, text: result.errorText ?? '', at: endedAt.toISOString(), delivery_id: delivery.id }
      const minute = tlsError.at.slice(0, 16)
      if (known.tlsAudited[code] === minute) return { ...failing, tlsError: isNewest ? tlsError : known.tlsError }
      tlsErrors.push(tlsError)
      return {
        ...failing,
        tlsError: isNewest ? tlsError : known.tlsError,
        tlsAudited: { ...ofMinute(known.tlsAudited, minute), [code]: minute },
      }
    }, before)
  return { health, tlsErrors }
}

/** Forgets earlier minutes. */
const ofMinute = (audited: Readonly<Record<string, string>>, minute: string): Record<string, string> =>
  Object.fromEntries(Object.entries(audited).filter(([, of]) => of === minute))

/** Minute of the newest entry about exhausted deliveries, and those that the next one names. */
export const ExhaustedAudited = z.object({ minute: z.string(), count: z.number(), delivery_ids: z.array(z.string()) })
export type ExhaustedAudited = z.infer<typeof ExhaustedAudited>

/** An entry names at most so many deliveries. */
const MAX_NAMED = 100

/**
 * The first exhausted deliveries of a minute are an entry immediately, later ones wait for the next.
 * @returns what the entry says, or null, and what to remember
 */
export function afterExhausted(
  before: ExhaustedAudited | null,
  ids: readonly string[],
  now: Date,
): { entry: { count: number; delivery_ids: string[] } | null; after: ExhaustedAudited } {
  const minute = now.toISOString().slice(0, 16)
  const all = {
    count: (before?.count ?? 0) + ids.length,
    delivery_ids: [...(before?.delivery_ids ?? []), ...ids].slice(0, MAX_NAMED),
  }
  if (before?.minute === minute) return { entry: null, after: { minute, ...all } }
  return { entry: all.count === 0 ? null : all, after: { minute, count: 0, delivery_ids: [] } }
}

const AUTO_PAUSE_MS = 120 * 3_600_000
const AUTO_PAUSE_ATTEMPTS = 20

/** Whether an endpoint that asked for it is to be paused: no success for 120 hours, in at least 20 attempts. */
export const isHopeless = (
  { failingSince, failedAttempts }: Pick<Health, 'failingSince' | 'failedAttempts'>,
  now: Date,
): boolean =>
  failingSince !== null &&
  now.getTime() - failingSince.getTime() >= AUTO_PAUSE_MS &&
  failedAttempts >= AUTO_PAUSE_ATTEMPTS
