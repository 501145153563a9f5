import { parseFeedback, parseUserReport, type NewFeedback } from '../../issues/feedback/feedback.ts'
import { eventIdFrom, newId, unhyphenate } from '../../platform/kernel/ids.ts'
import { isRecord } from '../../events/protocol/json.ts'
import { GuardError, parseGuarded } from '../../events/protocol/json-guard.ts'
import { normalizeEvent } from '../../events/protocol/normalize.ts'
import { scrubConnection, scrubEvent } from '../../events/protocol/scrub.ts'
import type { ItemInput, PreparedItem, Preparer } from './item.ts'
import { userHash } from './prepare-event.ts'
import { isErased } from './project-facts.ts'

const ONE = { category: 'feedback', quantity: 1 } as const

/** A `feedback` item: an event whose context holds the message. */
export const prepareFeedback: Preparer = (input) =>
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
export const prepareUserReport: Preparer = (input) => prepared(input, (value) => parseUserReport(value, input.eventId))

function prepared(
  { decoded, item, project, receivedAt }: ItemInput,
  read: (scrubbed: Record<string, unknown>) => NewFeedback | null,
): readonly PreparedItem[] {
  let value: unknown
  try {
    value = parseGuarded(decoded, item.start, item.end).value
  } catch (error) {
    if (error instanceof GuardError) return [{ ...ONE, outcome: 'invalid', reason: error.word }]
    throw error
  }
  if (!isRecord(value)) return [{ ...ONE, outcome: 'invalid', reason: 'not_an_object' }]
  scrubEvent(value, project.scrubbing)
  const fact = read(value)
  if (isErased(project, fact?.userHash ?? null, receivedAt)) return [{ ...ONE, outcome: 'discarded', reason: 'erased' }]
  return fact === null ? [{ ...ONE, outcome: 'invalid', reason: 'no_message' }] : [{ ...ONE, kind: 'feedback', fact }]
}
