import type { App } from '../../platform/context/app.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { deleteInvitesExpired } from './invites.queries.ts'

/** An expired invitation can be sent again for this time; then the address of someone who never came is deleted. */
const KEPT_MS = 30 * 86_400_000

export const purgeInvites = (app: App): Promise<void> =>
  deleteInvitesExpired(app.db, new Date(app.clock.now().getTime() - KEPT_MS))

export const purgeInvitesTask = defineTask({
  name: 'purge-invites',
  payload: NoPayload,
  cron: '23 3 * * *',
  run: (app) => purgeInvites(app),
})
