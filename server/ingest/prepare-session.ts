import { AppError } from '../kernel/errors.ts'
import { parseGuarded } from '../protocol/json-guard.ts'
import { readSession, readSessions, type SessionContext } from '../protocol/session.ts'
import type { Counted, ItemInput, Preparer } from './item.ts'
import { reasonWord } from './prepare-event.ts'

const ONE: Counted = { category: 'session', quantity: 1 }

/** A `session` item: one update of one session. */
export const prepareSession: Preparer = (input) => {
  const parsed = parse(input)
  if ('reason' in parsed) return [{ ...ONE, outcome: 'invalid', reason: parsed.reason }]
  const update = readSession(parsed.value, contextOf(input))
  return 'outcome' in update ? [{ ...ONE, ...update }] : [{ ...ONE, kind: 'session', fact: { update } }]
}

/** A `sessions` item: counts of finished sessions; one item, however many it counts. */
export const prepareSessions: Preparer = (input) => {
  const parsed = parse(input)
  if ('reason' in parsed) return [{ ...ONE, outcome: 'invalid', reason: parsed.reason }]
  const aggregates = readSessions(parsed.value, contextOf(input))
  return 'outcome' in aggregates ? [{ ...ONE, ...aggregates }] : [{ ...ONE, kind: 'session', fact: { aggregates } }]
}

function parse({ decoded, item }: ItemInput): { value: unknown } | { reason: string } {
  try {
    return { value: parseGuarded(decoded, item.start, item.end).value }
  } catch (error) {
    if (error instanceof AppError) return { reason: reasonWord(error.message) }
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
