import type {
  WebhookAttempt,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookEndpoint,
} from '../../../api/webhook-queries.ts'
import { isCounting, type DeliveryLook } from '../../../subjects/alerts/delivery-look.ts'
import { formatCount, formatDay, formatDuration, formatLeft } from '../../../ui/format.ts'
import { webhooksTexts } from './texts.ts'

/** Texts of the page about endpoints, deliveries and attempts. Pure. */

export const SCHEDULED_ATTEMPTS = 6

const MAX_PATH = 40

/** Host and port: the short name of an endpoint. */
export const endpointHost = (url: string): string => (URL.canParse(url) ? new URL(url).host : url)

/** With the path, which tells endpoints of one host apart. */
export function endpointName(url: string): string {
  if (!URL.canParse(url)) return url
  const { host, pathname } = new URL(url)
  const path = pathname.replace(/\/$/u, '')
  return path.length <= MAX_PATH ? `${host}${path}` : `${host}${path.slice(0, MAX_PATH - 1)}…`
}

/** The end of an id: deliveries of one minute begin alike. */
export const shortId = (id: string): string => `…${id.slice(-6)}`

// Deliveries ------------------------------------------------------------------------------------

type DeliveryFacts = Pick<
  WebhookDelivery,
  'state' | 'attempt' | 'attempts_made' | 'next_attempt_at' | 'delivered_at' | 'last_status' | 'last_error_code'
>

/** The look of a delivery: it is only called failed when no attempt is left. */
export function webhookDeliveryLook(delivery: DeliveryFacts, isPaused: boolean, now: number): DeliveryLook {
  const { state, next_attempt_at: nextAt, delivered_at: deliveredAt } = delivery
  const { states } = webhooksTexts
  const waiting = (text: string): DeliveryLook => ({ tone: 'slate', icon: 'clock', text })
  if (state === 'delivered') return { tone: 'green', icon: 'check', text: states.delivered }
  if (state === 'in_flight') return { tone: 'blue', icon: 'send', text: states.inFlight }
  if (state === 'failed' && nextAt === null)
    return { tone: 'red', icon: 'x', text: deliveredAt === null ? states.failed : states.replayFailed }
  if (isPaused) return waiting(states.paused)
  if (state === 'pending' || nextAt === null) return waiting(states.pending)
  return waiting(Date.parse(nextAt) > now ? states.retry(shortLeft(nextAt, now)) : states.due)
}

/** `3 min`; seconds only in the last minute, so that a table does not flicker. */
export function shortLeft(until: string, now: number): string {
  const leftMs = Date.parse(until) - now
  if (leftMs < 60_000) return formatLeft(until, now)
  const minutes = Math.ceil(leftMs / 60_000)
  return formatDuration(minutes < 60 ? minutes * 60_000 : Math.round(minutes / 5) * 300_000)
}

/** `made`: replays were made too, and the list does not say which attempt was delivered. */
export type Mark = 'delivered' | 'failed' | 'made' | 'flying' | 'next' | 'none'

/** The six attempts of the schedule. */
export function attemptMarks(delivery: DeliveryFacts): Mark[] {
  const { state, attempt, attempts_made: made, next_attempt_at: nextAt, delivered_at: deliveredAt } = delivery
  const isScheduled = nextAt !== null && deliveredAt === null
  return Array.from({ length: SCHEDULED_ATTEMPTS }, (_, index): Mark => {
    if (index < attempt) {
      if (deliveredAt === null || isScheduled) return 'failed'
      if (made > attempt) return 'made'
      return index === attempt - 1 ? 'delivered' : 'failed'
    }
    if (index > attempt) return 'none'
    if (state === 'in_flight') return 'flying'
    return nextAt !== null ? 'next' : 'none'
  })
}

export function marksSentence(delivery: DeliveryFacts): string {
  const { attempt, attempts_made: all } = delivery
  const made =
    all > attempt ? webhooksTexts.attemptsAndReplays(attempt, all - attempt) : webhooksTexts.attempts(attempt)
  const state = isCounting(delivery)
    ? webhooksTexts.waiting
    : webhookDeliveryLook(delivery, false, 0).text.toLowerCase()
  return `${made}, ${state}`
}

export type Answer = { text: string; isGood: boolean }

/** A status, or one word for what went wrong; null before the first attempt. */
export function attemptAnswer(status: number | null, errorCode: string | null): Answer | null {
  if (status !== null) return { text: String(status), isGood: status >= 200 && status < 300 }
  return errorCode === null ? null : { text: errorWord(errorCode), isGood: false }
}

const ERROR_WORDS: readonly (readonly [pattern: RegExp, word: string])[] = [
  [/TIMEOUT|TIMEDOUT/, webhooksTexts.errors.timeout],
  [/CERT|SSL|TLS|SIGNATURE|ISSUER/, webhooksTexts.errors.tls],
  [/^(ENOTFOUND|EAI_\w+|ENODATA|EGRESS_DNS)$/, webhooksTexts.errors.dns],
  [/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH)$/, webhooksTexts.errors.unreachable],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, webhooksTexts.errors.reset],
  [/^EGRESS_/, webhooksTexts.errors.refused],
]

const errorWord = (code: string): string =>
  ERROR_WORDS.find(([pattern]) => pattern.test(code))?.[1] ?? webhooksTexts.errors.other

/** Whether the newest attempt of an endpoint had an answer; an endpoint without attempts has none. */
export function endpointAnswer(
  endpoint: Pick<WebhookEndpoint, 'last_status' | 'last_attempt_at' | 'tls_error'>,
): Answer | null {
  if (endpoint.last_attempt_at === null) return null
  const { last_status: status, tls_error: tlsError, last_attempt_at: lastAt } = endpoint
  const isTls = tlsError !== null && tlsError.at === lastAt
  return (
    attemptAnswer(status, null) ?? { text: isTls ? webhooksTexts.errors.tls : webhooksTexts.noAnswer, isGood: false }
  )
}

