import { buildAddress, call } from './call.ts'

/** The address of an attachment. */
export const fileUrl = (projectId: string, attachmentId: string): string =>
  buildAddress('/api/projects/:projectId/attachments/:attachmentId', { projectId, attachmentId })

/**
 * Refreshes an expired session, which links and images cannot do.
 * @throws ApiError if the session has ended
 */
export const freshSession = async (): Promise<void> => void (await call('GET /api/me'))
