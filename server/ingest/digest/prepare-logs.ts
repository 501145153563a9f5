import { MAX_ENTRIES, parseEntries, readContainer } from '../../events/protocol/container.ts'
import { cleanLog, readLog, type LogEntry, type EntryContext } from '../../events/protocol/log.ts'
import { nelLog, nelReports } from '../../events/protocol/nel.ts'
import type { OtlpEntries } from '../../events/protocol/otlp.ts'
import type { ItemInput, PreparedItem, Preparer, UnrecordedPart } from './item.ts'
import { isRecord } from '../../events/protocol/json.ts'
import { scrubConnection, scrubEvent } from '../../events/protocol/scrub.ts'
import { readUserAgent } from '../../events/protocol/user-agent.ts'
import type { Category } from '../../events/protocol/envelope.ts'
import { cleanMetric, readTraceMetric, type TraceMetric } from '../../events/protocol/trace-metric.ts'

const CATEGORY = 'log_item'

/** A `log` container (docs/protocol.md §11.1). */
export const prepareLogs: Preparer = (input) => {
  const container = readContainer(input.decoded, input.item)
  if ('invalid' in container)
    return [{ category: CATEGORY, quantity: container.count, outcome: 'invalid', reason: container.invalid }]
  return prepareLogEntries(input, { entries: withInferred(container, input), surplus: container.surplus })
}

/** A `nel` item (docs/protocol.md §13): a list of reports, or one. */
export const prepareNel: Preparer = async (input) => {
  const parsed = parseEntries(input.decoded, input.item.start, input.item.end)
  if ('invalid' in parsed) return [{ category: CATEGORY, quantity: 1, outcome: 'invalid', reason: parsed.invalid }]
  const reports = nelReports(parsed.value)
  if (reports === null) return [{ category: CATEGORY, quantity: 1, outcome: 'invalid', reason: 'not_a_report' }]
  const looked = reports.slice(0, MAX_ENTRIES).map((report) => nelLog(report, input.receivedAt))
  const entries = looked.filter((entry) => entry !== null)
  const wrong = looked.length - entries.length
  // Reports have ages, which are subtracted from the time of receipt; the sender's clock is not used.
  const logs = await prepareLogEntries({ ...input, sentAt: null }, { entries, surplus: reports.length - looked.length })
  if (wrong === 0) return logs
  return [...logs, { category: CATEGORY, quantity: wrong, outcome: 'invalid', reason: 'not_a_report' }]
}

/** Prepares raw entries in the form of docs/protocol.md §11.1. */
export async function prepareLogEntries(
  input: ItemInput,
  { entries, surplus }: OtlpEntries,
): Promise<readonly PreparedItem[]> {
  const { kept, invalid } = await readEntries<LogEntry>(input, {
    category: CATEGORY,
    entries,
    surplus,
    clean: cleanLog,
    read: readLog,
  })
  return kept.length === 0
    ? invalid
    : [{ category: CATEGORY, quantity: kept.length, kind: 'logs', fact: kept }, ...invalid]
}

/**
 * Attributes that a container asks to infer from its request (docs/protocol.md §15.3), because browsers do not know their
 * address and not always their name.
 * @param fields of the container, which hold `ingest_settings`
 */
function inferredAttributes(
  fields: Readonly<Record<string, unknown>>,
  { entry, project }: ItemInput,
): Record<string, unknown> | null {
  const settings = fields['ingest_settings']
  if (!isRecord(settings)) return null
  const { clientIp, userAgent } = scrubConnection(entry, project.scrubbing)
  const inferred: Record<string, unknown> = {}
  if (settings['infer_ip'] === 'auto' && clientIp !== null) inferred['client.address'] = clientIp
  if (settings['infer_user_agent'] === 'auto' && userAgent !== null) {
    const { browser, os } = readUserAgent(userAgent)
    if (browser !== null) inferred['browser.name'] = browser.name
    if (browser !== null && browser.version !== null) inferred['browser.version'] = browser.version
    if (os !== null) inferred['os.name'] = os.name
  }
  return inferred
}

