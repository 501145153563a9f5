import { explainRefusal, type Permission, type Role } from '#shared/permissions.ts'
import { forbidden } from '../kernel/errors.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Tx } from '../storage/database.ts'

/** Where a request came from. */
export type RequestOrigin = { readonly kind: 'request'; readonly ip: string; readonly userAgent: string | null }

/** Background work. `operation` names the job, or digestion. */
type SystemOrigin = { readonly kind: 'system'; readonly operation: string }

/** Data that is known about every request, also on public routes. */
export type Caller = { readonly origin: RequestOrigin; readonly requestId: string }

type SystemCaller = { readonly origin: SystemOrigin; readonly requestId: null }

/** A user as a member of one organisation. */
export type Member = {
  readonly userId: string
  readonly name: string
  readonly orgId: string
  readonly role: Role
}

/** A member who sent the request with a session. */
export type SessionActor = Member & Caller & { readonly kind: 'user'; readonly sessionId: string }

/** A member whose operation a background job continues, without a session. */
export type JobActor = Member & SystemCaller & { readonly kind: 'user'; readonly sessionId: null }

/** A user who has just signed up: the first session follows with the log-in. */
export type NewUserActor = Member & Caller & { readonly kind: 'user'; readonly sessionId: null }

type UserActor = SessionActor | JobActor | NewUserActor

/** A member's API key: the member's role, limited by the key's scopes. */
export type ApiKeyActor = Member &
  Caller & { readonly kind: 'api_key'; readonly keyId: string; readonly scopes: readonly string[] }

/** The assistant, on behalf of the member who asked it. */
type AssistantActor = Member & Caller & { readonly kind: 'assistant' }

/** A member who pressed a button in the chat: their chat user is linked to the account. */
export type ChatActor = Member & Caller & { readonly kind: 'chat' }

/** A connected service, such as a code host, that calls a webhook of ours, or whose data a job reads. */
export type IntegrationActor = (Caller | SystemCaller) & {
  readonly kind: 'integration'
  readonly integrationId: string
  readonly name: string
  readonly orgId: string
}

/** Faultline itself, for all organisations: digestion and scheduled jobs. */
export type SystemActor = SystemCaller & { readonly kind: 'system' }

/** Who acts. Switch over `kind` exhaustively. */
export type Actor = UserActor | ApiKeyActor | AssistantActor | ChatActor | IntegrationActor | SystemActor

/** An actor inside one organisation. Operations scope every query by its `orgId`. */
export type OrgActor = Exclude<Actor, SystemActor>

export const systemActor = (operation: string): SystemActor => ({
  kind: 'system',
  origin: { kind: 'system', operation },
  requestId: null,
})

/** The worker that records what the spool holds. */
export const DIGESTION: SystemActor = systemActor('digestion')

/** The member behind an actor, for attribution; null for an integration and the system. */
export function memberBehind(actor: Actor): Member | null {
  switch (actor.kind) {
    case 'user':
    case 'api_key':
    case 'assistant':
    case 'chat':
      return actor
    case 'integration':
    case 'system':
      return null
  }
}

/**
 * The member behind an actor, for operations that only a member can perform.
 * @throws AppError forbidden for an integration and the system
 */
export function requireActingMember(actor: Actor): Member {
  const member = memberBehind(actor)
  if (member === null) throw forbidden('Only a member of the organisation can do this.')
  return member
}

/** Whether the member's role, and the scopes of an API key, grant a permission. An integration and the system have none. */
export function isGranted(permission: Exclude<Permission, 'public'>, actor: Actor): boolean {
  const member = memberBehind(actor)
  if (member === null) return false
  const scopes = actor.kind === 'api_key' ? actor.scopes : undefined
  return explainRefusal(permission, { role: member.role, scopes }) === null
}

/** The actor's name as the activity shows it. */
export function actorLabel(actor: Actor): string {
  switch (actor.kind) {
    case 'user':
    case 'api_key':
    case 'chat':
      return actor.name
    case 'assistant':
      return `The assistant (for ${actor.name})`
    case 'integration':
      return actor.name
    case 'system':
      return 'Faultline'
  }
}

/** The fields by which a log line names its actor. */
export function actorForLog(actor: Actor): Record<string, string | null> {
  return {
    actor: actor.kind,
    user_id: memberBehind(actor)?.userId ?? null,
    ...(actor.kind === 'system' ? {} : { org_id: actor.orgId }),
    ...(actor.origin.kind === 'system' ? { operation: actor.origin.operation } : { request_id: actor.requestId }),
  }
}

/** Which part of the product makes a change. */
type ChangeOrigin = 'api' | 'digestion' | 'schedule'

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
  /** An import: the activity is written, and no member, alert, mail or webhook hears of the change. */
  readonly isQuiet: boolean
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

type Parts = {
  readonly clock: Clock
  readonly factSubscribers: readonly FactSubscriber[]
  readonly isQuiet?: boolean
}

/**
 * @param at the time of the change, by default now
 * @param operationId of the bulk operation that makes the change
 */
export function factContext(
  { clock, factSubscribers, isQuiet = false }: Parts,
  actor: Actor,
  at = clock.now(),
  operationId: string | null = null,
): FactContext {
  return {
    actor,
    origin: originOf(actor),
    requestId: actor.requestId,
    at,
    operationId,
    subscribers: factSubscribers,
    isQuiet,
  }
}

function originOf({ origin }: Actor): ChangeOrigin {
  if (origin.kind === 'request') return 'api'
  return origin.operation === 'digestion' ? 'digestion' : 'schedule'
}
