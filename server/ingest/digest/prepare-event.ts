import type { StoredEvent } from '../../events/store/event.ts'
import { filteredEvent } from '../filters/compile-filters.ts'
import type { Occurrence } from '../../issues/recording/occurrence.ts'
import { listEventFacts, listIndexedTexts } from '../../issues/search/facts.ts'
import { EVENT_SEVERITY, rateEventSeverity } from '../../issues/rules/impact.ts'
import type { ContentEncoding } from '../../platform/kernel/inflate.ts'
import { eventIdFrom, newId, unhyphenate } from '../../platform/kernel/ids.ts'
import { compressZstd } from '../../platform/kernel/zstd-encoder.ts'
import { readDevice } from '../../events/protocol/device.ts'
import type { Event } from '../../events/protocol/event.api.ts'
import { isRecord } from '../../events/protocol/json.ts'
import { isAnr, isNativeCrash, anrCause } from '../../events/protocol/anr.ts'
import { MAX_EVENT_BYTES } from '../../events/protocol/decode-store.ts'
import {
  GuardError,
  type GuardedJson,
  parseGuarded,
  topLevelString,
  writeJson,
} from '../../events/protocol/json-guard.ts'
import { normalizeEvent } from '../../events/protocol/normalize.ts'
import { detectSecurityKind } from '../../events/protocol/security-report.ts'
import { parseDecisive, scrubConnection, scrubEvent } from '../../events/protocol/scrub.ts'
import { claimedLongAgo, eventTime } from '../../events/protocol/time.ts'
import { readSpanId, readTraceId } from '../../events/protocol/span.ts'
import { hashUser, userKey } from '../../events/protocol/user.ts'
import { DISCARDED_ISSUE, type Counted } from '../../events/items/recorder.ts'
import type { TraceShares } from '../../telemetry/traces/trace-share.ts'
import type { Turn } from './fair-turns.ts'
import type { PreparedItem, Preparer, ItemInput } from './item.ts'
import { isErased, type ProjectFacts, repeatedValues } from './project-facts.ts'
import { measureAnr, measureSignals, type Reporter } from '../../telemetry/performance/measure-signals.ts'
import type { PerformanceFact } from '../../telemetry/performance/fact.ts'
import { type PrecursorReport, signsOfEvent, signsOfTransaction } from '../../telemetry/precursors/precursor.ts'
import { deviceSignals, type DeviceSignals } from '../../events/protocol/device-signals.ts'
import { originOfEvent } from '../../events/protocol/transaction.ts'
import { Notes } from '../../events/protocol/strings.ts'

/** The position of the event's JSON, and the context of its request. */
type RawEvent = {
  /** 32 hex digits, as answered by the intake. */
  readonly eventId: string
  readonly receivedAt: Date
  readonly sentAt: Date | null
  readonly clientIp: string | null
  readonly userAgent: string | null
  readonly decoded: Buffer
  readonly start: number
  readonly end: number
  /** The compressed bytes of `decoded`, when they hold only this event and no secrets beside it. */
  readonly original: { readonly body: Buffer; readonly encoding: ContentEncoding } | null
}

type PreparedEvent =
  | { readonly occurrence: Occurrence; readonly signals: Signals }
  | { readonly outcome: 'invalid' | 'filtered' | 'discarded'; readonly reason: string }

/**
 * Prepares one event: guard → parse → scrub → normalise → filter → fingerprint, without making it readable. Pure: same
 * input, same result, but for texts that reach the limits of the project's expressions; does not throw for any bytes that an
 * SDK sends.
 */
export function prepareEvent(raw: RawEvent, project: ProjectFacts): PreparedEvent {
  const steps = stepsOf(raw, { ...project, symbolicate: null })
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** The same with readable frames. A large event, which takes dozens of milliseconds, is prepared in turns. */
function prepare(raw: RawEvent, project: ProjectFacts, turn: Turn): PreparedEvent | Promise<PreparedEvent> {
  const steps = stepsOf(raw, project)
  if (raw.end - raw.start >= LARGE_BYTES) return inTurns(steps, undefined, turn)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (step.value !== undefined) return inTurns(steps, step.value, turn)
  }
}

async function inTurns(steps: Steps, first: Promise<void> | undefined, turn: Turn): Promise<PreparedEvent> {
  await first
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    await step.value
    const wait = turn.pause()
    if (wait !== null) await wait
  }
}

