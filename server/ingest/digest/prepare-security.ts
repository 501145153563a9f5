import { createHmac, randomBytes } from 'node:crypto'
import { GuardError, parseGuarded } from '../../events/protocol/json-guard.ts'
import { readSecurityReport, reportsIn } from '../../events/protocol/security-report.ts'
import type { ItemInput, PreparedItem, Preparer } from './item.ts'
import { prepareEventItem } from './prepare-event.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'

/** Maximum reports in one request; browsers send a few. */
const MAX_REPORTS = 100

/** A `raw_security` item: one report, or a list of them, each a separate event. */
export const prepareSecurity: Preparer = async (input) => {
  const { item, decoded } = input
  let reports: readonly unknown[]
  try {
    reports = reportsIn(parseGuarded(decoded, item.start, item.end).value)
  } catch (error) {
    if (error instanceof GuardError)
      return [{ category: 'security', quantity: 1, outcome: 'invalid', reason: error.word }]
    throw error
  }
  // An empty list is still one item.
  if (reports.length === 0) return [{ category: 'security', quantity: 1, outcome: 'invalid', reason: 'no_report' }]
  const prepared: PreparedItem[] = []
  for (const report of reports.slice(0, MAX_REPORTS)) prepared.push(...(await prepareReport(input, report)))
  const rest = reports.length - MAX_REPORTS
  if (rest > 0) prepared.push({ category: 'security', quantity: rest, outcome: 'invalid', reason: 'too_many_reports' })
  return prepared
}

async function prepareReport(input: ItemInput, raw: unknown): Promise<readonly PreparedItem[]> {
  const { headers } = input.item
  const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
  const report = readSecurityReport(raw, {
    release: text(headers.sentry_release),
    environment: text(headers.sentry_environment),
    userAgent: input.entry.userAgent,
  })
  if ('outcome' in report) return [{ category: 'security', quantity: 1, ...report }]
  const timestamp = (input.receivedAt.getTime() - report.ageMs) / 1_000
  const decoded = Buffer.from(JSON.stringify({ ...report.event, timestamp }))
  const prepared = await prepareEventItem({
    ...input,
    item: { ...input.item, start: 0, end: decoded.length },
    decoded,
    original: null,
    eventId: eventIdOf(input, report.group),
  })
  return prepared.map((one) => ({ ...one, category: 'security' }))
}

/**
 * Reports of one problem from one address within a minute have one event id, so all but the first end as duplicates.
 * The id must not reveal the address, so it is keyed; the key changes with each start, which costs one more event per
 * problem.
 */
function eventIdOf({ project, entry, receivedAt }: ItemInput, group: string): string {
  const minute = Math.floor(receivedAt.getTime() / MINUTE_MS)
  return createHmac('sha256', KEY)
    .update(JSON.stringify([project.projectId, group, entry.clientIp, minute]))
    .digest('hex')
    .slice(0, 32)
}

const KEY = randomBytes(32)
