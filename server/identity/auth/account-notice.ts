import type { App } from '../../platform/context/app.ts'
import type { QueuedMail } from '../../platform/mails/enqueue-mails.ts'

/** Whom a mail about an account goes to. */
export type Receiver = { readonly id: string; readonly email: string; readonly name: string }

/** Users learn of every change to how they sign in, in case it was not theirs. */
export const accountNotice = (
  app: App,
  user: Receiver,
  { type, subject, what }: { readonly type: string; readonly subject: string; readonly what: string },
): QueuedMail => ({
  type,
  userId: user.id,
  to: user.email,
  subject,
  name: user.name,
  paragraphs: [what],
  closing: ['If this was not you, change your password and tell an owner of your organisation.'],
  action: { label: 'Check your security settings', url: `${app.config.publicUrl}/me/security` },
})
