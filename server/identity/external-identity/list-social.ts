import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { selectSocialIdentities } from './external-identities.queries.ts'
import { PROVIDERS, type SocialAccount } from './social.api.ts'

/** Every provider that is switched on, or at which the user has a linked account. */
export async function listSocial(app: App, actor: SessionActor): Promise<SocialAccount[]> {
  const linked = await selectSocialIdentities(app.db, actor.userId)
  return PROVIDERS.map((provider) => {
    const row = linked.find((identity) => identity.provider === provider)
    const available = app.config.oauth[provider] !== null
    return { provider, available, linked_at: row?.linked_at.toISOString() ?? null, login: row?.login ?? null }
  }).filter(({ available, linked_at }) => available || linked_at !== null)
}
