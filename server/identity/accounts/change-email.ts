import { accountKey, LIMITS, takeAttempt } from '../auth/attempts.ts'
import { lockUser, userByEmail } from '../auth/auth.queries.ts'
import { foldEmail } from '../auth/email.ts'
import { maySignInByPassword } from '../auth/password-policy.ts'
import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { conflict, forbidden, invalid, unauthenticated } from '../../platform/kernel/errors.ts'
import { newOneTimeToken, oneTimeTokenHash } from '../../platform/kernel/one-time-token.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import { putToken } from './account-tokens.queries.ts'
import { proveIdentity } from '../auth/require-recent-sign-in.ts'
import { LINK_LIFE_MS } from './send-reset-link.ts'

/**
 * Mails a link to the new address, which confirms it, and informs the present one. An earlier link stops working.
 * @throws AppError invalid, forbidden, conflict (an account has the address), rate_limited, unauthenticated
 */
export async function changeEmail(
  app: App,
  actor: SessionActor,
  input: { readonly email: string; readonly password?: string | undefined },
): Promise<void> {
  const email = foldEmail(input.email)
  const found = await proveIdentity(app, actor, input.password)
  const attempt = await takeAttempt(app, LIMITS.changeEmail, accountKey(found.id), actor.origin.ip)
  if (!attempt.allowed) throw attempt.refusal
  if (email === found.email) throw invalid('email is your present address.')
  await app.tx(async (tx) => {
    const user = await lockUser(tx, actor.userId)
    if (user === null || user.password_hash !== found.password_hash) throw sessionEnded()
    if (!(await maySignInByPassword(tx, user)))
      throw forbidden('Your organisation requires single sign-on. Change your address at its identity provider.')
    if ((await userByEmail(tx, email)) !== null) throw emailTaken()
    const now = app.clock.now()
    const token = newOneTimeToken()
    await putToken(tx, {
      user_id: user.id,
      purpose: 'email',
      token_hash: oneTimeTokenHash(token),
      email,
      created_at: now,
      expires_at: new Date(now.getTime() + LINK_LIFE_MS),
    })
    const mail = { type: 'email.change.requested', userId: user.id, name: user.name }
    await enqueueMails(tx, app, actor.orgId, [
      {
        ...mail,
        to: email,
        subject: 'Confirm your new e-mail address',
        paragraphs: [
          `Confirm that ${email} is the new address of your Faultline account. The link works for one hour.`,
        ],
        action: { label: 'Confirm the address', url: `${app.config.publicUrl}/confirm-email?token=${token}` },
        closing: ['If you did not ask for this, ignore this mail.'],
        reason: `You receive this mail because a user of ${app.config.publicUrl} entered your address.`,
      },
      {
        ...mail,
        to: user.email,
        subject: 'Your e-mail address is about to change',
        paragraphs: [
          `You asked to change the address of your account to ${email}. It changes when the link in the mail to that address is opened.`,
        ],
        closing: ['If this was not you, change your password now: that also cancels the change.'],
        action: { label: 'Check your account', url: `${app.config.publicUrl}/me/security` },
      },
    ])
  })
}

export const emailTaken = () => conflict('Another account has this e-mail address.')
const sessionEnded = () => unauthenticated('This session has ended. Log in again.')