/** Yields where the work may pause, or what it must wait for. */
type Steps = Generator<Promise<void> | undefined, PreparedEvent, void>

function* stepsOf(raw: RawEvent, project: ProjectFacts): Steps {
  if (raw.end - raw.start > MAX_EVENT_BYTES) return { outcome: 'invalid', reason: 'too_large' }
  // Critical paths read breadcrumbs.
  const decisive = project.journeys === null ? parseDecisive(raw.decoded, raw.start, raw.end, project.scrubbing) : null
  let parsed: GuardedJson
  try {
    parsed = decisive ?? parseGuarded(raw.decoded, raw.start, raw.end)
  } catch (error) {
    if (error instanceof GuardError) return { outcome: 'invalid', reason: error.word }
    throw error
  }
  const { value } = parsed
  if (!isRecord(value)) return { outcome: 'invalid', reason: 'not_an_object' }
  yield undefined
  const claimed = project.filters.ofEvents.length === 0 ? null : claimedAddress(value)
  const changed = decisive === null && scrubEvent(value, project.scrubbing)
  yield undefined
  const { clientIp, userAgent } = scrubConnection(raw, project.scrubbing)
  const normal = normalizeEvent(value, {
    eventId: raw.eventId,
    receivedAt: raw.receivedAt,
    sentAt: raw.sentAt,
    clientIp,
    userAgent,
    defaultEnvironment: project.defaultEnvironment,
    onlyDecisive: true,
  })
  yield undefined
  const unwanted = filteredEvent(project.filters, normal, {
    clientIp: raw.clientIp,
    userAgent: raw.userAgent,
    claimedAddress: claimed,
  })
  if (unwanted !== null) return { outcome: 'filtered', reason: unwanted }
  const user = userHash(project.projectId, normal)
  if (isErased(project, user, raw.receivedAt)) return { outcome: 'discarded', reason: 'erased' }
  let readable = normal
  const symbolicating = project.symbolicate?.(normal) ?? null
  if (symbolicating !== null)
    yield symbolicating.then((event) => {
      readable = event
    })
  const { event, fingerprint, former, title } = project.grouping(readable, raw.receivedAt)
  if (project.discarded?.has(fingerprint.hash.toString('base64')) === true) return DISCARDED_ISSUE
  yield undefined
  // With repeated or forbidden keys the original text holds values that the scrubber did not see.
  const stored = storedBody(raw, changed || !parsed.isExact ? writeJson(value, parsed.longNumbers) : null)
  yield undefined
  const occurredAt = new Date(event.occurred_at)
  const device = readDevice(event.contexts)
  const isReceipt = occurredAt.getTime() === raw.receivedAt.getTime()
  const about = {
    projectId: project.projectId,
    eventId: raw.eventId,
    receivedAt: raw.receivedAt,
    occurredAt,
    sentAt: raw.sentAt,
    userHash: user,
  }
  const eventSeverity = rateEventSeverity(severityFacts(event))
  const repeated = repeatedValues(
    fingerprint.hash,
    fingerprint.parts,
    listIndexedTexts(event, title),
    listEventFacts(event),
  )
  return {
    signals: signalsOfEvent(value, event, about, fingerprint.hash, eventSeverity === EVENT_SEVERITY.crash),
    occurrence: {
      orgId: project.orgId,
      event: {
        ...about,
        level: event.level,
        release: event.release,
        environment: event.environment,
        clientIp,
        userAgent,
        ...stored,
      },
      fingerprint: { version: fingerprint.version, hash: fingerprint.hash, parts: repeated.parts },
      formerHash: former?.hash ?? null,
      claimedAt: isReceipt ? claimedLongAgo(value['timestamp'], raw.receivedAt, raw.sentAt) : null,
      title: title ?? event.title,
      culprit: event.culprit,
      errorType: event.error_type,
      errorValue: event.error_value,
      level: event.level,
      platform: event.platform,
      isUnhandled: event.is_unhandled,
      eventSeverity,
      anr: anrOf(event),
      device,
      namesDevice: device.device !== '' && event.contexts['browser'] === undefined,
      manyUsers: project.manyUsers,
      newIssueBudget: project.newIssueBudget,
      ownershipMatches: project.ownership?.(event) ?? null,
      securityKind: detectSecurityKind(event),
      journeys: event.is_unhandled ? (project.journeys?.(event, value) ?? NO_JOURNEYS) : NO_JOURNEYS,
      trace: traceOf(event, project.traces),
      indexedTexts: repeated.texts,
      facts: repeated.facts,
    },
  }
}

