import { lockUser, waysToSignIn } from '../auth/auth.queries.ts'
import { requireRecentSignIn } from '../auth/require-recent-sign-in.ts'
import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { conflict, notFound } from '../../platform/kernel/errors.ts'
import { deleteSocialIdentity, selectSocialIdentities } from './external-identities.queries.ts'
import { type ProviderName, PROVIDERS, type SocialAccount } from './social.api.ts'
import { recordUnlinked } from './social-notices.ts'

/** @throws AppError not_found (not linked), conflict (the last way to sign in), and those of {@link requireRecentSignIn} */
export async function unlinkSocial(
  app: App,
  actor: SessionActor,
  { provider, password }: { readonly provider: ProviderName; readonly password?: string | undefined },
): Promise<void> {
  const isLinked = (await selectSocialIdentities(app.db, actor.userId)).some((row) => row.provider === provider)
  // Before the password is checked, which counts an attempt.
  if (!isLinked) throw notFound('Provider')
  await requireRecentSignIn(app, actor, password)
  await app.tx(async (tx) => {
    const user = await lockUser(tx, actor.userId)
    const identity = (await selectSocialIdentities(tx, actor.userId)).find((row) => row.provider === provider)
    if (user === null || identity === undefined) throw notFound('Provider')
    if ((await waysToSignIn(tx, actor.userId)) <= 1)
      throw conflict('This is your only way to sign in. Set a password first.')
    await deleteSocialIdentity(tx, actor.userId, provider)
    await recordUnlinked(tx, app, { actor, user }, identity)
  })
}

/** Every provider that is switched on, or at which the user has a linked account. */
export async function listSocial(app: App, actor: SessionActor): Promise<SocialAccount[]> {
  const linked = await selectSocialIdentities(app.db, actor.userId)
  return PROVIDERS.map((provider) => {
    const row = linked.find((identity) => identity.provider === provider)
    const available = app.config.oauth[provider] !== null
    return { provider, available, linked_at: row?.linked_at.toISOString() ?? null, login: row?.login ?? null }
  }).filter(({ available, linked_at }) => available || linked_at !== null)
}
