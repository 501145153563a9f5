import type { Clock } from '../kernel/clock.ts'
import type { Tx } from '../storage/database.ts'
import type { Actor } from './actor.ts'

/** Which part of the product makes a change. */
export type ChangeOrigin = 'api' | 'digestion' | 'schedule'

/** Who makes a change, from where and when: the context of its facts. */
export type FactContext = {
  readonly actor: Actor
  readonly origin: ChangeOrigin
  /** Null for digestion and jobs. */
  readonly requestId: string | null
  readonly at: Date
  /** The bulk operation that makes the change. Its start was a fact of its own. */
  readonly operationId: string | null
  /** `App.factSubscribers` */
  readonly subscribers: readonly FactSubscriber[]
}

/** A fact as its subscribers receive it; `history/facts/kinds.ts` lists the kinds with the data of each. */
export type RecordedFact = {
  readonly id: string
  readonly kind: string
  readonly orgId: string
  /** Ids of the things that the fact is about, by the target of its kind. */
  readonly projectId?: string
  readonly issueId?: string
  readonly commentId?: string
  readonly releaseId?: string
  readonly userId?: string
  readonly sessionId?: string
  readonly endpointId?: string
  /** The issue of a bulk operation with only one issue. */
  readonly onlyIssueId?: string
  /** Id of any other target. */
  readonly targetId?: string
  readonly sentence?: string
  /** The target's label in the audit log, when the row with the label no longer exists. */
  readonly label?: string
  readonly at: Date
  readonly data: Readonly<Record<string, unknown>>
}

/** Runs in the transaction of the change: what it writes is committed with the change, or not at all. */
export type FactSubscriber = (tx: Tx, context: FactContext, facts: readonly RecordedFact[]) => Promise<void>

type Parts = { readonly clock: Clock; readonly factSubscribers: readonly FactSubscriber[] }

/**
 * @param at the time of the change, by default now
 * @param operationId of the bulk operation that makes the change
 */
export function factContext(
  { clock, factSubscribers }: Parts,
  actor: Actor,
  at = clock.now(),
  operationId: string | null = null,
): FactContext {
  return { actor, origin: originOf(actor), requestId: actor.requestId, at, operationId, subscribers: factSubscribers }
}

function originOf({ origin }: Actor): ChangeOrigin {
  if (origin.kind === 'request') return 'api'
  return origin.operation === 'digestion' ? 'digestion' : 'schedule'
}
