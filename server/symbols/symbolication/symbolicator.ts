import type { App } from '../../platform/context/app.ts'
import { isDatabaseAway } from '../../platform/storage/pool.ts'
import type { Event, Frame, Stacktrace, Exception } from '../../events/protocol/event.api.ts'
import type { Symbolication, Replacements } from './readable-frame.ts'
import { createSymbolReader, type SymbolReader, type SymbolLookUp, isReady } from './symbol-reader.ts'
import { relabelEvent } from '../../events/protocol/labels.ts'
import { readJvmFrames } from './jvm-frames.ts'
import { readNativeFrames, readUuid } from './native-frames.ts'
import { readScriptFrames } from './script-frames.ts'
import { dartMapParts, namesInMessage, namesInType, readableMessage, readableType } from '../dart/dart-map.ts'

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

/**
 * Makes the frames of an event readable with the files of its project: their functions, files, lines and inlined calls. A frame
 * keeps the values that the app sent (`raw`), and says why it is not readable. The event is not changed.
 */
async function symbolicateEvent(
  given: Omit<Symbolication, 'reader'> & { readonly reader: SymbolReader },
): Promise<Event> {
  const of = (await given.reader.hasAny(given.projectId)) ? given : { ...given, reader: WITHOUT_FILES }
  const replacements: Replacements = new Map<Frame, readonly Frame[]>()
  await readScriptFrames(of, replacements)
  await readNativeFrames(of, replacements)
  const exceptions = await readDartNames(of, await readJvmFrames(of, replacements))
  const { event } = of
  if (replacements.size === 0 && exceptions === event.exceptions) return event
  const withFrames = <T extends { stacktrace: Stacktrace | null }>(one: T): T =>
    one.stacktrace === null ? one : { ...one, stacktrace: readableStack(one.stacktrace, replacements) }
  return relabelEvent(event, { exceptions: exceptions.map(withFrames), threads: event.threads.map(withFrames) })
}

/** For a project without files: nothing is looked up, and frames say what is missing. */
const WITHOUT_FILES: SymbolLookUp = {
  byDebugId: (_projectId, ids) => Promise.resolve(ids.map(() => null)),
  dartMaps: (_projectId, ids) => Promise.resolve(ids.map(() => null)),
  byUrl: (_projectId, _release, urls) => Promise.resolve(urls.map(() => null)),
  byName: (_projectId, names) => Promise.resolve(names.map(() => null)),
  mappingOf: () => Promise.resolve(null),
  open: () => Promise.resolve(null),
  load: () => Promise.resolve(() => Buffer.alloc(0)),
}

const readableStack = (stack: Stacktrace, replacements: Replacements): Stacktrace =>
  stack.frames.some((frame) => replacements.has(frame))
    ? { ...stack, frames: stack.frames.flatMap((frame) => replacements.get(frame) ?? [frame]) }
    : stack

/** An app has one image of Dart; more than this are libraries. */
const MAX_IMAGES = 50

/** Types and messages of exceptions of obfuscated Dart, by the map with the debug id of the app's image. */
async function readDartNames(
  { event, reader, projectId, orgId, watcher }: Symbolication,
  exceptions: readonly Exception[],
): Promise<readonly Exception[]> {
  if (!isDart(event) || exceptions.length === 0) return exceptions
  const ids = event.debug_images.slice(0, MAX_IMAGES).flatMap(({ debug_id: id }) => readUuid(id) ?? [])
  const file = (await reader.dartMaps(projectId, ids)).find(isReady)
  const index = file === undefined ? null : await reader.open(orgId, file)
  if (file === undefined || index === null) return exceptions
  const { directory } = index
  const names = exceptions.flatMap(({ type, value }) => [...namesInType(type ?? ''), ...namesInMessage(value ?? '')])
  const part = await reader.load(orgId, file, dartMapParts(directory, names))
  const readable = exceptions.map((exception) => {
    const type = exception.type === null ? null : readableType(directory, part, exception.type)
    const value = exception.value === null ? null : readableMessage(directory, part, exception.value)
    return type === exception.type && value === exception.value ? exception : { ...exception, type, value }
  })
  if (readable.some((exception, n) => exception !== exceptions[n])) watcher?.onUsed(file.id)
  return readable
}

const isDart = ({ platform, sdk }: Event): boolean =>
  platform === 'dart' || sdk?.name?.startsWith('sentry.dart') === true
