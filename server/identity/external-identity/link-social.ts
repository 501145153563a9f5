import { lockUser } from '../auth/auth.queries.ts'
import { requireRecentSignIn, requireActiveSession } from '../auth/require-recent-sign-in.ts'
import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { conflict, invalid } from '../../platform/kernel/errors.ts'
import { oneTimeTokenHash } from '../../platform/kernel/one-time-token.ts'
import { insertIdentity, takeSocialPendingLink } from './external-identities.queries.ts'
import { listSocial } from './unlink-social.ts'
import { recordLinked } from './social-notices.ts'
import { ProviderName, type SocialAccount } from './social.api.ts'

/**
 * Links the account of a sign-in that ended with `not_linked` to the user who has logged in since.
 * @param input.token of the browser that came from the provider
 * @throws AppError invalid (wrong password, nothing to link), rate_limited, conflict
 */
export async function linkSocial(
  app: App,
  actor: SessionActor,
  input: { readonly token: string | null; readonly password: string },
): Promise<SocialAccount> {
  const { token } = input
  if (token === null) throw nothingToLink()
  await requireRecentSignIn(app, actor, input.password)
  const provider = await app.tx(async (tx) => {
    const user = await lockUser(tx, actor.userId)
    await requireActiveSession(tx, actor)
    const now = app.clock.now()
    const pending = await takeSocialPendingLink(tx, oneTimeTokenHash(token), now)
    if (user === null || pending === undefined) throw nothingToLink()
    const { issuer, subject, login } = pending
    const identity = { provider: ProviderName.parse(pending.provider), issuer, subject, login }
    if (!(await insertIdentity(tx, identity, actor.userId, now)))
      throw conflict(
        'This account is linked to another user, or you have linked another account there. Unlink it first.',
      )
    await recordLinked(tx, app, { actor, user }, identity)
    return identity.provider
  })
  const linked = (await listSocial(app, actor)).find((account) => account.provider === provider)
  if (linked === undefined) throw new Error('a linked account is not in the list')
  return linked
}

const nothingToLink = () => invalid('There is nothing to link, or it has expired. Sign in at the provider again.')
