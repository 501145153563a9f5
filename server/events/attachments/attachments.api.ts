import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Timestamp } from '../../platform/kernel/page.api.ts'

export const Attachment = z.object({
  id: Id,
  event_id: z.string().describe('32 lower-case hex digits.'),
  filename: z.string().describe('Sanitised, never a path.'),
  content_type: z.string().describe('As claimed by the client.'),
  attachment_type: z
    .string()
    .describe('event.attachment, event.minidump, event.applecrashreport, event.view_hierarchy, …'),
  size_bytes: z.number().int(),
  is_image: z.boolean().describe('Whether the client claims an image type that browsers can show.'),
  received_at: Timestamp,
})
export type Attachment = z.infer<typeof Attachment>

/** Why a file of an event was refused. */
export const REFUSALS = ['too_large', 'too_many', 'rate_limited', 'upload'] as const
export type Refusal = (typeof REFUSALS)[number]

export const RefusedAttachment = z.object({
  id: Id,
  filename: z.string().describe('Sanitised, never a path.'),
  size_bytes: z.number().int(),
  refused: z
    .enum(REFUSALS)
    .describe(
      'too_large: above the limit of one file. too_many: above the number of an envelope. rate_limited: above the limit of the key, or the quota. upload: announced for a resumable upload.',
    ),
  message: z.string().describe('Which file, and why, as a sentence.'),
  received_at: Timestamp,
})
export type RefusedAttachment = z.infer<typeof RefusedAttachment>

export const attachmentRoutes = routes({
  downloadAttachment: {
    method: 'GET',
    path: '/api/projects/:projectId/attachments/:attachmentId',
    tag: 'Issues',
    summary: 'Download a file of an event',
    description:
      'Always a download (`Content-Disposition: attachment`). PNG, JPEG, GIF and WebP, recognised by content, have their type; everything else is application/octet-stream.',
    permission: 'issues.read',
    params: z.object({ projectId: Id, attachmentId: Id }),
    stream: 'file',
    refusals: [404],
  },
})
