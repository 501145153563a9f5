import { newPendingLink } from '#server/identity/external-identity/visits.ts'
import type { App } from '#server/platform/context/app.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import {
  insertPendingLink,
  type SocialIdentity,
} from '#server/identity/external-identity/external-identities.queries.ts'

/** An account at GitHub. */
export const aSocialIdentity = (): SocialIdentity => ({
  provider: 'github',
  issuer: 'https://github.com',
  subject: newId(),
  login: 'octocat',
})

/** The token of a browser that came back with an account that no user has linked. */
export async function pendingSocialLink(app: App, identity = aSocialIdentity()): Promise<string> {
  const { token, row } = newPendingLink(app)
  await insertPendingLink(app.db, { ...identity, ...row }, app.clock.now())
  return token
}
