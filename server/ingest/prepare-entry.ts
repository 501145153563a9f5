import { eventIdFrom, newId, unhyphenate } from '../kernel/ids.ts'
import type { Occurrence } from '../issues/record.ts'
import { categoryOf, type Category } from '../protocol/categories.ts'
import { decodeBody } from '../protocol/decode.ts'
import { decodeStoreBody } from '../protocol/decode-store.ts'
import { parseEnvelope, type Envelope, type RawItem } from '../protocol/envelope.ts'
import { scrubEvent } from '../protocol/scrub.ts'
import { topLevelString } from '../protocol/json-guard.ts'
import type { SpoolEntry } from '../spool/entry.ts'
import type { Outcome } from './outcomes.ts'
import { prepareEvent, type RawEvent } from './prepare-event.ts'
import type { ProjectFacts } from './project-facts.ts'

/** What one item of an entry comes to: an event to record (accepted unless it is a duplicate), or its outcome already. */
export type PreparedItem =
  | { readonly category: Category; readonly occurrence: Occurrence }
  | { readonly category: Category; readonly outcome: Outcome; readonly reason: string }

/** Types the product knows of and does not store yet; everything else is unknown. Neither is an error. */
const UNSUPPORTED = new Set([
  'transaction',
  'span',
  'otel_span',
  'session',
  'sessions',
  'attachment',
  'check_in',
  'feedback',
  'user_report',
  'user_report_v2',
  'log',
  'nel',
  'trace_metric',
  'replay_event',
  'replay_recording',
  'replay_video',
  'profile',
  'profile_chunk',
  'raw_security',
  'form_data',
  'unreal_report',
  'statsd',
  'metric_buckets',
  'metric_meta',
  'client_report',
])

/**
 * Takes one spooled request apart: decode → split → each item on its way.
 * @param project null when it was deleted since
 * @throws anything only for what nobody foresaw: the entry is then for quarantine
 */
export async function prepareEntry(entry: SpoolEntry, project: ProjectFacts | null): Promise<PreparedItem[]> {
  if (project === null) return [{ category: 'default', outcome: 'discarded', reason: 'project_gone' }]
  return entry.endpoint === 'store' ? prepareStore(entry, project) : prepareEnvelope(entry, project)
}

function prepareStore(entry: SpoolEntry, project: ProjectFacts): PreparedItem[] {
  const { json, plain } = decodeStoreBody(entry.body, entry.encoding)
  return [
    preparedEvent(project, {
      eventId: entry.eventId ?? eventIdFrom(topLevelString(json, 'event_id')) ?? randomEventId(),
      receivedAt: new Date(entry.receivedAtMs),
      sentAt: null,
      clientIp: entry.clientIp,
      userAgent: entry.userAgent,
      decoded: json,
      start: 0,
      end: json.length,
      asItCame: plain ? { body: entry.body, encoding: entry.encoding } : null,
    }),
  ]
}

async function prepareEnvelope(entry: SpoolEntry, project: ProjectFacts): Promise<PreparedItem[]> {
  const decoded = await decodeBody(entry.body, entry.encoding)
  const envelope = parseEnvelope(decoded)
  const dropped = new Map(entry.dropped.map((one) => [one.index, one.reason]))
  // Beside one lone event the envelope holds nothing but its header; that may be kept as it came unless it holds secrets.
  const keepsAsItCame =
    envelope.items.length === 1 && entry.encoding !== 'none' && !scrubEvent({ ...envelope.header.fields })
  return envelope.items.map((item, index): PreparedItem => {
    const category = categoryOf(item.type)
    const reason = dropped.get(index)
    if (reason === 'rate_limited') return { category, outcome: 'rate_limited', reason: 'key' }
    if (reason !== undefined) return { category, outcome: 'invalid', reason }
    if (item.surplus) return { category, outcome: 'discarded', reason: 'second_event' }
    if (item.type === 'event') return preparedEvent(project, rawEvent(entry, envelope, item, decoded, keepsAsItCame))
    return { category, outcome: 'discarded', reason: UNSUPPORTED.has(item.type) ? 'unsupported' : 'unknown_type' }
  })
}

function rawEvent(
  entry: SpoolEntry,
  { header }: Envelope,
  item: RawItem,
  decoded: Buffer,
  keepsAsItCame: boolean,
): RawEvent {
  return {
    eventId:
      header.eventId ??
      entry.eventId ??
      eventIdFrom(topLevelString(decoded, 'event_id', item.start, item.end)) ??
      randomEventId(),
    receivedAt: new Date(entry.receivedAtMs),
    sentAt: timeOrNull(header.sentAt),
    clientIp: entry.clientIp,
    userAgent: entry.userAgent,
    decoded,
    start: item.start,
    end: item.end,
    asItCame: keepsAsItCame ? { body: entry.body, encoding: entry.encoding } : null,
  }
}

function preparedEvent(project: ProjectFacts, raw: RawEvent): PreparedItem {
  const prepared = prepareEvent(raw, project)
  return 'invalid' in prepared
    ? { category: 'error', outcome: 'invalid', reason: prepared.invalid }
    : { category: 'error', occurrence: prepared.occurrence }
}

/** Drift beyond what a Date can hold is no time at all. */
function timeOrNull(text: string | null): Date | null {
  if (text === null) return null
  const time = new Date(text)
  return Number.isNaN(time.getTime()) || Math.abs(time.getUTCFullYear() - 2000) > 1000 ? null : time
}

const randomEventId = (): string => unhyphenate(newId())