// The schedule of a delivery ------------------------------------------------------------------------

export type ScheduleRow = {
  n: number
  delay: string
  state: 'delivered' | 'failed' | 'next' | 'flying' | 'none'
  attempt: WebhookAttempt | null
}

/** The attempts of the present schedule; a failed replay with retries is the first of a new one. */
function currentAttempts(delivery: WebhookDeliveryDetail): WebhookAttempt[] {
  const { attempt: count, next_attempt_at: nextAt } = delivery
  const attempts = delivery.attempts.toSorted((a, b) => a.n - b.n)
  const scheduled = attempts.filter(({ trigger }) => trigger === 'schedule')
  const isFirst = scheduled.length === count && (nextAt === null || !scheduled.some(isGood))
  if (isFirst || count === 0) return scheduled
  const rest = count === 1 ? [] : scheduled.slice(1 - count)
  const before = rest[0]?.n ?? Infinity
  const first = attempts.findLast(({ n, trigger }) => trigger === 'replay' && n < before)
  return first === undefined ? scheduled.slice(-count) : [first, ...rest]
}

/** The six attempts of the schedule with what came of them. */
export function scheduleRows(delivery: WebhookDeliveryDetail): ScheduleRow[] {
  const current = currentAttempts(delivery)
  const { state, next_attempt_at: nextAt } = delivery
  return delivery.schedule.map(({ n, delay_seconds: seconds }, index) => {
    const attempt = current[index] ?? null
    const isNext = index === current.length && nextAt !== null
    return {
      n,
      delay: index === 0 ? webhooksTexts.atOnce : webhooksTexts.after(formatDuration(seconds * 1000)),
      attempt,
      state:
        attempt !== null
          ? isGood(attempt)
            ? 'delivered'
            : 'failed'
          : !isNext
            ? 'none'
            : state === 'in_flight'
              ? 'flying'
              : 'next',
    }
  })
}

export const isGood = ({ status }: Pick<WebhookAttempt, 'status'>): boolean =>
  status !== null && status >= 200 && status < 300

/** Replays, and attempts of an earlier schedule. */
export function otherAttempts(delivery: WebhookDeliveryDetail): WebhookAttempt[] {
  const current = currentAttempts(delivery)
  return delivery.attempts.filter((attempt) => !current.includes(attempt)).toSorted((a, b) => a.n - b.n)
}

/** The newest attempt. */
export const findLastAttempt = ({ attempts }: WebhookDeliveryDetail): WebhookAttempt | undefined =>
  attempts.toSorted((a, b) => a.n - b.n).at(-1)

/** JSON with line breaks; another text as it is. */
export function prettyJson(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? JSON.stringify(value, null, 2) : text
  } catch {
    return text
  }
}

/** The endpoint of the address, else the first that needs attention, else the first. */
export const chooseEndpoint = <One extends Pick<WebhookEndpoint, 'id' | 'needs_attention'>>(
  endpoints: readonly One[],
  wanted: string | undefined,
): One | undefined =>
  endpoints.find(({ id }) => id === wanted) ?? endpoints.find((one) => one.needs_attention) ?? endpoints[0]

// The last thirty days ------------------------------------------------------------------------------

export type DayBar = { day: string; tone: 'none' | 'good' | 'some' | 'bad' }

export const dayTone = ({ delivered, failed }: { delivered: number; failed: number }): DayBar['tone'] =>
  delivered + failed === 0 ? 'none' : failed === 0 ? 'good' : delivered === 0 ? 'bad' : 'some'

/** The days of an endpoint in a sentence, for readers who do not see the bars. */
export function daysSentence(days: WebhookEndpoint['days'], successRate: number | null): string {
  const busy = days.filter(({ delivered, failed }) => delivered + failed > 0)
  if (busy.length === 0 || successRate === null) return webhooksTexts.days.nothing
  const failing = busy.filter(({ failed }) => failed > 0)
  const total = busy.reduce((sum, { delivered, failed }) => sum + delivered + failed, 0)
  const head = webhooksTexts.days.rate(formatShare(successRate), formatCount(total), total === 1)
  const newest = failing.at(-1)
  return newest === undefined
    ? `${head} ${webhooksTexts.days.noFailures}`
    : `${head} ${webhooksTexts.days.failures(failing.length, formatDay(newest.day, Date.now(), 'utc'))}`
}

/** `98.1 %`, `100 %`; never rounded up to 100. */
export function formatShare(share: number): string {
  const percent = share === 1 ? '100' : (Math.floor(share * 1000) / 10).toFixed(1)
  return `${percent}\u202f%`
}

/** The instant that a `datetime-local` field names in the shown zone, in RFC 3339; null when it is empty. */
export function parseFieldInstant(field: string, zone: 'local' | 'utc'): string | null {
  const at = Date.parse(zone === 'utc' ? `${field}Z` : field)
  return field === '' || Number.isNaN(at) ? null : new Date(at).toISOString()
}

/** Whether a rate can be sent: a whole number from 1 to 1,000, or nothing. */
export const isRateText = (text: string): boolean => {
  const plain = text.replaceAll(',', '').trim()
  return plain === '' || (/^\d{1,4}$/.test(plain) && Number(plain) >= 1 && Number(plain) <= 1000)
}

/** The event types whose name or meaning contains every typed word. */
export function matchingTypes<T extends { readonly type: string; readonly meaning: string }>(
  types: readonly T[],
  text: string,
): T[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  return types.filter(({ type, meaning }) => words.every((word) => `${type} ${meaning}`.toLowerCase().includes(word)))
}
