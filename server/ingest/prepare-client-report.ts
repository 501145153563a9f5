import { readClientReport, type ClientLoss } from '../protocol/client-report.ts'
import { GuardError, parseGuarded } from '../protocol/json-guard.ts'
import { scrubEvent } from '../protocol/scrub.ts'
import type { Counted, Preparer } from './item.ts'

const ONE: Counted = { category: 'internal', quantity: 1 }

/**
 * What an SDK lost before it reached us. Reports have no id, so one that is sent twice counts twice; SDKs do not repeat
 * what was answered.
 */
export const prepareClientReport: Preparer = ({ decoded, item, project }) => {
  let losses: readonly ClientLoss[] | null
  try {
    losses = readClientReport(parseGuarded(decoded, item.start, item.end).value)
  } catch (error) {
    if (error instanceof GuardError) return [{ ...ONE, outcome: 'invalid', reason: error.word }]
    throw error
  }
  if (losses === null) return [{ ...ONE, outcome: 'invalid', reason: 'not_a_report' }]
  // Words of the SDK, or whatever the app told it to say.
  const reasons: Record<string, unknown> = { reasons: losses.map(({ reason }) => reason) }
  if (scrubEvent(reasons, project.scrubbing) && Array.isArray(reasons['reasons'])) {
    const clean: readonly unknown[] = reasons['reasons']
    losses = losses.map((loss, index) => ({ ...loss, reason: String(clean[index] ?? '').slice(0, 64) }))
  }
  return [{ ...ONE, kind: 'client_report', fact: losses }]
}
