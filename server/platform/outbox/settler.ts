import type { App } from '../context/app.ts'
import type { InHand } from './in-hand.ts'
import { createOutage } from './outage.ts'
import { isDatabaseAway } from '../storage/pool.ts'
import { pause } from './waker.ts'
import type { Tx } from '../storage/database.ts'
import type { AttemptResult, Channel, ClaimedDelivery, SettledAttempt } from './channel.ts'
import { decideNext } from './decide-next.ts'
import { lockLeased, writeSettled, type Lease, type LeasedRow } from './engine.queries.ts'

/** Attempts that end within this time are recorded in one transaction. */
const COLLECT_MS = 10
const MAX_SETTLED = 250
/** After so many failures an attempt is recorded without details and without the part of its channel. */
const MAX_FAILURES = 3
const RETRY_MS = 100
const MAX_RETRY_MS = 30_000

type Settler = {
  /** An attempt ended: records it soon. While the database is away, it waits; the bound of what is in flight bounds it. */
  ended(): void
  /** Resolves when nothing waits to be recorded. */
  idle(): Promise<void>
  /** Gives up what still waits. */
  close(): void
}

/** @param settled called with attempts that were recorded, and with those whose lease another worker has now */
export function createSettler(
  app: App,
  inHand: ReadonlyMap<string, InHand>,
  settled: (recorded: readonly InHand[], fenced: readonly InHand[]) => void,
): Settler {
  const closing = new AbortController()
  const outage = createOutage(app, 'recording attempts', closing.signal)
  let running: Promise<void> | null = null

  const settle = async (entries: readonly InHand[], mode: SettleMode): Promise<void> => {
    const attempts = new Map(
      entries.flatMap((entry) => (entry.ended === null ? [] : [[attemptOf(entry, entry.ended), entry]])),
    )
    const recorded = await settleAttempts(app, [...attempts.keys()], mode)
    const others = [...attempts].filter(([attempt]) => !recorded.has(attempt))
    settled(
      [...recorded].flatMap((attempt) => attempts.get(attempt) ?? []),
      // A claim of this process renewed the lease meanwhile: recorded the next time.
      others.filter(([attempt, entry]) => attempt.token === entry.token).map(([, entry]) => entry),
    )
  }

  const settleAlone = async (entry: InHand): Promise<void> => {
    try {
      await settle([entry], entry.failures < MAX_FAILURES ? 'isolated' : 'bare')
    } catch (error) {
      if (isDatabaseAway(error)) throw error
      entry.retryMs = performance.now() + Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** entry.failures++)
      app.log.error(
        { err: error, channel: entry.channel.name, delivery_id: entry.delivery.id, failures: entry.failures },
        'an attempt could not be recorded and is recorded again',
      )
    }
  }

  const settleAll = async (entries: readonly InHand[]): Promise<void> => {
    const [fresh, failed] = [
      entries.filter(({ failures }) => failures === 0),
      entries.filter((one) => one.failures > 0),
    ]
    try {
      if (fresh.length > 0) await settle(fresh, 'together')
    } catch (error) {
      if (isDatabaseAway(error)) throw error
      // One of them, or a channel, is at fault: the others must not wait for it.
      app.log.error({ err: error, attempts: fresh.length }, 'attempts could not be recorded together')
      for (const entry of fresh) await settleAlone(entry)
    }
    for (const entry of failed) await settleAlone(entry)
  }

  const run = async (): Promise<void> => {
    await pause(COLLECT_MS)
    while (!closing.signal.aborted) {
      const ended = [...inHand.values()].filter((entry) => entry.ended !== null)
      if (ended.length === 0) return
      const nowMs = performance.now()
      const ready = ended.filter(({ retryMs }) => retryMs <= nowMs).slice(0, MAX_SETTLED)
      if (ready.length === 0) await pause(COLLECT_MS, closing.signal)
      else await outage.guard(() => settleAll(ready))
    }
  }

  return {
    ended() {
      running ??= run().finally(() => {
        running = null
      })
    },
    async idle() {
      await running
    },
    close() {
      closing.abort()
    },
  }
}

const attemptOf = ({ delivery, channel, token }: InHand, ended: NonNullable<InHand['ended']>): EndedAttempt => ({
  delivery,
  channel,
  token,
  ...ended,
})

