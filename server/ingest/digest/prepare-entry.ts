import { eventIdFrom, newId, unhyphenate } from '../../platform/kernel/ids.ts'
import { MAX_ENTRIES } from '../../events/protocol/container.ts'
import { borrowBody } from '../../events/protocol/decode.ts'
import { decodeStoreBody } from '../../events/protocol/decode-store.ts'
import { parseEnvelope, type EnvelopeHeader, type RawItem, itemCategory } from '../../events/protocol/envelope.ts'
import { topLevelString } from '../../events/protocol/json-guard.ts'
import { RuleBudget } from '../../events/protocol/rule-budget.ts'
import { scrubEvent, withBudget } from '../../events/protocol/scrub.ts'
import { parseTime } from '../../events/protocol/time.ts'
import type { SpoolEntry } from '../spool/entry.ts'
import { OWN_THREAD, type Turn } from './fair-turns.ts'
import { claimedQuantity, DROP_OUTCOMES } from '../outcomes/dropped-items.ts'
import type { ItemInput, PreparedItem, UnrecordedPart } from './item.ts'
import { prepareDroppedAttachment } from './prepare-attachment.ts'
import { PREPARERS, UNSUPPORTED } from './preparers.ts'
import type { ProjectFacts } from './project-facts.ts'

/**
 * Decodes a spooled request, splits it into items and prepares each of them.
 * @param project null when it was deleted
 * @throws only on unexpected errors; the entry then goes to quarantine
 */
export async function prepareEntry(
  entry: SpoolEntry,
  project: ProjectFacts | null,
  turn: Turn = OWN_THREAD,
): Promise<readonly PreparedItem[]> {
  if (project === null) return [{ category: 'default', quantity: 1, outcome: 'discarded', reason: 'project_gone' }]
  const { ruleOverruns } = project
  if (ruleOverruns === null) return prepareItems(entry, project, turn)
  const budget = new RuleBudget(ruleOverruns)
  const items = await prepareItems(entry, { ...project, scrubbing: withBudget(project.scrubbing, budget) }, turn)
  const costly = budget.costly()
  return costly.length === 0
    ? items
    : [...items, { category: 'default', quantity: 0, kind: 'costly_rules', fact: costly }]
}

const prepareItems = (entry: SpoolEntry, project: ProjectFacts, turn: Turn): Promise<readonly PreparedItem[]> =>
  entry.endpoint === 'store' ? prepareStore(entry, project, turn) : prepareEnvelope(entry, project, turn)

const NO_HEADER: EnvelopeHeader = { eventId: null, dsn: null, sentAt: null, sdk: null, trace: null, fields: {} }

/** A store request is prepared like an envelope with one event. */
async function prepareStore(entry: SpoolEntry, project: ProjectFacts, turn: Turn): Promise<readonly PreparedItem[]> {
  const { json, plain } = decodeStoreBody(entry.body, entry.encoding)
  const item: RawItem = { type: 'event', headers: {}, headerStart: 0, start: 0, end: json.length, surplus: false }
  return prepareItem({
    entry,
    project,
    turn,
    header: NO_HEADER,
    items: [item],
    item,
    decoded: json,
    receivedAt: new Date(entry.receivedAtMs),
    sentAt: null,
    eventId: entry.eventId ?? eventIdFrom(topLevelString(json, 'event_id')) ?? unhyphenate(newId()),
    original: plain ? { body: entry.body, encoding: entry.encoding } : null,
  })
}

