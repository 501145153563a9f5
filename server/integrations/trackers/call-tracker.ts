import type { App } from '../../platform/context/app.ts'
import { EgressError, type EgressRequest } from '../../platform/context/egress.ts'
import { TrackerError } from './tracker-error.ts'
import { readJsonText } from '../../platform/kernel/json.api.ts'

/** Twice as long, with the lease of a ticket in between, is what a member waits at most. */
const TIMEOUT_MS = 8_000
const MAX_ANSWER_BYTES = 1024 * 1024
const MAX_WAIT_MS = 3_600_000
const MAX_SHOWN = 300

export type TrackerCall = {
  readonly vendor: string
  readonly url: string
  readonly method: EgressRequest['method']
  readonly headers: Readonly<Record<string, string>>
  readonly json?: unknown
  readonly group: string
}

export type TrackerAnswer = {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  /** Undefined when the body is empty or no JSON. */
  readonly json: unknown
}

/**
 * One request to a tracker, and its answer of any status.
 * @throws TrackerError unreachable, uncertain
 */
export async function callTracker(app: App, call: TrackerCall): Promise<TrackerAnswer> {
  const { vendor, url, method, group } = call
  try {
    const answer = await app.egress.request({
      url,
      method,
      headers: {
        Accept: 'application/json',
        'User-Agent': `faultline/${app.config.version}`,
        ...(call.json === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...call.headers,
      },
      ...(call.json === undefined ? {} : { body: Buffer.from(JSON.stringify(call.json)) }),
      timeoutMs: TIMEOUT_MS,
      maxBodyBytes: MAX_ANSWER_BYTES,
      group,
    })
    if (!answer.bodyComplete) throw new TrackerError('uncertain', `The answer of ${vendor} was cut off.`, answer.status)
    return {
      status: answer.status,
      headers: new Map(answer.headers.map(([name, value]) => [name.toLowerCase(), value])),
      json: readJsonText(answer.body),
    }
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    const isSent = ['timeout', 'aborted', 'protocol', 'reset'].includes(error.kind)
    throw new TrackerError(isSent ? 'uncertain' : 'unreachable', `${vendor} cannot be reached: ${error.message}`)
  }
}

/** The error of a status that every vendor means in the same way; null for a success. */
export function errorOfStatus(vendor: string, { status, headers }: TrackerAnswer, said: string): TrackerError | null {
  if (status >= 200 && status <= 299) return null
  const text = said.replaceAll(/\s+/g, ' ').slice(0, MAX_SHOWN)
  const message = `${vendor} answered ${status}${text === '' ? '.' : `: ${text}`}`
  if (status === 401) return new TrackerError('unauthorised', message, status)
  if (status === 403) return new TrackerError('forbidden', message, status)
  if (status === 404 || status === 410) return new TrackerError('missing', message, status)
  const waitMs = waitOf(headers.get('retry-after'))
  if (status === 429 || (status === 503 && waitMs !== null)) return new TrackerError('limited', message, status, waitMs)
  if (status >= 500 || status === 408) return new TrackerError('uncertain', message, status, waitMs)
  return new TrackerError('refused', message, status)
}

/** The wait that `Retry-After` asks for, at most an hour; null without one in seconds. */
const waitOf = (asked: string | undefined): number | null =>
  asked === undefined || !/^\d{1,9}$/.test(asked) ? null : Math.min(MAX_WAIT_MS, Number(asked) * 1_000)
