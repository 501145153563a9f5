import { relabelEvent } from '../../events/protocol/labels.ts'
import type { Event, Frame, Stacktrace } from '../../events/protocol/event.api.ts'
import { readDartNames } from './dart-names.ts'
import { readJvmFrames } from './jvm-frames.ts'
import { readNativeFrames } from './native-frames.ts'
import type { Replacements, Symbolication } from './readable-frame.ts'
import { readScriptFrames } from './script-frames.ts'
import type { SymbolLookUp, SymbolReader } from './symbol-reader.ts'

/**
 * Makes the frames of an event readable with the files of its project: their functions, files, lines and inlined calls. A frame
 * keeps the values that the app sent (`raw`), and says why it is not readable. The event is not changed.
 */
export async function symbolicateEvent(
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
