import type { Exception, Frame, Stacktrace, Thread } from './event.api.ts'
import { crashedThread, hasNativeCause } from './exceptions.ts'
import { isSdkFrame } from './sdk-frames.ts'
import { cut, firstLine } from './strings.ts'

/** Title and culprit of an event. */

const MAX_TITLE = 200
const MAX_CULPRIT = 200

/** Type and value for the title; both null for a message event. */
export type ErrorName = { type: string | null; value: string | null }

/** The newest exception with a type. One with only a value is a message with a stack, not an error. */
export function namingException(exceptions: readonly Exception[]): Exception | null {
  return exceptions.findLast((exception) => exception.type !== null) ?? null
}

export type TitleInput = {
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

/** The transaction, else the innermost in-app function, else empty. */
export function eventCulprit(transaction: string | null, stack: Stacktrace | null, platform: string): string {
  if (transaction !== null) return cut(firstLine(transaction), MAX_CULPRIT)
  return stack === null ? '' : cut(placeOf(stack, platform) ?? '', MAX_CULPRIT)
}

/** The stack for the culprit: the newest exception's, else the stack of a cause, else the crashed thread's. */
export function leadingStack(exceptions: readonly Exception[], threads: readonly Thread[]): Stacktrace | null {
  const own = exceptions.findLast((exception) => exception.stacktrace !== null)?.stacktrace ?? null
  return own ?? crashedThread(threads)?.stacktrace ?? null
}

/** The innermost in-app frame; instead of a builtin without a file, the frame that called it. Never one of an SDK. */
export function topFrame(stack: Stacktrace, platform: string): Frame | null {
  return (
    stack.frames.findLast((frame) => frame.in_app && isLocated(frame)) ??
    stack.frames.findLast((frame) => frame.in_app) ??
    stack.frames.findLast((frame) => !isSdkFrame(frame, frame.platform ?? platform)) ??
    null
  )
}

function isLocated(frame: Frame): boolean {
  if (frame.module !== null || frame.package !== null) return true
  const path = frame.filename ?? frame.abs_path
  return path !== null && !path.endsWith('<anonymous>') && path !== 'native' && path !== '[native code]'
}

function placeOf(stack: Stacktrace, platform: string): string | null {
  const frame = topFrame(stack, platform)
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

const ANONYMOUS = /^(?:\?|<anonymous>|anonymous|<module>|<unknown>|eval)$/

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