/** An attempt that has ended and is not recorded yet. */
type EndedAttempt = {
  readonly delivery: ClaimedDelivery
  readonly channel: Channel
  readonly token: string
  readonly result: AttemptResult
  /** On `performance.now()`. */
  readonly endedMs: number
}

/**
 * `together`: what a channel throws is thrown. `isolated`: it is logged, and its attempts are recorded without its part.
 * `bare`: also without details, texts and what the channel would record, because those could not be recorded.
 */
type SettleMode = 'together' | 'isolated' | 'bare'

/**
 * Records attempts whose lease is still the worker's, and what follows from them, in one transaction with what their
 * channels record.
 * @returns the recorded ones; the others are fenced off
 */
export function settleAttempts(
  app: App,
  attempts: readonly EndedAttempt[],
  mode: SettleMode = 'together',
): Promise<ReadonlySet<EndedAttempt>> {
  // Before the transaction begins: a due time is late by at most this round trip, and never early.
  const nowMs = performance.now()
  return app.tx(async (tx) => {
    const leases = attempts.map(({ delivery, token }): Lease => ({ id: delivery.id, token }))
    // By token too: a worker may have claimed a delivery again, after its first lease had ended.
    const rows = new Map((await lockLeased(tx, leases)).map((row) => [`${row.id}/${row.token}`, row]))
    const mine = attempts
      .flatMap((attempt) => {
        const row = rows.get(`${attempt.delivery.id}/${attempt.token}`)
        return row === undefined ? [] : [decided(app, attempt, row, { nowMs, isBare: mode === 'bare' })]
      })
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    if (mine.length === 0) return new Set<EndedAttempt>()
    const times = new Map((await writeSettled(tx, mine)).map((time) => [time.id, time]))
    for (const [channel, ofChannel] of Map.groupBy(mine, ({ attempt }) => attempt.channel)) {
      const settled = ofChannel.flatMap(({ id, attempt, decision }): SettledAttempt[] => {
        const time = times.get(id)
        if (time === undefined) return []
        const { startedAt, endedAt } = time
        const { delivery, result } = attempt
        return [{ delivery, result, startedAt, endedAt, isExhausted: decision.isExhausted }]
      })
      if (mode === 'bare') continue
      if (mode === 'isolated') await settledAlone(app, tx, channel, settled)
      else await channel.settled(tx, app, settled)
    }
    return new Set(mine.map(({ attempt }) => attempt))
  })
}

function decided(
  app: App,
  attempt: EndedAttempt,
  row: LeasedRow,
  { nowMs, isBare }: { readonly nowMs: number; readonly isBare: boolean },
) {
  const { result, channel, endedMs } = attempt
  // Data that was erased during the attempt must not come back with its record.
  const isEmpty = isBare || row.isErased
  const decision = decideNext(row, result.outcome, result.isFinal === true ? [] : channel.delaysMs)
  const { schedule } = decision
  return {
    id: row.id,
    attempt,
    n: row.attemptsMade + 1,
    decision,
    delayMs:
      typeof schedule === 'object'
        ? Math.max(schedule.delayMs * app.config.retryScale, result.retryAfterMs ?? 0)
        : null,
    elapsedMs: Math.max(0, nowMs - endedMs),
    durationMs: result.durationMs,
    isDelivered: result.outcome === 'delivered',
    status: result.status,
    errorCode: result.errorCode === null ? null : storable(result.errorCode),
    errorText: result.errorText === null || isEmpty ? null : storable(result.errorText),
    details: JSON.stringify(isEmpty ? {} : result.details, (_key, value: unknown) =>
      typeof value === 'string' ? storable(value) : value,
    ),
  }
}

/** PostgreSQL refuses NUL in texts, and half surrogate pairs in JSON. */
const storable = (text: string): string => text.replaceAll('\0', '\u{FFFD}').toWellFormed()

async function settledAlone(app: App, tx: Tx, channel: Channel, settled: readonly SettledAttempt[]): Promise<void> {
  try {
    await tx.savepoint(() => channel.settled(tx, app, settled))
  } catch (error) {
    app.log.error(
      { err: error, channel: channel.name, delivery_id: settled[0]?.delivery.id },
      'a channel could not record an attempt; it is recorded without the part of the channel',
    )
  }
}
