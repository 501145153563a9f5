import type { App } from '../../platform/context/app.ts'
import { isDatabaseAway } from '../../platform/storage/pool.ts'
import type { Event } from '../../events/protocol/event.api.ts'
import type { Symbolication } from './readable-frame.ts'
import { createSymbolReader, type SymbolReader } from './symbol-reader.ts'
import { symbolicateEvent } from './symbolicate-event.ts'

type Parts = Pick<App, 'db' | 'bus' | 'clock' | 'log'>

/** One reader for each app: its caches serve pages and digestion of the same process or thread. */
const readers = new WeakMap<Parts['bus'], SymbolReader>()

function readerOf(app: Parts): SymbolReader {
  const known = readers.get(app.bus)
  if (known !== undefined) return known
  const reader = createSymbolReader(app)
  readers.set(app.bus, reader)
  return reader
}

/** A project whose events are made readable. */
export type OwnedProject = { readonly orgId: string; readonly projectId: string }

/**
 * Makes an event readable; without files of the project, its frames say what is missing. A file or stack that cannot be
 * read must not cost the event: then its frames stay as the app sent them.
 * @param options as in {@link Symbolication}
 * @throws the error of an unreachable database, so that the work is tried again
 */
export async function makeReadable(
  app: Parts,
  { orgId, projectId }: OwnedProject,
  event: Event,
  options: Pick<Symbolication, 'needsLine' | 'watcher'> = {},
): Promise<Event> {
  try {
    return await symbolicateEvent({ orgId, projectId, reader: readerOf(app), event, ...options })
  } catch (error) {
    if (isDatabaseAway(error)) throw error
    app.log.error({ err: error, project_id: projectId }, 'the frames of an event cannot be made readable')
    return event
  }
}

/** Makes events of one project readable; null when the project has no files, which costs nothing. */
export type Symbolicate = (event: Event) => Promise<Event> | null

/** For digestion, which prepares many events of the project. */
export function symbolicateFor(
  app: Parts,
  project: OwnedProject,
  needsLine: NonNullable<Symbolication['needsLine']>,
): Symbolicate {
  const reader = readerOf(app)
  return (event) => (reader.knowsNone(project.projectId) ? null : makeReadable(app, project, event, { needsLine }))
}
