import { z } from 'zod'
import type { MailPurpose } from '../alert-mails/alert-mail.ts'
import { enqueueAlertMails, type SentMail } from '../alert-mails/enqueue-alert-mails.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { AlertMessage } from './alert-message.ts'
import type { AlertParts } from './view-rule.ts'

const Recipients = z.union([
  z.enum(['team', 'assignee']),
  z.array(z.string()),
  z.strictObject({ userId: z.string().nullable() }),
])

export type MailedAlert = SentMail

/** Mails an alert to the recipients of an action. */
export const mailAlert = (
  tx: Tx,
  parts: AlertParts,
  { org_id: orgId }: { readonly org_id: string },
  message: AlertMessage,
  recipients: unknown,
): Promise<MailedAlert[]> =>
  enqueueAlertMails(tx, parts, {
    orgId,
    message,
    recipients: Recipients.parse(recipients),
    purpose: purposeOf(message),
    at: new Date(message.occurred_at),
  })

function purposeOf({ type, data: { escalated, summary } }: AlertMessage): MailPurpose {
  if (type === 'alert.test') return 'test'
  if (summary !== undefined) return 'summary'
  return escalated === true ? 'escalated' : 'fired'
}
