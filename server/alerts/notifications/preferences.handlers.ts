import type { Handlers } from '../../platform/context/handlers.ts'
import type { preferencesRoutes } from './preferences.api.ts'
import { readPreferences } from './read-preferences.ts'
import { updateProjectChannels } from './update-project-channels.ts'
import { updatePreferences } from './update-preferences.ts'

export const preferencesHandlers: Handlers<typeof preferencesRoutes> = {
  readNotificationPreferences: (app, actor) => readPreferences(app, actor),
  updateNotificationPreferences: (app, actor, { body }) => updatePreferences(app, actor, body),
  updateProjectNotifications: (app, actor, { params, body }) =>
    updateProjectChannels(app, actor, params.projectId, body),
}
