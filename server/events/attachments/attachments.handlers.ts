import type { Handlers } from '../../platform/context/handlers.ts'
import type { attachmentRoutes } from './attachments.api.ts'
import { openAttachment } from './open-attachment.ts'

export const attachmentHandlers: Handlers<typeof attachmentRoutes> = {
  downloadAttachment: async (app, actor, call) => call.sendFile(await openAttachment(app, actor, call.params)),
}
