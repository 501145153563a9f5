import { addressOf, call } from './call.ts'

/** Where a file that came with an event is downloaded. */
export const fileUrl = (projectId: string, attachmentId: string): string =>
  addressOf('/api/projects/:projectId/attachments/:attachmentId', { projectId, attachmentId })

/**
 * Links and images carry the session's cookie as it is and cannot refresh it; any call can.
 * @throws ApiError when there is no session any more
 */
export const freshSession = async (): Promise<void> => void (await call('GET /api/me'))
