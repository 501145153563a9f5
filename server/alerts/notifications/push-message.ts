import { z } from 'zod'

/** A push as its message in the outbox holds it. Providers take 4,096 bytes in all. */
export const PushBody = z.object({
  device_id: z.uuid(),
  /** Whose device it was then: it may have changed hands. */
  user_id: z.uuid(),
  title: z.string(),
  body: z.string(),
  /** For the app: what to open. */
  data: z.record(z.string(), z.string()),
})
export type PushBody = z.infer<typeof PushBody>

export type PushContent = Pick<PushBody, 'title' | 'body' | 'data'>

const MAX_TITLE_BYTES = 200
const MAX_BODY_BYTES = 1_000
const MAX_DATA_BYTES = 2_000

/** The content within the limits of the providers: texts are cut, data that does not fit is left out. */
export function fittingContent({ title, body, data }: PushContent): PushContent {
  const fitting: Record<string, string> = {}
  for (const [key, value] of Object.entries(data))
    if (sizeOf({ ...fitting, [key]: value }) <= MAX_DATA_BYTES) fitting[key] = value
  return { title: cut(title, MAX_TITLE_BYTES), body: cut(body, MAX_BODY_BYTES), data: fitting }
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** On one or several lines, at most so many bytes of JSON. */
function cut(text: string, maxBytes: number): string {
  // No character takes less than a byte.
  const start = text.toWellFormed().slice(0, maxBytes + 1)
  const quotes = 2
  if (sizeOf(start) - quotes <= maxBytes) return start
  const end = '…'
  let kept = ''
  let bytes = Buffer.byteLength(end)
  for (const { segment } of GRAPHEMES.segment(start)) {
    bytes += sizeOf(segment) - quotes
    if (bytes > maxBytes) break
    kept += segment
  }
  return kept + end
}
