import type { Event } from '../protocol/event.api.ts'

const SEARCHED_FRAMES = 30
const MAX_CHARACTERS = 1_000

/**
 * The texts an event is found by: title, value, culprit, message, and the names in its stack.
 * @param title what a grouping rule calls it; null without
 */
export function indexedTextsOf(event: Event, title: string | null = null): (string | null)[] {
  const frames = event.exceptions.flatMap((exception) => exception.stacktrace?.frames ?? [])
  const relevant = frames.filter((frame) => frame.in_app).slice(-SEARCHED_FRAMES)
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
