import type { Event, Frame, Unreadable } from '../../events/protocol/event.api.ts'
import type { SymbolLookUp } from './symbol-reader.ts'

/** An event that is made readable, and where its files are looked up. */
export type Symbolication = {
  readonly reader: SymbolLookUp
  readonly orgId: string
  readonly projectId: string
  readonly event: Event
  /**
   * For digestion: whether the line of source of a readable frame decides how it is grouped. Only such lines are read, and
   * none around them. By default all are, as a page shows them.
   */
  readonly needsLine?: ((frame: Frame, platform: string) => boolean) | undefined
  readonly watcher?: FileWatcher | undefined
}

/** Learns of the files of an event. */
export type FileWatcher = {
  /** Called for each file that would make frames readable. */
  onMissing(file: MissingFile): void
  /** Called for each file that frames or names were read with. */
  onUsed(fileId: string): void
}

/** A file that was not uploaded, or that cannot be used. */
export type MissingFile = {
  readonly kind: 'source_map' | 'mapping' | 'debug_file'
  /** The code that is not readable: a script, an image of native code. */
  readonly name: string
  readonly debugId: string | null
  readonly reason: Unreadable
}

/** New frames for a frame of the event, outermost call first. */
export type Replacements = Map<Frame, readonly Frame[]>

/** All frames of an event. */
export function* eachFrame({ exceptions, threads }: Pick<Event, 'exceptions' | 'threads'>): Generator<Frame> {
  for (const { stacktrace } of [...exceptions, ...threads]) if (stacktrace !== null) yield* stacktrace.frames
}

/** The values of a frame before it became readable. */
export const keepRaw = ({
  filename,
  abs_path,
  function: name,
  module,
  lineno,
  colno,
}: Frame): NonNullable<Frame['raw']> => ({
  filename,
  abs_path,
  function: name,
  module,
  lineno,
  colno,
})

export const unreadableFrame = (frame: Frame, unreadable: Unreadable): readonly Frame[] => [{ ...frame, unreadable }]
