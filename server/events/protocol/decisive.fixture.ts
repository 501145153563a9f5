import { expect } from 'vitest'
import type { Event, Stacktrace } from './event.api.ts'

/** The result that normalising with `onlyDecisive` must have, derived from the whole event. */
export function decisive(event: Event): Event {
  const bare = <T extends { stacktrace: Stacktrace | null }>(one: T): T => ({
    ...one,
    stacktrace: one.stacktrace && {
      frames: one.stacktrace.frames.map((frame) => ({ ...frame, pre_context: [], post_context: [], vars: null })),
      registers: null,
    },
  })
  return {
    ...event,
    exceptions: event.exceptions.map(bare),
    threads: event.threads.map(bare),
    breadcrumbs: [],
    extra: {},
    modules: {},
    errors: expect.any(Array) as Event['errors'],
  }
}
