import type { Role } from '#shared/permissions.ts'
import { inviteMembers } from '../../identity/team/invite-members.ts'
import type { Difference } from './imports.api.ts'
import type { Progress, Running } from './step.ts'
import { readAll, nullWhenUnreadable, SourceMember } from './source.ts'

const MAX_MEMBERS = 5_000
const BATCH = 50

/** Invites the members of the source, without a mail. The roles of a team there are the role of a member here. */
export async function takeMembers({ app, actor, source }: Running): Promise<Progress> {
  const members = await readAll(
    app,
    source,
    `/api/0/organizations/${source.org}/members/`,
    SourceMember,
    MAX_MEMBERS,
  ).catch(nullWhenUnreadable)
  if (members === null) return { cursor: null, differences: [UNREADABLE] }
  const differences: Difference[] = []
  const byRole = Map.groupBy(members, ({ orgRole, role }) => roleOf(orgRole ?? role ?? 'member'))
  let invited = 0
  for (const [role, ofRole] of byRole) {
    const emails = [...new Set(ofRole.map(({ email }) => email))]
    for (let from = 0; from < emails.length; from += BATCH) {
      const results = await inviteMembers(app, actor, { emails: emails.slice(from, from + BATCH), role })
      invited += results.filter(({ status }) => status === 'invited').length
      const refused = results.filter(({ status }) => status !== 'invited' && status !== 'conflict')
      for (const { email, error } of refused)
        differences.push(notInvited(email, error ?? 'The invitation was refused.'))
    }
  }
  const owners = members.filter(({ orgRole, role }) => (orgRole ?? role) === 'owner')
  if (owners.length > 0) differences.push(ownersAreAdmins(owners.map(({ email }) => email)))
  if (invited > 0) differences.push(noMail(invited))
  return { cursor: null, done: { members: members.length }, total: { members: members.length }, differences }
}

/** No one becomes an owner by an import. */
function roleOf(role: string): Role {
  if (role === 'owner' || role === 'manager') return 'admin'
  return role === 'billing' ? 'viewer' : 'member'
}

const UNREADABLE: Difference = {
  kind: 'members',
  count: 1,
  reason: 'The token may not read members.',
  instead: 'No one was invited, and issues have no assignee whose account is not here.',
  examples: [],
}

const notInvited = (email: string, reason: string): Difference => ({
  kind: 'members',
  count: 1,
  reason,
  instead: 'Not invited.',
  examples: [email],
})

const ownersAreAdmins = (emails: readonly string[]): Difference => ({
  kind: 'members',
  count: emails.length,
  reason: 'Owners there.',
  instead: 'Invited as admins. An owner can raise the role.',
  examples: emails.slice(0, 5),
})

const noMail = (count: number): Difference => ({
  kind: 'members',
  count,
  reason: 'An import sends no mail.',
  instead: 'The invitations wait. Send them on the page Members.',
  examples: [],
})
