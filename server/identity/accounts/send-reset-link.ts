import { accountFacts } from '../auth/account-facts.ts'
import { lockUser, selectMemberships, userByEmail } from '../auth/auth.queries.ts'
import { maySignInByPassword } from '../auth/password-policy.ts'
import { type Caller, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { newOneTimeToken, oneTimeTokenHash } from '../../platform/kernel/one-time-token.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import { accountActor } from './account-actor.ts'
import { putToken } from './account-tokens.queries.ts'

/** A link in a mail is valid for this time. */
export const LINK_LIFE_MS = 60 * 60_000

/**
 * Mails a link that resets the password; an earlier one stops working. Does nothing for an address without an account, and
 * for an account that is disabled, belongs to no organisation or must use single sign-on.
 */
export async function sendResetLink(app: App, email: string, caller: Caller): Promise<void> {
  await app.tx(async (tx) => {
    const found = await userByEmail(tx, email)
    const user = found === null ? null : await lockUser(tx, found.id)
    if (user === null || user.email !== email || !(await maySignInByPassword(tx, user))) return
    const [membership] = await selectMemberships(tx, user.id)
    if (membership === undefined) return
    const now = app.clock.now()
    const token = newOneTimeToken()
    await putToken(tx, {
      user_id: user.id,
      purpose: 'reset',
      token_hash: oneTimeTokenHash(token),
      email: null,
      created_at: now,
      expires_at: new Date(now.getTime() + LINK_LIFE_MS),
    })
    await recordFacts(
      tx,
      factContext(app, accountActor(membership, caller), now),
      await accountFacts(tx, user.id, { kind: 'password.reset.requested', data: {} }),
    )
    await enqueueMails(tx, app, membership.org_id, [
      {
        type: 'password.reset.requested',
        userId: user.id,
        to: user.email,
        subject: 'Reset your Faultline password',
        name: user.name,
        paragraphs: [
          'Someone asked to reset the password of your account. The link works once, for one hour.',
          ...(user.email_proved_at === null
            ? [
                'It is also the first proof that this address is yours. Passkeys, linked accounts, two-factor authentication and API keys of the account are removed with it, in case another person had signed up with your address.',
              ]
            : []),
        ],
        action: { label: 'Choose a new password', url: `${app.config.publicUrl}/reset?token=${token}` },
        closing: [
          'If this was not you, ignore this mail: your password stays as it is. The request came from the IP address ' +
            `${caller.origin.ip}.`,
        ],
      },
    ])
  })
}
