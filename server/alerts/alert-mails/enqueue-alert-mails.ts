import { foldEmail } from '../../identity/auth/email.ts'
import type { App } from '../../platform/context/app.ts'
import { boundOutsideMails, enqueueMails, mailLaneId, type QueuedMail } from '../../platform/mails/enqueue-mails.ts'
import { countRecent } from '../../platform/outbox/enqueue.ts'
import { DEFAULTS, heldUntil, computeHoldMs, type Preferences } from '../notifications/preferences.ts'
import { selectSilent } from '../notifications/projects.queries.ts'
import { readMemberPreferences } from '../notifications/read-preferences.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { selectMembersByEmail, nameMembers, readMember } from '../../identity/team/members.queries.ts'
import { alertMail, type MailedAlert, type MailPurpose } from './alert-mail.ts'
import { selectMuted } from './alert-mails.queries.ts'
import { hashMailAddress, makeUnsubscribeToken, type Receiver } from './unsubscribe-token.ts'

/** `team`: every member; `assignee`: the assignee of the issue; addresses, of members and others; or one member. */
export type MailRecipients = 'team' | 'assignee' | readonly string[] | { readonly userId: string | null }

type AlertMailing = {
  readonly orgId: string
  readonly message: MailedAlert
  readonly recipients: MailRecipients
  readonly purpose: MailPurpose
  readonly at: Date
}

/** The outcome of the mail to one recipient. */
export type SentMail = {
  /** The address, masked; or whom no address was found for. */
  readonly target: string
  /** Null when nothing is sent. */
  readonly deliveryId: string | null
  /** Why nothing is sent. */
  readonly skipped: string | null
}

/** Parts of the app that this needs: subscribers of facts have no more. */
type MailParts = Pick<App, 'sealer' | 'auditKey'> & { readonly config: Pick<App['config'], 'publicUrl'> }

/** Members beyond get no mail about an alert. */
const MAX_TEAM = 200
/** Mails about alerts of one organisation: a broken rule must not make a spammer of the installation's mail server. */
export const MAX_PER_HOUR = 1_000

/**
 * Mails an alert when the transaction commits: to all who have not unsubscribed, within the bound of the organisation. The
 * quiet hours of a member hold the mail, except of a critical alert.
 */
export async function enqueueAlertMails(tx: Tx, parts: MailParts, mailing: AlertMailing): Promise<SentMail[]> {
  const { orgId, message, purpose, at } = mailing
  const recipients = await recipientsOf(tx, parts, mailing)
  if (recipients.length === 0) return [noRecipient(mailing.recipients)]
  const { skipped, holdMs } = await wishesOf(tx, mailing, recipients)
  const free = MAX_PER_HOUR - (await countRecent(tx, mailLaneId(orgId), TYPES, MAX_PER_HOUR))
  const wanting = recipients.filter((recipient) => skipped.get(recipient) === null).slice(0, Math.max(free, 0))
  const outside = wanting.flatMap(({ userId, email }) => (userId === null ? [email] : []))
  const held = await boundOutsideMails(tx, parts, orgId, outside, at)
  const taken = wanting.filter(({ email }) => !held.has(email))
  const content = alertMail(message, purpose)
  const ids = await enqueueMails(
    tx,
    parts,
    orgId,
    taken.map((recipient): QueuedMail => {
      const token = makeUnsubscribeToken(parts, { orgId, ruleId: message.data.rule.id, receiver: recipient.receiver })
      return {
        ...content,
        to: recipient.email,
        name: recipient.name,
        userId: recipient.userId,
        type: message.type,
        unsubscribe: unsubscribeLinks(parts.config.publicUrl, token),
        holdMs: holdMs(recipient),
      }
    }),
  )
  const idOf = new Map(taken.map((recipient, index) => [recipient, ids[index] ?? null]))
  return recipients.map((recipient) => ({
    target: masked(recipient.email),
    deliveryId: idOf.get(recipient) ?? null,
    skipped: idOf.has(recipient) ? null : (skipped.get(recipient) ?? held.get(recipient.email) ?? TOO_MANY),
  }))
}

/** Types of the messages that are mails of alerts. */
const TYPES = ['alert.fired', 'alert.test']

