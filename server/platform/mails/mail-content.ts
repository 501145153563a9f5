import { z } from 'zod'

/** The content of a mail; `mail-channel.ts` makes HTML and text of it. */
export const MailContent = z.object({
  subject: z.string(),
  /** Name of the receiver; null when it is not known. */
  name: z.string().nullable(),
  paragraphs: z.array(z.string()).readonly(),
  /** The one thing to do; below the paragraphs. */
  action: z.object({ label: z.string(), url: z.string() }).optional(),
  /** Further links, below the action. */
  links: z
    .array(z.object({ label: z.string(), url: z.string() }))
    .readonly()
    .optional(),
  /** Such as the time and place of what happened. */
  details: z
    .array(z.tuple([z.string(), z.string()]).readonly())
    .readonly()
    .optional(),
  /** Below the action, such as what to do if it was not the receiver. */
  closing: z.array(z.string()).readonly().optional(),
  /** Why the receiver has it, instead of their account. */
  reason: z.string().optional(),
  /** For mails that the receiver can end: the page that the footer links, and the address for a program's one POST. */
  unsubscribe: z.object({ page: z.string(), oneClick: z.string() }).optional(),
})
export type MailContent = z.infer<typeof MailContent>
