import { eventFromThread, type ClonedEvent, readStoredEvent, type StoredEvent } from '../../events/store/event.ts'
import { serveThread } from '../../platform/kernel/thread-task.ts'
import type { Event } from '../../events/protocol/event.api.ts'

/** A stored event, and the issue that its place names. */
export type PreviewedEvent = { readonly stored: ClonedEvent; readonly issueId: string }

export type PreviewRequest<Start> =
  | { readonly start: Start }
  | { readonly events: readonly PreviewedEvent[] }
  | { readonly end: true }

export type PreviewAnswer<Result> = {
  /** Ids of events that cannot be read. */
  readonly unreadable: readonly string[]
  /** At the end. */
  readonly result: Result | null
}

/** The work of a preview with the events of a project. */
export type Preview<Result> = {
  visit(event: Event, stored: StoredEvent, issueId: string): void
  result(): Result
}

/** Serves a preview in a thread of its own. @param read how to read an event */
export function servePreview<Start, Result>(
  begin: (start: Start) => Preview<Result>,
  read: (stored: StoredEvent) => Event = readStoredEvent,
): void {
  let preview: Preview<Result> | null = null
  serveThread((request: PreviewRequest<Start>): PreviewAnswer<Result> => {
    if ('start' in request) preview = begin(request.start)
    const unreadable: string[] = []
    if ('events' in request) {
      for (const { stored, issueId } of request.events) {
        const event = tryRead(eventFromThread(stored), read)
        if (event === null) unreadable.push(stored.eventId)
        else preview?.visit(event, eventFromThread(stored), issueId)
      }
    }
    return { unreadable, result: 'end' in request ? (preview?.result() ?? null) : null }
  })
}

function tryRead(stored: StoredEvent, read: (stored: StoredEvent) => Event): Event | null {
  try {
    return read(stored)
  } catch {
    return null
  }
}
