import { memberBehind, type OrgActor } from '../../platform/context/actor.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { lockMember } from '../../identity/team/members.queries.ts'
import type { FactOf } from '../../history/facts/kinds.ts'
import { aboutIssue } from '../rows/view-issue.ts'
import type { LockedIssue } from './change-status.ts'
import type { Tx } from '../../platform/storage/database.ts'

type Member = Awaited<ReturnType<typeof requireMember>>

export type Assigned = {
  readonly to: string | null
  readonly fact: FactOf<'issue.assigned'>
}

/**
 * Assigns an issue to a member, or removes its assignee. Returns null when nothing changes.
 * @param member null removes the assignee, undefined keeps it
 * @param name the actor's name, for the sentence
 */
export function decideAssignee(
  actor: OrgActor,
  issue: LockedIssue,
  member: Member | null | undefined,
  name: string,
): Assigned | null {
  const from = issue.assignee_id
  if (member === undefined || (member?.id ?? null) === from) return null
  const about = { kind: 'issue.assigned', ...aboutIssue(issue) } as const
  if (member === null) {
    const sentence = `${name} removed the assignee.`
    return { to: null, fact: { ...about, userIds: [], sentence, data: { from, to: null } } }
  }
  const whom = member.id === memberBehind(actor)?.userId ? 'themselves' : member.name
  return {
    to: member.id,
    fact: {
      ...about,
      userIds: [member.id],
      sentence: `${name} assigned this issue to ${whom}.`,
      notice: `${name} assigned this issue to you.`,
      data: { from, to: member.id },
    },
  }
}

/** Locks the membership until the transaction ends. @throws AppError invalid (not an active member) */
export async function requireMember(tx: Tx, actor: OrgActor, assigneeId: string) {
  const member = await lockMember(tx, actor.orgId, assigneeId)
  if (member === undefined) throw invalid('assignee_id is not a member of this organisation.')
  return member
}