const NO_JOURNEYS: readonly string[] = []

/** An `event` item. */
export const prepareEventItem: Preparer = (input) => {
  const { item, decoded } = input
  const eventId =
    input.eventId ?? eventIdFrom(topLevelString(decoded, 'event_id', item.start, item.end)) ?? unhyphenate(newId())
  const raw: RawEvent = {
    eventId,
    receivedAt: input.receivedAt,
    sentAt: input.sentAt,
    clientIp: input.entry.clientIp,
    userAgent: input.entry.userAgent,
    decoded,
    start: item.start,
    end: item.end,
    original: input.original,
  }
  const prepared = prepare(raw, input.project, input.turn)
  return prepared instanceof Promise ? prepared.then(itemOf) : itemOf(prepared)
}

/** Events from this size take more than a turn. */
const LARGE_BYTES = 50_000

function itemOf(prepared: PreparedEvent): readonly PreparedItem[] {
  const counted = { category: 'error', quantity: 1 } as const
  return 'outcome' in prepared
    ? [{ ...counted, ...prepared }]
    : [{ ...counted, kind: 'event', fact: prepared.occurrence }, ...itemsOfSignals(counted.category, prepared.signals)]
}

/** The user's address in the event, read before scrubbing so that filters by address can use it. */
function claimedAddress(value: Record<string, unknown>): string | null {
  const user = value['user'] ?? value['sentry.interfaces.User']
  if (isRecord(user) && typeof user['ip_address'] === 'string') return user['ip_address']
  const request = value['request'] ?? value['sentry.interfaces.Http']
  const env = isRecord(request) ? request['env'] : null
  return isRecord(env) && typeof env['REMOTE_ADDR'] === 'string' ? env['REMOTE_ADDR'] : null
}

/** The trace that the event belongs to, while the project's share has room. */
function traceOf(event: Pick<Event, 'contexts'>, shares: TraceShares): Occurrence['trace'] {
  const context = event.contexts['trace']
  if (!isRecord(context)) return null
  const traceId = readTraceId(context['trace_id'])
  if (traceId === null || !shares.errors.takes(traceId)) return null
  return { traceId, spanId: readSpanId(context['span_id']) }
}

/** A hang counts as one in the foreground unless the event says otherwise. */
const anrOf = (event: Event): Occurrence['anr'] =>
  !isAnr(event) ? null : event.contexts['app']?.['in_foreground'] === false ? 'background' : 'foreground'

const severityFacts = (event: Event) => ({
  level: event.level,
  isUnhandled: event.is_unhandled,
  isAnr: isAnr(event),
  isNativeCrash: isNativeCrash(event),
})

type StoredBody = Pick<StoredEvent, 'encoding' | 'bodyStart' | 'bodyEnd' | 'body'>

/**
 * The received body when it is compressed and unchanged; else the event's JSON, compressed.
 * @param changed the JSON of a changed event
 */
function storedBody(raw: RawEvent, changed: string | null): StoredBody {
  if (changed === null && raw.original !== null && raw.original.encoding !== 'none') {
    return { ...raw.original, bodyStart: raw.start, bodyEnd: raw.end }
  }
  const json = changed === null ? raw.decoded.subarray(raw.start, raw.end) : Buffer.from(changed)
  return { encoding: 'zstd', bodyStart: 0, bodyEnd: json.length, body: compressZstd(json) }
}

/** 52 bits of a hash of project and user key (id, else name, email or IP address); null without a user. */
export function userHash(projectId: string, event: Pick<Event, 'user'>): number | null {
  const { user } = event
  if (user === null) return null
  const key = [user.id, user.username, user.email, user.ip_address].find((one) => one !== null && one !== '')
  return key == null ? null : hashUser(projectId, key)
}

/** Other facts that an error event or transaction carries. */
type Signals = {
  /** For performance figures: the cause of an ANR, the device's warnings and battery levels. */
  readonly performance: readonly PerformanceFact[]
  readonly precursors: PrecursorReport | null
}

