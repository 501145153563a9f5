import { countDenial } from '../../history/audit/denials.ts'
import type { Caller } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import { LIMITS } from './attempts.ts'
import { selectMemberships, type UserRow } from './auth.queries.ts'

/**
 * Warns the user of an account that exceeded its limit, at most once per hour. It works in the background: the response
 * time must not reveal whether the account exists.
 */
export function warnOfFailedLogIns(
  app: App,
  { user, accountId }: { readonly user: UserRow | null; readonly accountId: string | null },
  caller: Caller,
): void {
  app.log.warn(
    { user_id: user?.id ?? null },
    'signin.locked: too many wrong passwords for one account; until the hour ends, it accepts log-ins from known devices only',
  )
  if (accountId !== null) countDenial(app, 'signin.locked', { userId: accountId, caller })
  if (user === null) return
  warn(app, user).catch((error: unknown) =>
    app.log.warn(
      { err: error },
      'the mail that warns of failed log-ins could not be queued; the user does not know of them',
    ),
  )
}

const warn = (app: App, user: UserRow): Promise<void> =>
  app.tx(async (tx) => {
    const [membership] = await selectMemberships(tx, user.id)
    if (membership === undefined) return
    await enqueueMails(tx, app, membership.org_id, [
      {
        type: 'signin.locked',
        userId: user.id,
        to: user.email,
        subject: 'Many failed log-ins to your Faultline account',
        name: user.name,
        paragraphs: [
          `Within an hour there were more than ${LIMITS.loginAccount.quota} attempts to log in to your account with a wrong password.`,
          'Until the hour is over you can log in only on devices that you logged in with before. Your account is not locked, and nothing was changed.',
        ],
        action: { label: 'Log in', url: `${app.config.publicUrl}/login` },
        closing: [
          'If this was not you, make sure that your password is long and that you use it only here, and turn on two-factor authentication.',
        ],
      },
    ])
  })
