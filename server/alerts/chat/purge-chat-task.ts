import { purgeTask } from '../../platform/jobs/purge.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { REPLAY_WINDOW_MS } from './chat-signature.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'

/** Deletes requests whose signature is too old to be accepted, also by a clock that is behind, and expired links. */
export const purgeChatTask = purgeTask('purge-chat', '*/10 * * * *', [
  { rows: ownRows('chat_requests'), column: 'seen_at', kept: { ms: REPLAY_WINDOW_MS + MINUTE_MS } },
  { rows: ownRows('chat_link_offers'), column: 'expires_at', kept: { ms: 0 } },
])
