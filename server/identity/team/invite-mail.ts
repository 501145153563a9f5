import type { App } from '../../platform/context/app.ts'
import type { QueuedMail } from '../../platform/mails/enqueue-mails.ts'

type InviteMail = {
  readonly to: string
  readonly org: string
  /** Name of the inviting member. */
  readonly inviter: string
  readonly role: string
  readonly token: string
  readonly expiresAt: Date
}

/** The page of the dashboard that accepts an invitation. */
const inviteLink = (app: App, token: string): string => `${app.config.publicUrl}/invite?token=${token}`

export const inviteMail = (app: App, { to, org, inviter, role, token, expiresAt }: InviteMail): QueuedMail => ({
  type: 'invite.created',
  userId: null,
  to,
  subject: `${inviter} invited you to ${org} on Faultline`,
  name: null,
  paragraphs: [`${inviter} invited you to join ${org} on Faultline with the role ${role}.`],
  action: { label: 'Accept the invitation', url: inviteLink(app, token) },
  closing: [`The link is valid once, until ${expiresAt.toUTCString()}.`],
  reason: `You receive this mail because ${inviter} entered your address. If you do not know them, ignore it.`,
})