const TOO_MANY = `The organisation has sent ${MAX_PER_HOUR.toLocaleString('en')} mails about alerts within an hour.`
const UNSUBSCRIBED = 'Unsubscribed from the mails of this rule.'
const MUTED_PROJECT = 'The member turned off mails about this project.'
const TURNED_OFF = 'The member turned off mails about alerts.'

function noRecipient(recipients: MailRecipients): SentMail {
  if (typeof recipients === 'object' && 'userId' in recipients)
    return { target: 'you', deliveryId: null, skipped: 'Tests of mails go to the member who sends them.' }
  return recipients === 'assignee'
    ? { target: 'assignee', deliveryId: null, skipped: 'The issue has no assignee who is a member.' }
    : { target: 'team', deliveryId: null, skipped: 'The organisation has no active member.' }
}

type Recipient = {
  readonly email: string
  readonly name: string | null
  readonly userId: string | null
  readonly receiver: Receiver
}

type MemberRow = { readonly id: string; readonly name: string; readonly email: string }

const asRecipient = ({ id, name, email }: MemberRow): Recipient => ({
  email,
  name,
  userId: id,
  receiver: { userId: id },
})

async function recipientsOf(
  tx: Tx,
  parts: MailParts,
  { orgId, message, recipients }: AlertMailing,
): Promise<Recipient[]> {
  if (recipients === 'team') return (await nameMembers(tx, orgId, MAX_TEAM)).map(asRecipient)
  if (recipients === 'assignee') {
    const assignee = message.data.issue?.assignee
    const member = assignee == null ? undefined : await readMember(tx, orgId, assignee.id)
    return member === undefined ? [] : [asRecipient(member)]
  }
  if ('userId' in recipients) {
    const member = recipients.userId === null ? undefined : await readMember(tx, orgId, recipients.userId)
    return member === undefined ? [] : [asRecipient(member)]
  }
  const emails = [...new Set(recipients.map(foldEmail))]
  const members = new Map((await selectMembersByEmail(tx, orgId, emails)).map((row) => [row.email, row]))
  return emails.map((email) => {
    const member = members.get(email)
    if (member !== undefined) return asRecipient(member)
    return { email, name: null, userId: null, receiver: { addressHash: hashMailAddress(parts, orgId, email) } }
  })
}

/** Why recipients get no mail, and how long the quiet hours of the others hold it. */
async function wishesOf(tx: Tx, { orgId, message, purpose, at }: AlertMailing, recipients: readonly Recipient[]) {
  const userIds = recipients.flatMap(({ userId }) => userId ?? [])
  const preferences = await readMemberPreferences(tx, orgId, userIds)
  const muted = await selectMuted(
    tx,
    { orgId, ruleId: message.data.rule.id },
    {
      userIds,
      addressHashes: recipients.flatMap(({ receiver }) => ('addressHash' in receiver ? [receiver.addressHash] : [])),
    },
  )
  const silent = await selectSilent(tx, 'email', { orgId, projectId: message.data.project.id }, userIds)
  const ofMember = ({ userId }: Recipient): Preferences => preferences.get(userId ?? '') ?? DEFAULTS
  const isMuted = ({ receiver }: Recipient): boolean =>
    'userId' in receiver
      ? muted.userIds.has(receiver.userId)
      : muted.addresses.has(receiver.addressHash.toString('hex'))
  const refusal = (recipient: Recipient): string | null =>
    isMuted(recipient)
      ? UNSUBSCRIBED
      : !ofMember(recipient).email
        ? TURNED_OFF
        : silent.has(recipient.userId ?? '')
          ? MUTED_PROJECT
          : null
  return {
    skipped: new Map(recipients.map((recipient) => [recipient, refusal(recipient)])),
    // Who sends a test waits for it.
    holdMs: (recipient: Recipient): number =>
      purpose === 'test' ? 0 : computeHoldMs(heldUntil(ofMember(recipient), message.data.alert.severity, at), at),
  }
}

/** `ada@example.com` as `a…@example.com`. */
const masked = (email: string): string => email.replace(/^(.).*(?=@)/su, '$1…')

/** The token is in the fragment of the page, which browsers do not send, and in the query of what programs call. */
export const unsubscribeLinks = (publicUrl: string, token: string) => ({
  page: `${publicUrl}/unsubscribe#token=${token}`,
  oneClick: `${publicUrl}/api/notifications/unsubscribe/one-click?token=${token}`,
})
