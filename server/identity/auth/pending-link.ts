import type { App } from '../../platform/context/app.ts'
import { newOneTimeToken, oneTimeTokenHash } from '../../platform/kernel/one-time-token.ts'

/** How long a browser may confirm, with the password, that an identity of a provider belongs to an account. */
const PENDING_LINK_LIFE_MS = 10 * 60_000

/** The token of a browser whose user must confirm an identity, and what its row holds of it. */
export function newPendingLink(app: App): {
  readonly token: string
  readonly row: { readonly token_hash: Buffer; readonly expires_at: Date }
} {
  const token = newOneTimeToken()
  const expiresAt = new Date(app.clock.now().getTime() + PENDING_LINK_LIFE_MS)
  return { token, row: { token_hash: oneTimeTokenHash(token), expires_at: expiresAt } }
}
