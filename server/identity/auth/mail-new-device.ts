import type { Caller } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { readUser, type MembershipRow } from './auth.queries.ts'

/** Warns a user of a log-in from a device that they were not known to use. */
export async function mailNewDevice(
  tx: Tx,
  app: App,
  { user_id: userId, org_id: orgId }: MembershipRow,
  { label, caller }: { readonly label: string; readonly caller: Caller },
): Promise<void> {
  const user = await readUser(tx, userId)
  if (user === null) return
  await enqueueMails(tx, app, orgId, [
    {
      type: 'device.new',
      userId,
      to: user.email,
      subject: 'New log-in to your Faultline account',
      name: user.name,
      paragraphs: ['Your account was used on a device that we have not seen before.'],
      details: [
        ['Device', label],
        ['Time', timeText(app.clock.now())],
        ['IP address', caller.origin.ip],
      ],
      closing: [
        'If this was you, there is nothing to do.',
        'If it was not, change your password now and end the other sessions in your security settings.',
      ],
      action: { label: 'Check your sessions', url: `${app.config.publicUrl}/me/sessions` },
    },
  ])
}

/** Such as `20 November 2026, 12:00 UTC`. */
const timeText = (at: Date): string =>
  `${at.toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).replace(' at ', ', ')} UTC`
