import { z } from 'zod'
import { enqueueMails, type QueuedMail } from '../mails/enqueue-mails.ts'
import type { Tx } from '../storage/database.ts'
import { nameMembers } from '../team/members.queries.ts'
import type { AlertMessage } from './alert-message.ts'
import type { AlertForMessage } from './fired.queries.ts'
import type { AlertParts } from './parts.ts'

/** More members of an organisation do not get a mail about one alert. */
const MAX_TEAM = 200

const Recipients = z.union([z.enum(['team', 'assignee']), z.array(z.string())])

export type MailedAlert = {
  readonly target: string
  readonly deliveryId: string | null
  readonly skipped: string | null
}

/** Mails an alert to the recipients of an action. */
export async function mailAlert(
  tx: Tx,
  parts: AlertParts,
  { org_id: orgId }: Pick<AlertForMessage, 'org_id'>,
  message: AlertMessage,
  recipients: unknown,
): Promise<MailedAlert[]> {
  const to = await addressesOf(tx, orgId, message, Recipients.parse(recipients))
  if (to.length === 0) return [{ target: 'assignee', deliveryId: null, skipped: 'The issue has no assignee.' }]
  const ids = await enqueueMails(
    tx,
    parts,
    orgId,
    to.map((one) => mailOf(message, one)),
  )
  return to.map(({ email }, index) => ({ target: email, deliveryId: ids[index] ?? null, skipped: null }))
}

type Address = { readonly email: string; readonly name: string | null; readonly userId: string | null }

async function addressesOf(
  tx: Tx,
  orgId: string,
  { data: { issue } }: AlertMessage,
  recipients: z.output<typeof Recipients>,
): Promise<Address[]> {
  if (Array.isArray(recipients)) return recipients.map((email) => ({ email, name: null, userId: null }))
  const members = await nameMembers(tx, orgId, MAX_TEAM)
  const assignee = issue?.assignee?.id
  return members
    .filter(({ id }) => recipients === 'team' || id === assignee)
    .map(({ id, name, email }) => ({ email, name, userId: id }))
}

function mailOf({ type, data: { alert, project, issue, summary } }: AlertMessage, to: Address): QueuedMail {
  const more = summary === undefined ? '' : ` and ${summary.count - 1} more`
  return {
    to: to.email,
    name: to.name,
    userId: to.userId,
    type,
    subject: `[${project.name}] ${alert.title}${more}`,
    paragraphs: [alert.explanation],
    details: issue === null ? [] : [['Issue', `${issue.short_id} ${issue.title}`]],
    action: { label: 'Open the alert', url: alert.url },
  }
}
