import type { App } from '../../platform/context/app.ts'
import { newOneTimeToken, oneTimeTokenHash } from '../../platform/kernel/one-time-token.ts'
import type { ChatUser } from './chat-payload.ts'
import { putOffer } from './chat.queries.ts'

const OFFER_LIFE_MS = 10 * 60_000

/**
 * Makes a link with which a member confirms that a user of the chat is them; the newest one is valid, once.
 * @returns its address, for a message that only this user sees
 */
export async function offerLink(app: App, user: ChatUser): Promise<string> {
  const token = newOneTimeToken()
  await putOffer(app.db, {
    token_hash: oneTimeTokenHash(token),
    team_id: user.teamId,
    chat_user_id: user.userId,
    team_name: user.teamName,
    chat_user_name: user.userName,
    expires_at: new Date(app.clock.now().getTime() + OFFER_LIFE_MS),
  })
  return `${app.config.publicUrl}/chat/link#token=${token}`
}
