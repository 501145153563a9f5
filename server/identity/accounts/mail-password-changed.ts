import type { UserRow } from '../auth/auth.queries.ts'
import type { Caller } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import type { Tx } from '../../platform/storage/database.ts'

type NewPassword = {
  readonly user: UserRow
  readonly orgId: string
  readonly caller: Caller
  /** Other ways to open the account, which were removed. */
  readonly removed?: readonly string[]
}

/** Informs the user of a new password. @returns the id of the delivery */
export const mailPasswordChanged = (
  tx: Tx,
  app: App,
  { user, orgId, caller, removed = [] }: NewPassword,
): Promise<string[]> =>
  enqueueMails(tx, app, orgId, [
    {
      type: 'password.changed',
      userId: user.id,
      to: user.email,
      subject: 'Your Faultline password was changed',
      name: user.name,
      paragraphs: [
        `The password of your account was changed from the IP address ${caller.origin.ip}. All other sessions were ended.`,
        ...(removed.length === 0
          ? []
          : [
              `The link was the first proof that ${user.email} is your address. In case another person had signed up with it, this was removed as well: ${removed.join(', ')}. Add again what you need.`,
            ]),
      ],
      closing: ['If this was not you, reset your password now, and tell an owner of your organisation.'],
      action: { label: 'Reset your password', url: `${app.config.publicUrl}/forgot` },
    },
  ])