async function prepareEnvelope(entry: SpoolEntry, project: ProjectFacts, turn: Turn): Promise<PreparedItem[]> {
  const body = await borrowBody(entry.body, entry.encoding, turn.outside)
  const { header, items } = parseEnvelope(body.bytes)
  const dropped = new Map(entry.dropped.map((one) => [one.index, one.reason]))
  // An envelope with one item may be stored unchanged if its header holds no secrets. Rules of a project name parts of an
  // event; they do not apply to headers.
  const keepsOriginal =
    items.length === 1 &&
    entry.encoding !== 'none' &&
    (project.scrubbing.rules?.length ?? 0) === 0 &&
    !scrubEvent({ ...header.fields }, project.scrubbing)
  const common = {
    entry,
    project,
    header,
    items,
    turn,
    decoded: body.bytes,
    receivedAt: new Date(entry.receivedAtMs),
    sentAt: timeOrNull(header.sentAt),
    eventId: header.eventId ?? entry.eventId,
    original: keepsOriginal ? { body: entry.body, encoding: entry.encoding } : null,
  }
  const prepared: PreparedItem[] = []
  let entriesLeft = MAX_REQUEST_ENTRIES
  for (const [index, item] of items.entries()) {
    const wait = turn.pause()
    if (wait !== null) await wait
    const category = itemCategory(item.type)
    const reason = dropped.get(index)
    if (reason !== undefined) {
      prepared.push({ category, quantity: claimedQuantity(item), ...DROP_OUTCOMES[reason] })
      if (item.type === 'attachment') prepared.push(...prepareDroppedAttachment({ ...common, item }, reason))
    } else if (item.surplus) prepared.push({ category, quantity: 1, outcome: 'discarded', reason: 'second_event' })
    else if (entriesLeft <= 0 && CONTAINERS.has(item.type))
      prepared.push({ category, quantity: claimedQuantity(item), outcome: 'invalid', reason: 'too_many' })
    else {
      const parts = await prepareItem({ ...common, item })
      if (CONTAINERS.has(item.type)) entriesLeft -= parts.reduce((sum, { quantity }) => sum + quantity, 0)
      prepared.push(...parts)
    }
  }
  // Facts of other types may refer to the bytes.
  if (items.every(({ type, surplus }, index) => surplus || dropped.has(index) || KEEP_NO_BYTES.has(type)))
    body.release()
  return withoutCompanions(prepared)
}

/**
 * Maximum entries of all containers of a request. SDKs send one container of a hundred; 200,000 log entries fit into 2 MB
 * and would take 250 MB and two seconds.
 */
const MAX_REQUEST_ENTRIES = 10 * MAX_ENTRIES
const CONTAINERS: ReadonlySet<string> = new Set(['log', 'nel', 'otlp_logs', 'otlp_traces', 'span', 'trace_metric'])

/**
 * Files of a filtered event are dropped with it, because no page would show them. With an event of an erased user all
 * data of that user is dropped.
 */
function withoutCompanions(prepared: PreparedItem[]): PreparedItem[] {
  const stopped = prepared.find((one) => 'outcome' in one && isStopped(one))
  if (stopped === undefined || !('outcome' in stopped)) return prepared
  const { outcome, reason } = stopped
  const goes = (one: PreparedItem): boolean =>
    'kind' in one && (one.kind === 'attachment' || (one.kind === 'feedback' && reason === 'erased'))
  return prepared
    .filter((one) => !('kind' in one) || one.kind !== 'refused_file')
    .map((one) => (goes(one) ? { category: one.category, quantity: one.quantity, outcome, reason } : one))
}

const isStopped = ({ outcome, reason, category }: UnrecordedPart): boolean =>
  (category === 'error' || category === 'transaction' || category === 'feedback') &&
  (outcome === 'filtered' || reason === 'erased')

/** Item types whose facts never refer to the decoded bytes. */
const KEEP_NO_BYTES = new Set([
  'event',
  'transaction',
  'span',
  'session',
  'sessions',
  'client_report',
  'attachment',
  'form_data',
  'raw_security',
  'feedback',
  'user_report',
])

async function prepareItem(input: ItemInput): Promise<readonly PreparedItem[]> {
  const { type } = input.item
  if (isFromFilteredAddress(input))
    return [
      {
        category: itemCategory(type),
        quantity: claimedQuantity(input.item),
        outcome: 'filtered',
        reason: 'ip_address',
      },
    ]
  const prepare = PREPARERS.get(type)
  if (prepare !== undefined) return prepare(input)
  const reason = UNSUPPORTED.has(type) ? 'unsupported' : 'unknown_type'
  return [{ category: itemCategory(type), quantity: 1, outcome: 'discarded', reason }]
}

/** Items from a filtered address are dropped, except client reports. */
function isFromFilteredAddress({ entry, project, item }: ItemInput): boolean {
  const { ofAddresses } = project.filters
  if (ofAddresses === null || entry.clientIp === null || item.type === 'client_report') return false
  return ofAddresses(entry.clientIp)
}

/** Stricter than `new Date`, which reads `"1"` as 2001 and a missing time zone as the local one. */
function timeOrNull(text: string | null): Date | null {
  const at = parseTime(text)
  if (at === null) return null
  const time = new Date(at)
  return Math.abs(time.getUTCFullYear() - 2000) > 1000 ? null : time
}
