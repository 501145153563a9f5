import type { Preparer, ItemInput, PreparedItem, UnrecordedPart } from './item.ts'
import { prepareLogs, prepareNel, prepareLogEntries, prepareTraceMetrics } from './prepare-logs.ts'
import { prepareAttachment, prepareRaw } from './prepare-attachment.ts'
import { prepareEventOrCrash, prepareFormData } from './prepare-crash.ts'
import { prepareSpan, prepareTransaction, prepareSpans } from './prepare-performance.ts'
import { prepareSecurity } from './prepare-security.ts'
import { readCheckIn } from '../../events/protocol/check-in.ts'
import { parseEntries, announcedCount } from '../../events/protocol/container.ts'
import { isRecord, isList } from '../../events/protocol/json.ts'
import { scrubEvent, scrubConnection } from '../../events/protocol/scrub.ts'
import { readClientReport, type ClientLoss } from '../../events/protocol/client-report.ts'
import { GuardError, parseGuarded } from '../../events/protocol/json-guard.ts'
import { FILTERED } from '../../events/protocol/scrub-words.ts'
import type { Counted } from '../../events/items/recorder.ts'
import { parseFeedback, parseUserReport, type NewFeedback } from '../../issues/feedback/feedback.ts'
import { eventIdFrom, newId, unhyphenate } from '../../platform/kernel/ids.ts'
import { normalizeEvent } from '../../events/protocol/normalize.ts'
import { userHash } from './prepare-event.ts'
import { isErased } from './project-facts.ts'
import { readSession, readSessions, type SessionContext } from '../../events/protocol/session.ts'
import { hashUser } from '../../events/protocol/user.ts'
import { AppError } from '../../platform/kernel/errors.ts'
import type { Category } from '../../events/protocol/envelope.ts'
import { otlpLogs, otlpSpans } from '../../events/protocol/otlp.ts'
import { decodeOtlp, PROTOBUF, type OtlpSignal } from '../../events/protocol/otlp-wire.ts'
import { readSpan } from '../../events/protocol/span.ts'

/** Log records of an export request (docs/protocol.md §14). */
const prepareOtlpLogs: Preparer = (input) => {
  const decoded = decodeRequest(input, 'logs', 'log_item')
  return 'outcome' in decoded ? [decoded] : prepareLogEntries(input, otlpLogs(decoded.value))
}

/** Spans of an export request, converted to the form of a v2 container. */
const prepareOtlpTraces: Preparer = (input) => {
  const decoded = decodeRequest(input, 'traces', 'span')
  if ('outcome' in decoded) return [decoded]
  const { entries, surplus } = otlpSpans(decoded.value)
  const prepared = prepareSpans(input, entries.map(readSpan))
  return surplus === 0
    ? prepared
    : [...prepared, { category: 'span', quantity: surplus, outcome: 'invalid', reason: 'too_many' }]
}

function decodeRequest(
  { item, decoded }: ItemInput,
  signal: OtlpSignal,
  category: Category,
): { readonly value: unknown } | UnrecordedPart {
  const refused = (reason: string): UnrecordedPart => ({
    category,
    quantity: announcedCount(item),
    outcome: 'invalid',
    reason,
  })
  if (item.headers.content_type !== PROTOBUF) {
    const parsed = parseEntries(decoded, item.start, item.end)
    return 'invalid' in parsed ? refused(parsed.invalid) : parsed
  }
  try {
    return { value: decodeOtlp(decoded.subarray(item.start, item.end), signal) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.message.includes('deep')) return refused('too_deep')
    return refused(error.message.includes('more than') ? 'too_many_values' : 'not_protobuf')
  }
}

const ONE_SESSION: Counted = { category: 'session', quantity: 1 }

/** A `session` item: one update of one session. */
const prepareSession: Preparer = (input) => {
  const parsed = parse(input)
  if ('reason' in parsed) return [{ ...ONE_SESSION, outcome: 'invalid', reason: parsed.reason }]
  const update = readSession(parsed.value, contextOf(input))
  if ('outcome' in update) return [{ ...ONE_SESSION, ...update }]
  return [{ ...ONE_SESSION, kind: 'session', fact: { update: { ...update, did: unlessErased(input, update.did) } } }]
}

/** A `sessions` item: counts of finished sessions; it counts as one item. */
const prepareSessions: Preparer = (input) => {
  const parsed = parse(input)
  if ('reason' in parsed) return [{ ...ONE_SESSION, outcome: 'invalid', reason: parsed.reason }]
  const aggregates = readSessions(parsed.value, contextOf(input))
  if ('outcome' in aggregates) return [{ ...ONE_SESSION, ...aggregates }]
  const counts = aggregates.counts.map((one) => ({ ...one, did: unlessErased(input, one.did) }))
  return [{ ...ONE_SESSION, kind: 'session', fact: { aggregates: { ...aggregates, counts } } }]
}

/** The session of an erased user is counted without the user. */
const unlessErased = ({ project, receivedAt }: ItemInput, did: string | null): string | null =>
  did !== null && project.erasures !== null && isErased(project, hashUser(project.projectId, did), receivedAt)
    ? null
    : did

function parse({ decoded, item }: ItemInput): { value: unknown } | { reason: string } {
  try {
    return { value: parseGuarded(decoded, item.start, item.end).value }
  } catch (error) {
    if (error instanceof GuardError) return { reason: error.word }
    throw error
  }
}

const contextOf = ({ receivedAt, sentAt, entry, project }: ItemInput): SessionContext => ({
  receivedAt,
  sentAt,
  userAgent: entry.userAgent,
  defaultEnvironment: project.defaultEnvironment,
  scrubbing: project.scrubbing,
})

