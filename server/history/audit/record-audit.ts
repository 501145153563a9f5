import {
  memberBehind,
  type Actor,
  type FactContext,
  type FactSubscriber,
  type RecordedFact,
} from '../../platform/context/actor.ts'
import type { AuditKey } from '../../platform/context/audit-key.ts'
import { CANARY_ORG_ID } from '../../platform/kernel/ids.ts'
import { isFactKind, factKind, type FactKind } from '../facts/kinds.ts'
import type { Role } from '#shared/permissions.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { addEntries } from './add-entries.ts'
import { selectLabels, selectRoles, type Named } from './append.queries.ts'
import { entryText, entryTime, metaText, withoutQuery, type NewEntry } from './entry.ts'

/**
 * Writes an entry of the audit log for each fact whose kind has an action, in the transaction of the change. A bulk
 * operation is one entry per changed value, of its start: the facts of its issues are none.
 */
export const recordAudit =
  (key: AuditKey): FactSubscriber =>
  async (tx, context, facts) => {
    const audited = facts.flatMap((fact): Audited[] => {
      // No member could read a log of the canary.
      if (!isFactKind(fact.kind) || fact.orgId === CANARY_ORG_ID) return []
      const { audit } = factKind(fact.kind)
      if (audit === undefined || isByApps(context.actor, fact) || context.operationId !== null) return []
      return [{ fact, kind: fact.kind, action: audit }]
    })
    if (audited.length === 0) return
    const labels = await labelsOf(tx, context.actor, audited)
    const roles = await rolesOf(tx, context.actor, audited)
    addEntries(
      tx,
      key,
      audited.map((entry) => ({ ...entryOf(context, entry, labels), ...asKnownTo(entry.fact, context.actor, roles) })),
    )
  }

type Audited = { readonly fact: RecordedFact; readonly kind: FactKind; readonly action: string }

/** Apps cause it, as many times as they like: they must not be able to fill the log. A DSN is public. */
const isByApps = (actor: Actor, fact: RecordedFact): boolean =>
  (fact.kind === 'release.created' && fact.data['automatic'] === true) ||
  (fact.kind === 'issue.severity_changed' && memberBehind(actor) === null)

/** In another organisation the actor has another role, and its session here is no concern of that one. */
function asKnownTo(
  fact: RecordedFact,
  actor: Actor,
  roles: ReadonlyMap<string, Role>,
): Partial<Pick<NewEntry, 'actor_role' | 'session_id'>> {
  const member = memberBehind(actor)
  if (member === null || member.orgId === fact.orgId) return {}
  return { actor_role: roles.get(fact.orgId) ?? null, session_id: fact.sessionId ?? null }
}

/** Roles of the actor in other organisations of the facts. */
async function rolesOf(tx: Tx, actor: Actor, audited: readonly Audited[]): Promise<Map<string, Role>> {
  const member = memberBehind(actor)
  if (member === null) return new Map()
  const orgIds = new Set(audited.map(({ fact }) => fact.orgId))
  orgIds.delete(member.orgId)
  if (orgIds.size === 0) return new Map()
  return new Map((await selectRoles(tx, member.userId, [...orgIds])).map((row) => [row.org_id, row.role]))
}

type Target = {
  readonly type: string
  readonly id: string | null
  readonly labelled: readonly [keyof Named, string] | null
}

/** The target of the fact, and whose label names it. */
function targetOf({ fact, kind }: Audited): Target {
  const { target } = factKind(kind)
  const of = (id: string | undefined, name: keyof Named, named = id): Target => ({
    type: target,
    id: id ?? null,
    labelled: named === undefined ? null : [name, named],
  })
  switch (target) {
    case 'issue':
      return of(fact.issueId, 'issue')
    case 'comment':
      return of(fact.commentId, 'issue', fact.issueId)
    case 'project':
      return of(fact.projectId, 'project')
    case 'release':
      return of(fact.releaseId, 'release')
    case 'org':
      return of(fact.orgId, 'org')
    case 'user':
      return of(fact.userId, 'user')
    case 'session':
      return of(fact.sessionId, 'user', fact.userId)
    case 'endpoint':
      return of(fact.endpointId, 'endpoint')
    case 'operation':
      return fact.onlyIssueId === undefined
        ? { type: target, id: fact.targetId ?? null, labelled: null }
        : { ...of(fact.onlyIssueId, 'issue'), type: 'issue' }
    case 'invite':
    case 'api_key':
    case 'alert_rule':
    case 'monitor':
    case 'feedback':
    case 'alert':
    case 'integration':
      return { type: target, id: fact.targetId ?? null, labelled: null }
  }
}

