import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { REPLAY_WINDOW_MS } from './chat-signature.ts'
import { deleteOffersBefore, deleteRequestsBefore } from './chat.queries.ts'

/** Every ten minutes, forgets requests whose signature is too old to be accepted, and links that have expired. */
export const purgeChatTask = defineTask({
  name: 'purge-chat',
  payload: NoPayload,
  cron: '*/10 * * * *',
  async run(app) {
    const now = app.clock.now()
    await deleteRequestsBefore(app.db, new Date(now.getTime() - REPLAY_WINDOW_MS - CLOCKS_DIFFER_MS))
    await deleteOffersBefore(app.db, now)
  },
})

/** Another process, whose clock is behind, may still accept a signature. */
const CLOCKS_DIFFER_MS = 60_000
