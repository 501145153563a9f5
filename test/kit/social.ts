import type { App } from '#server/context/app.ts'
import { newId } from '#server/kernel/ids.ts'
import { newOneTimeToken, oneTimeTokenHash } from '#server/kernel/one-time-token.ts'
import { insertPendingLink, type SocialIdentity } from '#server/social-sign-in/social.queries.ts'

/** An account at GitHub. */
export const aSocialIdentity = (): SocialIdentity => ({
  provider: 'github',
  issuer: 'https://github.com',
  subject: newId(),
  login: 'octocat',
})

/** The token of a browser that came back with an account that no user has linked. */
export async function pendingSocialLink(app: App, identity = aSocialIdentity()): Promise<string> {
  const token = newOneTimeToken()
  const now = app.clock.now()
  const link = { ...identity, token_hash: oneTimeTokenHash(token), expires_at: new Date(now.getTime() + 60_000) }
  await insertPendingLink(app.db, link, now)
  return token
}
