import { memberBehind, type OrgActor } from '../context/actor.ts'
import { invalid } from '../kernel/errors.ts'
import { lockMember } from '../team/members.queries.ts'
import type { Notification } from '../inbox/inbox.queries.ts'
import type { Tx } from '../storage/database.ts'

type Member = Awaited<ReturnType<typeof requireMember>>

export type Assigned = {
  readonly to: string | null
  readonly notification: Notification | null
  readonly entry: { readonly kind: string; readonly sentence: string; readonly data: Record<string, unknown> }
}

/**
 * Assigns an issue to a member, or removes its assignee. Returns null when nothing changes.
 * @param member null removes the assignee, undefined keeps it
 * @param name the actor's name, for the sentence
 */
export function decideAssignee(
  actor: OrgActor,
  issue: { readonly id: string; readonly assignee_id: string | null },
  member: Member | null | undefined,
  name: string,
): Assigned | null {
  const from = issue.assignee_id
  if (member === undefined || (member?.id ?? null) === from) return null
  const kind = 'assigned'
  if (member === null)
    return {
      to: null,
      notification: null,
      entry: { kind, sentence: `${name} removed the assignee.`, data: { from, to: null } },
    }
  const notification: Notification = {
    orgId: actor.orgId,
    userId: member.id,
    issueId: issue.id,
    kind,
    actor,
    commentId: null,
    sentence: `${name} assigned this issue to you.`,
  }
  const whom = member.id === memberBehind(actor)?.userId ? 'themselves' : member.name
  const sentence = `${name} assigned this issue to ${whom}.`
  return { to: member.id, notification, entry: { kind, sentence, data: { from, to: member.id } } }
}

/** Locks the membership until the transaction ends. @throws AppError invalid (not an active member) */
export async function requireMember(tx: Tx, actor: OrgActor, assigneeId: string) {
  const member = await lockMember(tx, actor.orgId, assigneeId)
  if (member === undefined) throw invalid('assignee_id is not a member of this organisation.')
  return member
}
