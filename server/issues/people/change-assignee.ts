import type { Actor } from '../../context/actor.ts'
import { invalid } from '../../kernel/errors.ts'
import type { Tx } from '../../storage/pool.ts'
import { lockMember } from '../../team/members.queries.ts'
import { notify, subscribeAutomatically } from './inbox.queries.ts'

type Entry = { readonly kind: string; readonly sentence: string; readonly data: Record<string, unknown> }

/**
 * Gives an issue the caller locked to a member, who follows it from now on and hears of it, or to nobody.
 * @param assigneeId null clears, undefined leaves it
 * @param name of who does it
 * @returns the entry for the activity; null where it was so already
 * @throws AppError invalid (not a member of the organisation, whoever else it may be)
 */
export async function changeAssignee(
  tx: Tx,
  actor: Actor,
  issue: { readonly id: string; readonly assignee_id: string | null },
  assigneeId: string | null | undefined,
  name: string,
  now: Date,
): Promise<Entry | null> {
  if (assigneeId === undefined) return null
  if (assigneeId === null) {
    if (issue.assignee_id === null) return null
    await tx.updateTable('issues').set({ assignee_id: null }).where('id', '=', issue.id).execute()
    return { kind: 'assigned', sentence: `${name} removed the owner.`, data: { from: issue.assignee_id, to: null } }
  }
  const member = await requireMember(tx, actor, assigneeId)
  if (member.id === issue.assignee_id) return null
  await tx.updateTable('issues').set({ assignee_id: member.id }).where('id', '=', issue.id).execute()
  await subscribeAutomatically(tx, now, [{ issueId: issue.id, userId: member.id, reason: 'assigned' }])
  await notify(tx, now, [
    {
      orgId: actor.orgId,
      userId: member.id,
      issueId: issue.id,
      kind: 'assigned',
      actorId: actor.userId,
      commentId: null,
      sentence: `${name} assigned this issue to you.`,
    },
  ])
  const whom = member.id === actor.userId ? 'themselves' : member.name
  return {
    kind: 'assigned',
    sentence: `${name} assigned this issue to ${whom}.`,
    data: { from: issue.assignee_id, to: member.id },
  }
}

/** The member, who stays one until the transaction ends. @throws AppError invalid (whoever else it may be) */
export async function requireMember(tx: Tx, actor: Actor, assigneeId: string) {
  const member = await lockMember(tx, actor.orgId, assigneeId)
  if (member === undefined) throw invalid('assignee_id is not a member of this organisation.')
  return member
}
