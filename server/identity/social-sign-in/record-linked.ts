import { accountFacts } from '../auth/account-facts.ts'
import type { Receiver } from '../auth/account-notice.ts'
import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { factContext } from '../../platform/context/fact-context.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { linkedMail } from './social-mails.ts'
import type { SocialIdentity } from './social.queries.ts'

/** Records that the actor linked an account at a provider, and informs the user. */
export async function recordLinked(
  tx: Tx,
  app: App,
  { actor, user }: { readonly actor: SessionActor; readonly user: Receiver },
  identity: SocialIdentity,
): Promise<void> {
  const data = { provider: identity.provider, issuer: identity.issuer }
  await recordFacts(tx, factContext(app, actor), await accountFacts(tx, user.id, { kind: 'identity.linked', data }))
  await enqueueMails(tx, app, actor.orgId, [linkedMail(app, user, identity)])
}
