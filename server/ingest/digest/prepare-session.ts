import { GuardError, parseGuarded } from '../../events/protocol/json-guard.ts'
import { readSession, readSessions, type SessionContext } from '../../events/protocol/session.ts'
import { hashUser } from '../../events/protocol/user.ts'
import type { Counted } from '../../events/items/recorder.ts'
import type { ItemInput, Preparer } from './item.ts'
import { isErased } from './project-facts.ts'

const ONE: Counted = { category: 'session', quantity: 1 }

/** A `session` item: one update of one session. */
export const prepareSession: Preparer = (input) => {
  const parsed = parse(input)
  if ('reason' in parsed) return [{ ...ONE, outcome: 'invalid', reason: parsed.reason }]
  const update = readSession(parsed.value, contextOf(input))
  if ('outcome' in update) return [{ ...ONE, ...update }]
  return [{ ...ONE, kind: 'session', fact: { update: { ...update, did: unlessErased(input, update.did) } } }]
}

/** A `sessions` item: counts of finished sessions; it counts as one item. */
export const prepareSessions: Preparer = (input) => {
  const parsed = parse(input)
  if ('reason' in parsed) return [{ ...ONE, outcome: 'invalid', reason: parsed.reason }]
  const aggregates = readSessions(parsed.value, contextOf(input))
  if ('outcome' in aggregates) return [{ ...ONE, ...aggregates }]
  const counts = aggregates.counts.map((one) => ({ ...one, did: unlessErased(input, one.did) }))
  return [{ ...ONE, kind: 'session', fact: { aggregates: { ...aggregates, counts } } }]
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