/** The entries of a container with inferred attributes; an entry's own attributes win. */
function withInferred(
  container: { readonly entries: readonly unknown[]; readonly fields: Readonly<Record<string, unknown>> },
  input: ItemInput,
): readonly unknown[] {
  const inferred = inferredAttributes(container.fields, input)
  if (inferred === null) return container.entries
  return container.entries.map((entry) => {
    if (!isRecord(entry)) return entry
    const own = entry['attributes'] ?? {}
    return isRecord(own) ? { ...entry, attributes: { ...inferred, ...own } } : entry
  })
}

type Entries<T> = {
  readonly category: Category
  /** As sent, up to the maximum number. */
  readonly entries: readonly unknown[]
  /** Number of entries above the maximum. */
  readonly surplus: number
  /** Passes the parts of an entry that may hold secrets to the scrubber. @returns the entry, which it may change */
  readonly clean: (entry: unknown, scrub: (parts: Record<string, unknown>) => void) => unknown
  /** Reads a scrubbed entry; returns a reason when it is invalid. */
  readonly read: (entry: unknown, context: EntryContext) => T | { readonly invalid: string }
}

type ReadEntries<T> = { readonly kept: readonly T[]; readonly invalid: readonly UnrecordedPart[] }

/**
 * Maximum texts of all entries together that are parsed as JSON, and the minimum for each entry. A text that is no JSON
 * costs an exception: 1,000 entries full of them take 3.2 s with 500 for each, and 1.2 s with these limits.
 */
const MAX_JSON_TEXTS = 5_000
const MIN_JSON_TEXTS = 5

/** Scrubs and reads the entries of a container. An invalid entry is left out with its reason. */
async function readEntries<T extends object>(
  { item, project, turn, receivedAt, sentAt }: ItemInput,
  { category, entries, surplus, clean, read }: Entries<T>,
): Promise<ReadEntries<T>> {
  const context: EntryContext = {
    receivedAt,
    sentAt,
    defaultEnvironment: project.defaultEnvironment,
    containerBytes: item.end - item.start,
  }
  const maxJsonTexts = Math.max(MIN_JSON_TEXTS, Math.floor(MAX_JSON_TEXTS / entries.length))
  const scrub = (parts: Record<string, unknown>): void => void scrubEvent(parts, project.scrubbing, maxJsonTexts)
  const kept: T[] = []
  const reasons = new Map<string, number>()
  for (const entry of entries) {
    const wait = turn.pause()
    if (wait !== null) await wait
    // One by one, because a project's rules name paths inside an entry.
    const one = read(clean(entry, scrub), context)
    if ('invalid' in one) reasons.set(one.invalid, (reasons.get(one.invalid) ?? 0) + 1)
    else kept.push(one)
  }
  if (surplus > 0) reasons.set('too_many', surplus)
  return {
    kept,
    invalid: [...reasons].map(([reason, quantity]) => ({ category, quantity, outcome: 'invalid', reason })),
  }
}

const METRIC_CATEGORY = 'trace_metric'

/** A `trace_metric` container (docs/protocol.md §11.2). */
export const prepareTraceMetrics: Preparer = async (input) => {
  const container = readContainer(input.decoded, input.item)
  if ('invalid' in container)
    return [{ category: METRIC_CATEGORY, quantity: container.count, outcome: 'invalid', reason: container.invalid }]
  const { kept, invalid } = await readEntries<TraceMetric>(input, {
    category: METRIC_CATEGORY,
    entries: withInferred(container, input),
    surplus: container.surplus,
    clean: cleanMetric,
    read: readTraceMetric,
  })
  return kept.length === 0
    ? invalid
    : [{ category: METRIC_CATEGORY, quantity: kept.length, kind: 'trace_metrics', fact: kept }, ...invalid]
}
