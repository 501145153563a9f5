import { accountFacts } from '../auth/account-facts.ts'
import { lockUser, selectMemberships, setUserEmail, userByEmail } from '../auth/auth.queries.ts'
import { announceSessions, dropCachedSessions } from '../auth/session-cache.ts'
import { type Caller, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { oneTimeTokenHash } from '../../platform/kernel/one-time-token.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import { accountActor } from './account-actor.ts'
import { deleteTokens, readToken } from './account-tokens.queries.ts'
import { emailTaken } from './change-email.ts'
import { linkInvalid } from './reset-password.ts'

/**
 * Changes the address of the user to whom the link belongs, and informs both addresses. Sessions stay.
 * @throws AppError invalid (one answer for every link that is not valid), conflict (an account took the address meanwhile)
 */
export async function confirmEmail(app: App, token: string, caller: Caller): Promise<void> {
  const hash = oneTimeTokenHash(token)
  const found = await readToken(app.db, 'email', hash, app.clock.now())
  if (found === null) throw linkInvalid()
  await app.tx(async (tx) => {
    const user = await lockUser(tx, found.user_id)
    const now = app.clock.now()
    const { email = null } = (await readToken(tx, 'email', hash, now)) ?? {}
    const [membership] = await selectMemberships(tx, found.user_id)
    if (email === null || user === null || membership === undefined) throw linkInvalid()
    if ((await userByEmail(tx, email)) !== null) throw emailTaken()
    await setUserEmail(tx, user.id, email, now)
    await deleteTokens(tx, user.id)
    await announceSessions(tx, { user_id: user.id })
    await recordFacts(
      tx,
      factContext(app, accountActor(membership, caller), now),
      await accountFacts(tx, user.id, { kind: 'email.changed', data: {} }),
    )
    const mail = {
      type: 'email.changed',
      userId: user.id,
      name: user.name,
      subject: 'Your e-mail address was changed',
      paragraphs: [
        `The address of your Faultline account was changed from ${user.email} to ${email}. Log in with it from now on.`,
      ],
      closing: ['If this was not you, ask an owner of your organisation for help immediately.'],
    }
    await enqueueMails(tx, app, membership.org_id, [
      { ...mail, to: user.email },
      { ...mail, to: email },
    ])
  })
  dropCachedSessions(app, { user_id: found.user_id })
  app.log.info({ user_id: found.user_id, request_id: caller.requestId }, 'email.changed')
}
