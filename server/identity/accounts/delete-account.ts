import { deleteKeysOfUser } from '../api-keys/api-keys.queries.ts'
import { keyRevoked } from '../api-keys/delete-key.ts'
import { accountFacts } from '../auth/account-facts.ts'
import { deleteUser, lockUser, ownedOrgs, type OwnershipRow } from '../auth/auth.queries.ts'
import { endSessions } from '../auth/end-sessions.ts'
import { lockOrg } from '../auth/membership-changes.queries.ts'
import { dropCachedSessions } from '../auth/session-cache.ts'
import { actorForLog, type SessionActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, unauthenticated, type AppError } from '../../platform/kernel/errors.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import { eraseUserMessages } from '../../platform/outbox/erase-messages.ts'
import { proveIdentity } from '../auth/require-recent-sign-in.ts'

/**
 * Deletes the caller's account: memberships, sessions, devices, keys. Deliveries about them are erased; the event that
 * says so remains, because receivers need it to delete what they have.
 * @throws AppError conflict (only owner of an organisation), invalid, forbidden, rate_limited, unauthenticated
 */
export async function deleteAccount(
  app: App,
  actor: SessionActor,
  input: { readonly password?: string | undefined },
): Promise<void> {
  const found = await proveIdentity(app, actor, input.password)
  await app.tx(async (tx) => {
    // Before the user, as changes of members do.
    for (const { org_id } of await ownedOrgs(tx, actor.userId)) await lockOrg(tx, org_id)
    const user = await lockUser(tx, actor.userId)
    if (user === null || user.password_hash !== found.password_hash)
      throw unauthenticated('This session has ended. Log in again.')
    const revoked = await endSessions(tx, app, { userId: user.id }, 'user_deleted')
    for (const owned of await ownedOrgs(tx, user.id)) if (owned.other_owners === 0) throw onlyOwner(owned)
    await eraseUserMessages(tx, user.id)
    const keys = await deleteKeysOfUser(tx, user.id)
    await recordFacts(tx, factContext(app, actor), [
      ...revoked,
      ...keys.map(keyRevoked),
      ...(await accountFacts(tx, user.id, { kind: 'user.deleted', data: {} })),
    ])
    await enqueueMails(tx, app, actor.orgId, [
      {
        type: 'user.deleted',
        userId: null,
        to: user.email,
        subject: 'Your Faultline account was deleted',
        name: user.name,
        paragraphs: ['Your account was deleted, with your memberships and sessions, as you asked.'],
        closing: ['If this was not you, ask an owner of your organisation for help immediately.'],
        reason: `You receive this mail because you had an account at ${app.config.publicUrl}.`,
      },
    ])
    await deleteUser(tx, user.id)
  })
  dropCachedSessions(app, { user_id: found.id })
  app.log.info({ ...actorForLog(actor) }, 'user.deleted')
}

const onlyOwner = ({ org_name: org, other_members: others }: OwnershipRow): AppError =>
  conflict(
    others > 0
      ? `You are the only owner of ${org}. Make another member an owner first.`
      : `You are the only member of ${org}. Invite another owner first, or ask the operator to delete the organisation.`,
  )
