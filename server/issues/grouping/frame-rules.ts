import { compileGlob } from '../../platform/kernel/glob.ts'
import type { Event, Frame, Stacktrace, Thread } from '../../events/protocol/event.api.ts'
import { eventCulprit, leadingStack } from '../../events/protocol/labels.ts'
import type { StackRule } from './grouping-rules.api.ts'

/** Stack rules of a project: which frames are in-app, and which are ignored by grouping. */

type Question = (frame: Frame) => boolean
type Compiled = { readonly rule: StackRule; readonly asks: Question }

/** An event with its stack rules applied. */
type Marked = {
  /** For display: with all frames. */
  readonly event: Event
  /** For grouping: without ignored frames. */
  readonly grouped: Event
  /** Rules that changed something. */
  readonly applied: readonly StackRule[]
}

type FrameMarker = (event: Event) => Marked

/** The value that a frame matcher reads; null when the frame does not have it. */
export function frameText(frame: Frame, key: string): string | null {
  switch (key) {
    case 'module':
      return frame.module
    case 'function':
      return frame.function
    case 'path':
      return frame.abs_path ?? frame.filename
    case 'package':
      return frame.package
    default:
      return null
  }
}

/** Whether a frame matcher matches; a path is matched as sent and shortened. */
export function frameQuestion(key: string, glob: string): Question {
  const matches = compileGlob(glob)
  if (key === 'path')
    return ({ filename, abs_path: path }) =>
      (path !== null && matches(path)) || (filename !== null && matches(filename))
  return (frame) => {
    const text = frameText(frame, key)
    return text !== null && matches(text)
  }
}

/** Returns null when there are no rules. */
export function compileStackRules(rules: readonly StackRule[]): FrameMarker | null {
  if (rules.length === 0) return null
  const compiled = rules.map((rule): Compiled => {
    const questions = rule.match.map(({ key, glob, not }) => ({ asks: frameQuestion(key, glob), not }))
    return { rule, asks: (frame) => questions.every(({ asks, not }) => asks(frame) !== not) }
  })
  return (event) => markEvent(event, compiled)
}

function markEvent(event: Event, rules: readonly Compiled[]): Marked {
  const marker = new Marker(rules)
  const exceptions = event.exceptions.map((exception) => {
    const stack = marker.mark(exception.stacktrace)
    return stack === exception.stacktrace ? exception : { ...exception, stacktrace: stack }
  })
  const threads = event.threads.map((thread) => {
    const stack = isLookedAt(thread, event.threads.length) ? marker.mark(thread.stacktrace) : thread.stacktrace
    return stack === thread.stacktrace ? thread : { ...thread, stacktrace: stack }
  })
  if (marker.applied.size === 0) return { event, grouped: event, applied: [] }
  const marked = { ...event, exceptions, threads }
  // A culprit that was derived from the stack is derived again.
  if (event.culprit === eventCulprit(event.transaction, leadingStack(event.exceptions, event.threads), event))
    marked.culprit = eventCulprit(marked.transaction, leadingStack(exceptions, threads), event)
  return { event: marked, grouped: marker.without(marked), applied: [...marker.applied] }
}

/** Threads that grouping may read. */
const isLookedAt = ({ crashed, current, main }: Thread, count: number): boolean =>
  crashed || current || main || count === 1

class Marker {
  readonly applied = new Set<StackRule>()
  readonly #rules: readonly Compiled[]
  readonly #ignored = new Set<Frame>()

  constructor(rules: readonly Compiled[]) {
    this.#rules = rules
  }

  /** Returns the same object when nothing changes. */
  mark(stack: Stacktrace | null): Stacktrace | null {
    if (stack === null) return stack
    let changed = false
    const frames = stack.frames.map((frame) => {
      const rule = this.#rules.find(({ asks }) => asks(frame))?.rule
      if (rule === undefined) return frame
      if (rule.action === 'ignore') {
        this.applied.add(rule)
        this.#ignored.add(frame)
        return frame
      }
      const isInApp = rule.action === 'in_app'
      if (frame.in_app === isInApp && frame.marked_in_app === undefined) return frame
      this.applied.add(rule)
      changed = true
      const { marked_in_app: _, ...rest } = frame
      return { ...rest, in_app: isInApp }
    })
    return changed ? { ...stack, frames } : stack
  }

  without(event: Event): Event {
    if (this.#ignored.size === 0) return event
    const cut = <T extends { stacktrace: Stacktrace | null }>(one: T): T => {
      if (one.stacktrace?.frames.some((frame) => this.#ignored.has(frame)) !== true) return one
      return {
        ...one,
        stacktrace: { ...one.stacktrace, frames: one.stacktrace.frames.filter((frame) => !this.#ignored.has(frame)) },
      }
    }
    return { ...event, exceptions: event.exceptions.map(cut), threads: event.threads.map(cut) }
  }
}
