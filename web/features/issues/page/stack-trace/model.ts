import type { Event, Exception, Frame, Stacktrace, Thread } from '../../../../../server/events/protocol/event.api.ts'

/** Stacks of an event as rows. Events have frames outermost first; they are shown innermost first. Pure. */

/** A frame, or a run of framework frames as one line. `key` is the index in the stack. */
export type FrameRow =
  | { kind: 'frame'; key: number; frame: Frame; open: boolean }
  | { kind: 'fold'; key: number; frames: readonly Frame[]; origins: string }

/** `app` collapses framework frames; `all` shows every frame. */
export type FrameMode = 'app' | 'all'

/** The number of in-app frames that are expanded at first. */
const OPEN_AT_START = 5

const innermostFirst = (stack: Stacktrace): readonly Frame[] => stack.frames.toReversed()

/** Whether the stack has in-app frames; without any, nothing is collapsed. */
export const hasAppFrames = (stack: Stacktrace): boolean => stack.frames.some((frame) => frame.in_app)

/** Whether a frame has details. */
export const hasInside = (frame: Frame): boolean =>
  frame.context_line !== null || (frame.vars !== null && Object.keys(frame.vars).length > 0)

/**
 * The rows of a stack, innermost first. A run of framework frames is one row with their count, unless it was expanded (by
 * the key of the run). A stack without in-app frames has its innermost frame expanded.
 */
export function foldFrames(
  stack: Stacktrace,
  mode: FrameMode,
  unfolded: ReadonlySet<number> = new Set(),
): readonly FrameRow[] {
  const frames = innermostFirst(stack)
  const folds = mode === 'app' && hasAppFrames(stack)
  const rows: FrameRow[] = []
  let opened = 0
  let run: { key: number; frames: Frame[] } | null = null

  const closeRun = () => {
    if (run === null) return
    if (unfolded.has(run.key)) {
      for (const [index, frame] of run.frames.entries())
        rows.push({ kind: 'frame', key: run.key + index, frame, open: false })
    } else rows.push({ kind: 'fold', key: run.key, frames: run.frames, origins: originsOf(run.frames) })
    run = null
  }

  for (const [key, frame] of frames.entries()) {
    if (folds && !frame.in_app) {
      run ??= { key, frames: [] }
      run.frames.push(frame)
      continue
    }
    closeRun()
    const open = hasInside(frame) && opened < OPEN_AT_START && (frame.in_app || (!hasAppFrames(stack) && opened === 0))
    if (open) opened += 1
    rows.push({ kind: 'frame', key, frame, open })
  }
  closeRun()
  return rows
}

const lastPart = (path: string): string => path.split(/[\\/]/u).findLast((part) => part !== '') ?? path

/** The origin of a frame: a package, the first parts of a module, a library. */
function originOf(frame: Frame): string {
  const path = frame.abs_path ?? frame.filename ?? ''
  const library = /node_modules\/((?:@[^/]+\/)?[^/]+)(?!.*node_modules\/)/u.exec(path.replaceAll('\\', '/'))?.[1]
  if (library !== undefined) return library
  if (path.startsWith('node:')) return 'node'
  if (frame.module !== null && frame.module !== '') {
    const parts = frame.module.split('.')
    const packages = parts.filter((part, index) => index < parts.length - 1 || !/^\p{Lu}/u.test(part))
    return (packages.length === 0 ? parts : packages).slice(0, 2).join('.')
  }
  if (frame.package !== null && frame.package !== '') return lastPart(frame.package)
  return path === '' ? (frame.function ?? '') : lastPart(path)
}

function originsOf(frames: readonly Frame[]): string {
  const [only] = frames
  if (frames.length === 1 && only !== undefined) {
    const { path, type, name } = splitFrameName(only)
    return path + type + name
  }
  return [...new Set(frames.map(originOf).filter((origin) => origin !== ''))].slice(0, 4).join(', ')
}

const JVM = new Set(['java', 'kotlin', 'groovy', 'scala', 'clojure'])
const QUALIFIED = new Set([...JVM, 'python', 'csharp', 'elixir', 'perl', 'php', 'ruby'])

