import type { Event, Frame } from '../../events/protocol/event.api.ts'

/** How much information an event has. Pure. */

/** Further breadcrumbs, frames and tags do not raise the score. */
const MAX_CRUMBS = 50
const MAX_FRAMES = 60
const MAX_TAGS = 20

/**
 * A score to compare the events of one issue. Readable frames count most, then source lines, breadcrumbs, contexts, the
 * user and the request.
 */
export function scoreCompleteness(event: Event): number {
  const frames = [
    ...event.exceptions.flatMap(({ stacktrace }) => stacktrace?.frames ?? []),
    ...event.threads.flatMap(({ stacktrace }) => stacktrace?.frames ?? []),
  ].slice(0, MAX_FRAMES)
  return (
    2 * frames.filter(isReadable).length +
    frames.filter(({ context_line }) => context_line !== null).length +
    Math.min(MAX_CRUMBS, event.breadcrumbs.length) +
    3 * Object.keys(event.contexts).length +
    0.5 * Math.min(MAX_TAGS, event.tags.length) +
    (event.user === null ? 0 : 5) +
    (event.request === null ? 0 : 5) +
    (Object.keys(event.extra).length > 0 ? 3 : 0)
  )
}

/** A frame with the name of a function and its place. */
const isReadable = ({ function: name, filename, module, lineno }: Frame): boolean =>
  name !== null &&
  !/^(0x[0-9a-f]+|<redacted>|<unknown>)$/i.test(name) &&
  (lineno !== null || filename !== null || module !== null)
