import { eventFromThread, type ClonedEvent, readStoredEvent, type StoredEvent } from '../../events/store/event.ts'
import { serveThread } from '../../platform/kernel/thread-task.ts'
import { decodeBodySync } from '../../events/protocol/decode.ts'
import { isRecord } from '../../events/protocol/json.ts'
import { parseGuarded } from '../../events/protocol/json-guard.ts'
import { RuleBudget } from '../../events/protocol/rule-budget.ts'
import { scrubConnection, scrubEvent } from '../../events/protocol/scrub.ts'
import { differences, type Difference } from './differences.ts'
import { expressionProblem, countPatternStates } from './rule-trial.ts'
import type { Scrubbing } from './scrub-settings.ts'

/** Body of a thread that runs the expressions of scrubbing rules. */

export type ScrubRequest =
  | { readonly expression: string; readonly isNew: boolean }
  | { readonly stored: ClonedEvent; readonly scrubbing: Omit<Scrubbing, 'hashKey'> & { readonly hashKey: Uint8Array } }

export type ScrubAnswer = {
  /** The problem of an expression; null when it can be used. */
  readonly problem: string | null
  /** States of an expression. */
  readonly states: number
  /** The title of an event. */
  readonly title: string
  readonly list: readonly Difference[]
  readonly total: number
}

const NOTHING: ScrubAnswer = { problem: null, states: 0, title: '', list: [], total: 0 }

serveThread((request: ScrubRequest): ScrubAnswer => {
  if ('expression' in request) {
    const { expression, isNew } = request
    return { ...NOTHING, problem: isNew ? expressionProblem(expression) : null, states: countPatternStates(expression) }
  }
  const { scrubbing } = request
  return preview(eventFromThread(request.stored), { ...scrubbing, hashKey: Buffer.from(scrubbing.hashKey) })
})

function preview(stored: StoredEvent, scrubbing: Scrubbing): ScrubAnswer {
  const rules = { ...scrubbing, budget: new RuleBudget() }
  const before = payloadOf(stored)
  const after = payloadOf(stored)
  scrubEvent(after.payload, rules)
  after.connection = scrubConnection(before.connection, rules)
  const changes = differences(
    { ...before.payload, ...connectionFields(before.connection) },
    { ...after.payload, ...connectionFields(after.connection) },
  )
  return { ...NOTHING, ...changes, title: readStoredEvent(stored).title }
}

type Connection = { clientIp: string | null; userAgent: string | null }

/** The stored JSON of the event, newly parsed, and the stored fields of its request. */
function payloadOf(stored: StoredEvent): { payload: Record<string, unknown>; connection: Connection } {
  const decoded = decodeBodySync(stored.body, stored.encoding)
  const { value } = parseGuarded(decoded, stored.bodyStart, stored.bodyEnd)
  return {
    payload: isRecord(value) ? value : {},
    connection: { clientIp: stored.clientIp, userAgent: stored.userAgent },
  }
}

const connectionFields = ({ clientIp, userAgent }: Connection) => ({
  'connection address': clientIp,
  'connection user agent': userAgent,
})
