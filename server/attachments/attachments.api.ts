import { z } from 'zod'
import { routes } from '../kernel/contract.ts'
import { Id, Timestamp } from '../kernel/page.api.ts'

export const Attachment = z.object({
  id: Id,
  event_id: z.string().describe('32 lower-case hex digits.'),
  filename: z.string().describe('Cleaned; never a path.'),
  content_type: z.string().describe('As the client claims.'),
  attachment_type: z
    .string()
    .describe('event.attachment, event.minidump, event.applecrashreport, event.view_hierarchy, …'),
  size_bytes: z.number().int(),
  is_image: z.boolean().describe('Claims to be an image a browser may preview.'),
  received_at: Timestamp,
})
export type Attachment = z.infer<typeof Attachment>

export const attachmentRoutes = routes({
  downloadAttachment: {
    method: 'GET',
    path: '/api/projects/:projectId/attachments/:attachmentId',
    tag: 'Issues',
    summary: 'Download a file that came with an event',
    description:
      'Always answered for saving (`Content-Disposition: attachment`). PNG, JPEG, GIF and WebP, judged by their content, have their type; everything else is application/octet-stream.',
    permission: 'issues.read',
    params: z.object({ projectId: Id, attachmentId: Id }),
    stream: 'file',
    refusals: [404],
  },
})
