import type { z } from 'zod'
import { actorForLog, requireActingMember, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, notFound } from '../../platform/kernel/errors.ts'
import { newOneTimeToken, oneTimeTokenHash } from '../../platform/kernel/one-time-token.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import { lockTeam, requireGrantable } from './change-team.ts'
import { inviteEnd, takeEmailAttempt, takeInviteAttempt } from './invite-members.ts'
import { inviteMail } from './invite-mail.ts'
import type { Invite } from './invites.api.ts'
import { deleteInvite, membersWithEmails, readInviteRow, renewInvite } from './invites.queries.ts'
import { viewInvite } from './list-invites.ts'

/**
 * Sends an invitation again, with a new link and a new life; also an expired one.
 * @throws AppError not_found, forbidden (its role is above one's own), conflict (a member by now), rate_limited
 */
export async function resendInvite(app: App, actor: OrgActor, inviteId: string): Promise<z.infer<typeof Invite>> {
  const now = app.clock.now()
  const expiresAt = inviteEnd(now)
  const row = await app.tx(async (tx) => {
    const team = await lockTeam(tx, actor)
    const row = await readInviteRow(tx, team.orgId, inviteId)
    if (row === undefined) throw notFound('Invite')
    requireGrantable(team, row.role)
    if ((await membersWithEmails(tx, team.orgId, [row.email])).size > 0)
      throw conflict('This person is a member of the organisation already. Revoke the invitation.')
    const refusal = (await takeEmailAttempt(tx, app, actor, row.email)) ?? (await takeInviteAttempt(tx, app, actor))
    if (refusal !== null) throw refusal
    const token = newOneTimeToken()
    await renewInvite(tx, inviteId, { token_hash: oneTimeTokenHash(token), sent_at: now, expires_at: expiresAt })
    const { name: inviter } = requireActingMember(actor)
    const mail = inviteMail(app, { to: row.email, org: team.org.name, inviter, role: row.role, token, expiresAt })
    await enqueueMails(tx, app, team.orgId, [mail])
    await recordFacts(tx, factContext(app, actor, now), [
      { kind: 'invite.resent', orgId: team.orgId, targetId: row.id, label: row.email, data: { role: row.role } },
    ])
    return row
  })
  app.log.info({ ...actorForLog(actor), invite_id: inviteId }, 'invite.resent')
  return viewInvite({ ...row, sent_at: now, expires_at: expiresAt })
}

/**
 * Revokes an invitation: its link is no longer valid.
 * @throws AppError not_found, forbidden (its role is above one's own)
 */
export async function revokeInvite(app: App, actor: OrgActor, inviteId: string): Promise<void> {
  await app.tx(async (tx) => {
    const team = await lockTeam(tx, actor)
    const row = await readInviteRow(tx, team.orgId, inviteId)
    if (row === undefined) throw notFound('Invite')
    requireGrantable(team, row.role)
    await deleteInvite(tx, inviteId)
    await recordFacts(tx, factContext(app, actor), [
      { kind: 'invite.revoked', orgId: team.orgId, targetId: row.id, label: row.email, data: { role: row.role } },
    ])
  })
  app.log.info({ ...actorForLog(actor), invite_id: inviteId }, 'invite.revoked')
}
