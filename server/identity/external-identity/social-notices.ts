import { accountFacts, accountNotice, type Receiver } from '../auth/account-facts.ts'
import { type SessionActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { SocialIdentity } from './external-identities.queries.ts'
import type { ProviderName } from './social.api.ts'

export const PROVIDER_NAMES: Readonly<Record<ProviderName, string>> = { github: 'GitHub', google: 'Google' }

const record =
  (type: 'identity.linked' | 'identity.unlinked', change: string, effect: string) =>
  async (
    tx: Tx,
    app: App,
    { actor, user }: { readonly actor: SessionActor; readonly user: Receiver },
    { provider, issuer, login }: Omit<SocialIdentity, 'subject'>,
  ): Promise<void> => {
    const facts = await accountFacts(tx, user.id, { kind: type, data: { provider, issuer } })
    await recordFacts(tx, factContext(app, actor), facts)
    const name = PROVIDER_NAMES[provider]
    const subject = `${name} was ${change} your account`
    await enqueueMails(tx, app, actor.orgId, [
      accountNotice(app, user, { type, subject, what: `The ${name} account "${login}" was ${effect}` }),
    ])
  }

/** Records that the actor linked an account at a provider, and informs the user. */
export const recordLinked = record('identity.linked', 'linked to', 'linked. It logs in without your password.')

/** Records that the actor unlinked an account at a provider, and informs the user. */
export const recordUnlinked = record('identity.unlinked', 'unlinked from', 'unlinked and can no longer log in.')
