import { readClientReport, type ClientLoss } from '../../events/protocol/client-report.ts'
import { GuardError, parseGuarded } from '../../events/protocol/json-guard.ts'
import { isList } from '../../events/protocol/json.ts'
import { scrubEvent } from '../../events/protocol/scrub.ts'
import { FILTERED } from '../../events/protocol/scrub-words.ts'
import type { Counted } from '../../events/items/recorder.ts'
import type { Preparer } from './item.ts'

const ONE: Counted = { category: 'internal', quantity: 1 }

/**
 * Items that an SDK dropped before sending. Reports have no id, so a repeated report counts twice; SDKs do not repeat
 * reports that were answered.
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
  // The reason is text from the SDK or the app.
  const scrubbed: Record<string, unknown> = { reasons: losses.map(({ reason }) => reason) }
  if (scrubEvent(scrubbed, project.scrubbing)) {
    const reasons = isList(scrubbed['reasons']) ? scrubbed['reasons'] : []
    losses = losses.map((loss, index) => {
      const reason = reasons[index]
      return { ...loss, reason: typeof reason === 'string' ? reason.slice(0, 64) : FILTERED }
    })
  }
  return [{ ...ONE, kind: 'client_report', fact: losses }]
}
