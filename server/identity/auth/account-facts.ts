import type { AccountFactKind, Fact, FactOf } from '../../history/facts/kinds.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { selectMemberships } from './auth.queries.ts'
import type { App } from '../../platform/context/app.ts'
import type { QueuedMail } from '../../platform/mails/enqueue-mails.ts'

type AccountFact = { readonly [K in AccountFactKind]: Pick<FactOf<K>, 'kind' | 'data'> }[AccountFactKind]

/**
 * A change of an account, as one fact per organisation in which its user is an active member: the audit log and the
 * webhooks of each have it, whatever organisation the session belongs to.
 */
export async function accountFacts(tx: Tx, userId: string, fact: AccountFact): Promise<Fact[]> {
  const memberships = await selectMemberships(tx, userId)
  return memberships.map((row): Fact => ({ ...fact, orgId: row.org_id, userId }))
}

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
