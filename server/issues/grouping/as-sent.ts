import type { Event, Stacktrace } from '../../events/protocol/event.api.ts'

/** Events as grouping version 1 knew them: with the marks of the SDK, without raw stacks. */

const isChanged = (stack: Stacktrace | null): boolean =>
  stack !== null && (stack.is_raw === true || stack.frames.some((frame) => frame.marked_in_app === true))

/** Returns the same event if nothing was changed. */
export function asSent(event: Event): Event {
  const { exceptions, threads } = event
  const hasChanged = [...exceptions, ...threads].some(({ stacktrace }) => isChanged(stacktrace))
  if (!hasChanged) return event
  return { ...event, exceptions: exceptions.map(withSent), threads: threads.map(withSent) }
}

function withSent<T extends { stacktrace: Stacktrace | null }>(one: T): T {
  const { stacktrace } = one
  if (stacktrace === null || !isChanged(stacktrace)) return one
  if (stacktrace.is_raw === true) return { ...one, stacktrace: null }
  const frames = stacktrace.frames.map((frame) => (frame.marked_in_app === true ? { ...frame, in_app: true } : frame))
  return { ...one, stacktrace: { ...stacktrace, frames } }
}