/** The parts of a function's name: package path, class, function. */
export function splitFrameName(frame: Frame, platform = ''): { path: string; type: string; name: string } {
  const sent = frame.function ?? frame.raw_function ?? '(unknown)'
  // Names of anonymous functions differ between runtimes.
  const name = sent.replace(/(^|\.)\?$/u, '$1<anonymous>')
  const kind = frame.platform ?? platform
  const module = frame.module ?? ''
  const qualified = QUALIFIED.has(kind) || (kind === '' && module.includes('.') && !module.includes(':'))
  if (qualified && module !== '') {
    const parts = module.split('.')
    const last = parts.at(-1) ?? ''
    if (/^\p{Lu}/u.test(last)) {
      const path = parts.slice(0, -1)
      return { path: path.length === 0 ? '' : `${path.join('.')}.`, type: `${last}.`, name }
    }
    return { path: `${module}.`, type: '', name }
  }
  // `Cart.total`, `render::Atlas::grow(int)`: the part before the last separator is the class.
  const called = /^[^(<]*/u.exec(name)?.[0] ?? name
  const at = Math.max(called.lastIndexOf('.'), called.lastIndexOf('::') + (called.includes('::') ? 1 : 0))
  if (at <= 0 || at >= name.length - 1) return { path: '', type: '', name }
  return { path: '', type: name.slice(0, at + 1), name: name.slice(at + 1) }
}

const MAX_PATH = 44

/** A short path: without scheme and host; a long one is cut at its start. */
export function shortPath(path: string): string {
  const bare = path.replace(/^[a-z][a-z0-9+.-]*:\/{2,3}[^/]*\//iu, '').replace(/^file:\/*/iu, '/')
  if (bare.length <= MAX_PATH) return bare === '' ? path : bare
  const parts = bare.split(/[\\/]/u)
  const tail = parts.slice(-2).join('/')
  return tail.length < bare.length ? `…/${tail}` : bare
}

/** `CheckoutFragment.kt:148`; for machine code, library and address. */
export function frameLocation(frame: Frame): string {
  const file = frame.filename ?? frame.abs_path
  if (file === null || file === '') {
    const place = [frame.package === null ? '' : lastPart(frame.package), frame.instruction_addr ?? '']
    return place.filter((part) => part !== '').join(' ')
  }
  const line = frame.lineno === null ? '' : `:${frame.lineno}`
  const column = frame.lineno === null || frame.colno === null ? '' : `:${frame.colno}`
  return `${shortPath(file)}${line}${column}`
}

export type SourceLine = { number: number; text: string; hit: boolean }

/** Cuts a long line of minified code around its column. */
const MAX_LINE = 600

function clipLine(text: string, column: number | null): string {
  if (text.length <= MAX_LINE) return text
  const from = Math.max(0, Math.min((column ?? 0) - MAX_LINE / 2, text.length - MAX_LINE))
  return `${from > 0 ? '…' : ''}${text.slice(from, from + MAX_LINE)}${from + MAX_LINE < text.length ? '…' : ''}`
}

/** The source around a frame with line numbers; null if the SDK sent none. */
export function frameSource(frame: Frame): readonly SourceLine[] | null {
  if (frame.context_line === null) return null
  const hit = frame.lineno ?? frame.pre_context.length + 1
  const first = hit - frame.pre_context.length
  const lines = [...frame.pre_context, frame.context_line, ...frame.post_context]
  return lines.map((text, index) => {
    const isHit = index === frame.pre_context.length
    return { number: first + index, text: clipLine(text, isHit ? frame.colno : null), hit: isHit }
  })
}

/** A stack: the crash with its chain of exceptions, or another thread. */
export type Stack = {
  key: string
  thread: Thread | null
  /** Newest first; empty for another thread than the crashed one. */
  exceptions: readonly ChainedException[]
  /** The frames of the thread, if no exception has frames. */
  stacktrace: Stacktrace | null
}

export type ChainedException = {
  exception: Exception
  stacktrace: Stacktrace | null
  /** The relation to the error above: its cause, or one of its grouped errors. */
  joint: 'first' | 'cause' | 'member'
}

/** All stacks of an event: the crash, then other threads. */
export function eventStacks(event: Pick<Event, 'exceptions' | 'threads'>): readonly Stack[] {
  const { exceptions, threads } = event
  const newest = exceptions.at(-1)
  const crashed =
    threads.find((thread) => thread.crashed) ??
    threads.find((thread) => newest?.thread_id != null && thread.id === newest.thread_id) ??
    threads.find((thread) => thread.current) ??
    null
  const others = threads
    .filter((thread) => thread.stacktrace !== null && thread !== crashed)
    .map((thread, index) => ({ key: `thread-${index}`, thread, exceptions: [], stacktrace: thread.stacktrace }))
  if (newest !== undefined) return [{ key: 'crash', thread: crashed, ...chainOf(exceptions, crashed) }, ...others]
  if (crashed?.stacktrace == null) return others
  return [{ key: 'crash', thread: crashed, exceptions: [], stacktrace: crashed.stacktrace }, ...others]
}

function chainOf(exceptions: readonly Exception[], crashed: Thread | null): Pick<Stack, 'exceptions' | 'stacktrace'> {
  const groups = new Set(
    exceptions.filter((one) => one.mechanism?.is_exception_group === true).map((one) => one.mechanism?.exception_id),
  )
  const someStack = exceptions.some((exception) => exception.stacktrace !== null)
  const chain = exceptions.toReversed().map((exception, index): ChainedException => {
    const parent = exception.mechanism?.parent_id
    return {
      exception,
      // Native SDKs send the frames with the thread, and the exception without frames.
      stacktrace: exception.stacktrace ?? (index === 0 && !someStack ? (crashed?.stacktrace ?? null) : null),
      joint: index === 0 ? 'first' : parent != null && groups.has(parent) ? 'member' : 'cause',
    }
  })
  return { exceptions: chain, stacktrace: null }
}

/** `java.lang.IllegalStateException`: the type with its package, as in the JVM. Some SDKs send the type with it. */
export function exceptionType(exception: Exception, platform: string): string {
  const type = exception.type ?? 'Error'
  const { module } = exception
  return !JVM.has(platform) || module === null || module === '' || type.startsWith(`${module}.`)
    ? type
    : `${module}.${type}`
}

/** The number of frames of a stack, including its chain. */
export const countFrames = (stack: Stack): number =>
  stack.exceptions.reduce((sum, one) => sum + (one.stacktrace?.frames.length ?? 0), 0) +
  (stack.stacktrace?.frames.length ?? 0)

/** The number of frames with a known function, that no file is missing for. */
export function countReadable(stack: Stack): { readable: number; total: number } {
  const traces = [...stack.exceptions.map((one) => one.stacktrace), stack.stacktrace]
  const frames = traces.flatMap((trace) => trace?.frames ?? [])
  return {
    readable: frames.filter((frame) => frame.function !== null && frame.unreadable === undefined).length,
    total: frames.length,
  }
}
