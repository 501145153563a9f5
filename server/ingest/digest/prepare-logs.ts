import { MAX_ENTRIES, parseEntries, readContainer } from '../../events/protocol/container.ts'
import { cleanLog, readLog, type LogEntry } from '../../events/protocol/log.ts'
import { nelLog, nelReports } from '../../events/protocol/nel.ts'
import type { OtlpEntries } from '../../events/protocol/otlp.ts'
import { withInferred } from './inferred-attributes.ts'
import type { ItemInput, PreparedItem, Preparer } from './item.ts'
import { readEntries } from './prepare-entries.ts'

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