type Labels = ReadonlyMap<string, string>

/** Read now: the transaction may delete the rows before it commits. */
async function labelsOf(tx: Tx, actor: Actor, audited: readonly Audited[]): Promise<Labels> {
  const ids: Record<keyof Named, Set<string>> = {
    user: new Set(),
    issue: new Set(),
    project: new Set(),
    release: new Set(),
    org: new Set(),
    endpoint: new Set(),
  }
  const member = memberBehind(actor)
  if (member !== null) ids.user.add(member.userId)
  for (const entry of audited) {
    const { labelled } = targetOf(entry)
    if (labelled !== null && entry.fact.label === undefined) ids[labelled[0]].add(labelled[1])
  }
  const named: Named = {
    user: [...ids.user],
    issue: [...ids.issue],
    project: [...ids.project],
    release: [...ids.release],
    org: [...ids.org],
    endpoint: [...ids.endpoint],
  }
  if (Object.values(named).every((of) => of.length === 0)) return new Map()
  return new Map((await selectLabels(tx, named)).map(({ kind, id, label }) => [`${kind}:${id}`, label]))
}

function entryOf(context: FactContext, entry: Audited, labels: Labels): NewEntry {
  const { fact, kind, action } = entry
  const target = targetOf(entry)
  const label = fact.label ?? (target.labelled === null ? undefined : labels.get(target.labelled.join(':')))
  return {
    id: fact.id,
    org_id: fact.orgId,
    created_at: entryTime(fact.at),
    action,
    event_type: factKind(kind).webhook ?? null,
    ...actorFields(context.actor, labels),
    target_type: target.type,
    target_id: target.id,
    target_label: entryText(target.type === 'endpoint' && label !== undefined ? withoutQuery(label) : label),
    project_id: fact.projectId ?? null,
    ...requestFields(context.actor, fact.sessionId),
    outcome: factKind(kind).outcome ?? 'ok',
    meta: metaText(
      {
        ...fact.data,
        ...(fact.sentence === undefined ? {} : { reason: fact.sentence }),
        ...(kind === action ? {} : { cause: kind }),
        ...(Array.isArray(fact.data['issue_ids']) ? { count: fact.data['issue_ids'].length } : {}),
        ...(context.actor.kind === 'assistant' ? { assistant: true } : {}),
        ...(context.actor.kind === 'chat' ? { chat: true } : {}),
      },
      factKind(kind).verbatim,
    ),
  }
}

/** The assistant acts for a member, who answers for it; in the chat the member acts. */
export function actorFields(
  actor: Actor,
  labels: Labels,
): Pick<NewEntry, 'actor_type' | 'actor_id' | 'actor_email' | 'actor_role'> {
  const member = memberBehind(actor)
  const email = member === null ? null : (labels.get(`user:${member.userId}`) ?? null)
  switch (actor.kind) {
    case 'user':
    case 'assistant':
    case 'chat':
      return { actor_type: 'user', actor_id: actor.userId, actor_email: email, actor_role: actor.role }
    case 'api_key':
      return { actor_type: 'api_key', actor_id: actor.keyId, actor_email: email, actor_role: actor.role }
    case 'integration':
      return { actor_type: 'integration', actor_id: actor.integrationId, actor_email: null, actor_role: null }
    case 'system':
      return { actor_type: 'system', actor_id: actor.origin.operation, actor_email: null, actor_role: null }
  }
}

/** Where the request came from. @param sessionId of the fact, when the actor has none yet */
export function requestFields(
  actor: Actor,
  sessionId: string | undefined,
): Pick<NewEntry, 'ip' | 'user_agent' | 'request_id' | 'session_id'> {
  const { origin } = actor
  return {
    ip: origin.kind === 'request' ? origin.ip : null,
    user_agent: origin.kind === 'request' ? entryText(origin.userAgent) : null,
    request_id: actor.requestId,
    session_id: (actor.kind === 'user' ? actor.sessionId : null) ?? sessionId ?? null,
  }
}
