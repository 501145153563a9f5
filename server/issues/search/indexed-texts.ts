import type { Event } from '../../events/protocol/event.api.ts'

/** The first texts of an event; those of its frames follow. */
export const OWN_TEXTS = 6
export const TEXTS_PER_FRAME = 3
const MAX_FRAMES = 30
const MAX_CHARACTERS = 1_000

/**
 * Returns the texts of an event whose words are indexed: title, value, culprit, message, transaction and names of its stack.
 * @param title the title that a grouping rule sets, or null
 */
export function listIndexedTexts(event: Event, title: string | null = null): (string | null)[] {
  const frames = event.exceptions.flatMap((exception) => exception.stacktrace?.frames ?? [])
  const relevant = frames.filter((frame) => frame.in_app).slice(-MAX_FRAMES)
  return [
    title,
    event.title,
    event.culprit,
    event.error_value?.slice(0, MAX_CHARACTERS) ?? null,
    event.message?.slice(0, MAX_CHARACTERS) ?? null,
    event.transaction,
    ...relevant.flatMap((frame) => [frame.function, frame.module, frame.filename]),
  ]
}
