import type { Event, Exception, Frame, Stacktrace, Thread } from './event.api.ts'
import { crashedThread, hasNativeCause } from './frames.ts'
import { cut, firstLine } from './strings.ts'
import { causesFirst, framesOfPanic, isSdkFrameV3 } from './telling-v3.ts'

/** Title and culprit of an event. */

const MAX_TITLE = 200
const MAX_CULPRIT = 200

/** The newest exception with a type. One with only a value is a message with a stack, not an error. */
export function namingException(exceptions: readonly Exception[]): Exception | null {
  return causesFirst(exceptions).findLast((exception) => exception.type !== null) ?? null
}

type TitleInput = {
  exception: Exception | null
  message: string | null
  stack: Stacktrace | null
  type: string
  platform: string
}

/** One line, at most 200 characters, never empty. */
export function eventTitle({ exception, message, stack, type, platform }: TitleInput): string {
  if (exception !== null && exception.type !== null) return cut(exceptionTitle(exception, stack, platform), MAX_TITLE)
  const line = message === null ? '' : firstLine(message)
  if (line !== '') return cut(line, MAX_TITLE)
  const place = stack === null ? null : placeOf(stack, platform)
  if (place !== null) return cut(place, MAX_TITLE)
  return type === 'error' ? '<untitled error>' : `<untitled ${cut(type, 40)}>`
}

function exceptionTitle(exception: Exception, stack: Stacktrace | null, platform: string): string {
  const type = firstLine(exception.type ?? '')
  if (isSignal(exception, platform)) {
    const name = stack === null ? null : functionName(topFrame(stack, platform))
    if (name !== null) return `${type} / ${name}`
  }
  const value = exception.value === null ? '' : firstLine(exception.value)
  return value === '' ? type : `${type}: ${value}`
}

/** Whether the type is a signal's name, so that the function is the better title. */
function isSignal({ mechanism }: Exception, platform: string): boolean {
  if (mechanism === null || !mechanism.synthetic) return false
  return hasNativeCause(mechanism) || platform === 'native' || platform === 'cocoa'
}

/**
 * The transaction, else the innermost in-app function, else empty. The transaction of a browser is only the page: there
 * the function comes first.
 */
export function eventCulprit(
  transaction: string | null,
  stack: Stacktrace | null,
  { platform, level }: { platform: string; level: string },
): string {
  const isPage = platform === 'javascript' && stack !== null && functionName(topFrame(stack, platform)) !== null
  if (transaction !== null && !isPage) return cut(firstLine(transaction), MAX_CULPRIT)
  return stack === null ? '' : cut(placeOf(stack, platform, level) ?? '', MAX_CULPRIT)
}

/** The stack for the culprit: the newest exception's, else the stack of a cause, else the crashed thread's. */
export function leadingStack(exceptions: readonly Exception[], threads: readonly Thread[]): Stacktrace | null {
  const own = causesFirst(exceptions).findLast((exception) => exception.stacktrace !== null)?.stacktrace ?? null
  return own ?? crashedThread(threads)?.stacktrace ?? null
}

/**
 * The innermost in-app frame; instead of a builtin without a file, the frame that called it. Never one of an SDK, or one
 * that takes a panic.
 */
export function topFrame(stack: Stacktrace, platform: string, level = 'error'): Frame | null {
  const frames = framesOfPanic(stack.frames, platform, level)
  const tells = (frame: Frame): boolean => !isSdkFrameV3(frame, frame.platform ?? platform)
  return (
    frames.findLast((frame) => frame.in_app && isLocated(frame) && tells(frame)) ??
    frames.findLast((frame) => frame.in_app && tells(frame)) ??
    frames.findLast(tells) ??
    null
  )
}

function isLocated(frame: Frame): boolean {
  if (frame.module !== null || frame.package !== null) return true
  const path = frame.filename ?? frame.abs_path
  return path !== null && !path.endsWith('<anonymous>') && !/^(?:native|\[native code\]|native code)$/.test(path)
}

function placeOf(stack: Stacktrace, platform: string, level?: string): string | null {
  const frame = topFrame(stack, platform, level)
  if (frame === null) return null
  const name = functionName(frame)
  const file = fileOf(frame)
  if (frame.module !== null && isJvm(frame)) {
    const simple = frame.module.slice(frame.module.lastIndexOf('.') + 1)
    return name === null ? simple : `${simple}.${name}`
  }
  if (name === null) return file ?? (frame.package === null ? frame.module : baseName(frame.package))
  return file === null ? name : `${name} in ${file}`
}

function isJvm(frame: Frame): boolean {
  return (
    /\.(?:java|kt|kts|scala|groovy|clj)$/.test(frame.filename ?? '') ||
    (frame.filename === null && /^[\w$]+(?:\.[\w$]+)+$/.test(frame.module ?? ''))
  )
}

/**
 * An event whose stacks became readable, with the title and the culprit of what they say now. A title or culprit that came
 * from elsewhere stays.
 */
export function relabelEvent(before: Event, readable: Pick<Event, 'exceptions' | 'threads'>): Event {
  const [old, now] = [labelsOf(before), labelsOf({ ...before, ...readable })]
  return {
    ...before,
    ...readable,
    title: before.title === old.title ? now.title : before.title,
    culprit: before.culprit === old.culprit ? now.culprit : before.culprit,
    error_type: before.error_type === old.type ? now.type : before.error_type,
    error_value: before.error_value === old.value ? now.value : before.error_value,
  }
}

function labelsOf({ exceptions, threads, message, type, platform, level, transaction }: Event) {
  const exception = namingException(exceptions)
  const stack = exception?.stacktrace ?? leadingStack(exceptions, threads)
  return {
    title: eventTitle({ exception, message, stack, type, platform }),
    culprit: eventCulprit(transaction, stack, { platform, level }),
    type: exception?.type ?? null,
    value: exception?.value ?? null,
  }
}

/** No names of functions, those of old Edge and of symbolisers without symbols among them. */
const ANONYMOUS =
  /^(?:\?{1,3}|<anonymous>|anonymous|<module>|<unknown>|unknown|eval|(?:Global|Eval|Function) code|Anonymous function|<redacted>|<symbol>|<compiler-generated>|<deduplicated_symbol>|stripped_application_code|_{0,3}mh_\w{1,20}_header(?: ?\+ ?\w{1,20})?|0x[0-9a-f]{1,16})$/

/** The function's name for display; null without one. */
export function functionName(frame: Frame | null): string | null {
  const raw = frame?.function ?? null
  if (raw === null) return null
  const as = raw.indexOf(' [as ')
  let name = (as < 0 ? raw : raw.slice(0, as)).trim()
  if (name.startsWith('async ')) name = name.slice(6)
  const last = name.slice(name.lastIndexOf('.') + 1)
  if (ANONYMOUS.test(name) || last === '?' || last === '<anonymous>' || name === '') return null
  return name
}

/** The last two parts of a path, which identify the file without the directories of the build machine. */
function fileOf(frame: Frame): string | null {
  const path = frame.filename ?? frame.abs_path
  if (path === null || path.endsWith('<anonymous>')) return null
  const clean = path.replace(/[?#].*$/s, '').replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*\//i, '')
  const parts = clean.split(/[\\/]/, 200).filter((part) => part !== '')
  if (parts.length === 0) return null
  return parts.slice(-2).join('/')
}

function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
}