const ONE_FEEDBACK = { category: 'feedback', quantity: 1 } as const

/** A `feedback` item: an event whose context holds the message. */
const prepareFeedback: Preparer = (input) =>
  prepared(input, (value) => {
    const { project, entry, receivedAt, sentAt } = input
    const event = normalizeEvent(value, {
      eventId: input.eventId ?? eventIdFrom(value['event_id']) ?? unhyphenate(newId()),
      receivedAt,
      sentAt,
      clientIp: scrubConnection(entry, project.scrubbing).clientIp,
      userAgent: entry.userAgent,
      defaultEnvironment: project.defaultEnvironment,
    })
    return parseFeedback(event, userHash(project.projectId, event))
  })

/** A `user_report` item of older SDKs; its event may arrive later. */
const prepareUserReport: Preparer = (input) => prepared(input, (value) => parseUserReport(value, input.eventId))

function prepared(
  { decoded, item, project, receivedAt }: ItemInput,
  read: (scrubbed: Record<string, unknown>) => NewFeedback | null,
): readonly PreparedItem[] {
  let value: unknown
  try {
    value = parseGuarded(decoded, item.start, item.end).value
  } catch (error) {
    if (error instanceof GuardError) return [{ ...ONE_FEEDBACK, outcome: 'invalid', reason: error.word }]
    throw error
  }
  if (!isRecord(value)) return [{ ...ONE_FEEDBACK, outcome: 'invalid', reason: 'not_an_object' }]
  scrubEvent(value, project.scrubbing)
  const fact = read(value)
  if (isErased(project, fact?.userHash ?? null, receivedAt))
    return [{ ...ONE_FEEDBACK, outcome: 'discarded', reason: 'erased' }]
  return fact === null
    ? [{ ...ONE_FEEDBACK, outcome: 'invalid', reason: 'no_message' }]
    : [{ ...ONE_FEEDBACK, kind: 'feedback', fact }]
}

const ONE_REPORT: Counted = { category: 'internal', quantity: 1 }

/**
 * Items that an SDK dropped before sending. Reports have no id, so a repeated report counts twice; SDKs do not repeat
 * reports that were answered.
 */
export const prepareClientReport: Preparer = ({ decoded, item, project }) => {
  let losses: readonly ClientLoss[] | null
  try {
    losses = readClientReport(parseGuarded(decoded, item.start, item.end).value)
  } catch (error) {
    if (error instanceof GuardError) return [{ ...ONE_REPORT, outcome: 'invalid', reason: error.word }]
    throw error
  }
  if (losses === null) return [{ ...ONE_REPORT, outcome: 'invalid', reason: 'not_a_report' }]
  // The reason is text from the SDK or the app.
  const scrubbed: Record<string, unknown> = { reasons: losses.map(({ reason }) => reason) }
  if (scrubEvent(scrubbed, project.scrubbing)) {
    const reasons = isList(scrubbed['reasons']) ? scrubbed['reasons'] : []
    losses = losses.map((loss, index) => {
      const reason = reasons[index]
      return { ...loss, reason: typeof reason === 'string' ? reason.slice(0, 64) : FILTERED }
    })
  }
  return [{ ...ONE_REPORT, kind: 'client_report', fact: losses }]
}

const ONE_CHECK_IN = { category: 'monitor', quantity: 1 } as const

/** A `check_in` item (docs/protocol.md §11.3). */
const prepareCheckIn: Preparer = ({ decoded, item, project }) => {
  const parsed = parseEntries(decoded, item.start, item.end)
  if ('invalid' in parsed) return [{ ...ONE_CHECK_IN, outcome: 'invalid', reason: parsed.invalid }]
  const { value } = parsed
  if (isRecord(value)) scrubEvent(value, project.scrubbing)
  const checkIn = readCheckIn(value, project.defaultEnvironment)
  return 'invalid' in checkIn
    ? [{ ...ONE_CHECK_IN, outcome: 'invalid', reason: checkIn.invalid }]
    : [{ ...ONE_CHECK_IN, kind: 'check_in', fact: checkIn }]
}

/** The preparer of each item type. A type in neither table is unknown and discarded. */
export const PREPARERS: ReadonlyMap<string, Preparer> = new Map<string, Preparer>([
  ['event', prepareEventOrCrash],
  ['attachment', prepareAttachment],
  ['check_in', prepareCheckIn],
  ['log', prepareLogs],
  ['nel', prepareNel],
  ['otlp_logs', prepareOtlpLogs],
  ['otlp_traces', prepareOtlpTraces],
  ['trace_metric', prepareTraceMetrics],
  ['form_data', prepareFormData],
  ['raw_security', prepareSecurity],
  ['feedback', prepareFeedback],
  ['user_report', prepareUserReport],
  ['profile', prepareRaw],
  ['profile_chunk', prepareRaw],
  ['replay_event', prepareRaw],
  ['replay_recording', prepareRaw],
  ['replay_video', prepareRaw],
  ['session', prepareSession],
  ['sessions', prepareSessions],
  ['transaction', prepareTransaction],
  ['span', prepareSpan],
  ['client_report', prepareClientReport],
])

/** Known types that are not stored: too old, or not built yet (docs/protocol.md §7). */
export const UNSUPPORTED: ReadonlySet<string> = new Set([
  'otel_span',
  'user_report_v2',
  'unreal_report',
  'statsd',
  'metric_buckets',
  'metric_meta',
])