/**
 * The signals of an error event.
 * @param raw the scrubbed payload
 * @param isCrash whether the event ended the app
 */
function signalsOfEvent(
  raw: Record<string, unknown>,
  event: Event,
  stored: Pick<StoredEvent, 'projectId' | 'eventId' | 'receivedAt' | 'sentAt' | 'occurredAt' | 'userHash'>,
  fingerprint: Buffer,
  isCrash: boolean,
): Signals {
  const { projectId, eventId, occurredAt, receivedAt, sentAt, userHash } = stored
  const about = { projectId, id: eventId, at: occurredAt, user: userHash, origin: originOfEvent(event) }
  const facts: PerformanceFact[] = []
  const cause = anrCause(event)
  if (cause !== null) facts.push(measureAnr(about, cause, fingerprint.toString('hex')))
  const { shiftMs } = eventTime(raw['timestamp'], receivedAt, sentAt, new Notes())
  const signals = deviceSignals(raw, occurredAt, shiftMs)
  if (signals !== null && isMeasured(signals))
    facts.push(measureSignals({ ...about, screen: screenOf(event) }, signals))
  const signs = signsOfEvent(event, isCrash, occurredAt, signals)
  return { performance: facts, precursors: precursorsOf(about, signs, signals) }
}

const isMeasured = ({ levels, warnings }: DeviceSignals): boolean => levels.length > 0 || warnings.length > 0

/**
 * Null when a report says nothing. Without a user the model stands for all devices of its kind: too few, never too many.
 * Memory counts on devices only: on a server it grows with the requests of all users.
 */
function precursorsOf(
  { projectId, user, origin }: Pick<Reporter, 'projectId' | 'user' | 'origin'>,
  signs: PrecursorReport['signs'],
  signals: DeviceSignals | null,
): PrecursorReport | null {
  const memory = user === null || origin.device === '' ? NO_MEMORY : (signals?.memory ?? NO_MEMORY)
  if (signs.length === 0 && memory.length === 0) return null
  const owner = user ?? hashUser(projectId, `device\n${origin.device}\n${origin.os}\n${origin.release}`)
  return { projectId, owner, signs, memory }
}

const NO_MEMORY: PrecursorReport['memory'] = []

/** The screen that was open: the newest of those that the app names, else the transaction. */
function screenOf({ contexts, transaction }: Event): string {
  const views = contexts['app']?.['view_names']
  const newest: unknown = Array.isArray(views) ? views.at(-1) : null
  return typeof newest === 'string' && newest !== '' ? newest.slice(0, MAX_SCREEN) : (transaction ?? '')
}

const MAX_SCREEN = 200

/** The signals of a transaction. Its screen is its own name. */
export function signalsOfTransaction(
  { project, receivedAt, sentAt }: ItemInput,
  raw: Record<string, unknown>,
  { dimensions, identities, values, at }: PerformanceFact,
): Signals {
  if (dimensions === null) return NO_SIGNALS
  const { shiftMs } = eventTime(raw['timestamp'], receivedAt, sentAt, new Notes())
  const signals = deviceSignals(raw, at, shiftMs)
  const signs = signsOfTransaction(values, at, signals)
  if (signals === null && signs.length === 0) return NO_SIGNALS
  const key = userKey(raw['user'])
  const user = key === null ? null : hashUser(project.projectId, key)
  if (isErased(project, user, receivedAt)) return NO_SIGNALS
  const about = { projectId: project.projectId, id: String(identities[0]), at, user, origin: dimensions }
  const isWorth = signals !== null && isMeasured(signals)
  return {
    performance: isWorth ? [measureSignals({ ...about, screen: dimensions.name }, signals)] : [],
    precursors: precursorsOf(about, signs, signals),
  }
}

const NO_SIGNALS: Signals = { performance: [], precursors: null }

/** The facts of signals, counted with their event or transaction. */
export function itemsOfSignals(category: Counted['category'], { performance, precursors }: Signals): PreparedItem[] {
  const items: PreparedItem[] = performance.map((fact) => ({ category, quantity: 0, kind: 'performance', fact }))
  if (precursors !== null) items.push({ category, quantity: 0, kind: 'precursors', fact: precursors })
  return items
}
