import type { Event, Exception, Frame, Stacktrace } from './event.api.ts'
import { functionName } from './labels.ts'
import { cut } from './strings.ts'

/** Application not responding, with all names that SDKs use for it. */

const ANR_MECHANISMS = new Set(['anr', 'appexitinfo', 'historicalappexitinfo', 'apphang', 'mxhangdiagnostic'])
const ANR_TYPE = /(?:^|[.$])ApplicationNotResponding$|^App Hang/

export function isAnr(event: Pick<Event, 'exceptions'>): boolean {
  return event.exceptions.some(isAnrException)
}

function isAnrException({ type, mechanism }: Exception): boolean {
  if (type !== null && ANR_TYPE.test(type)) return true
  const mechanismType = mechanism?.type
  if (mechanismType === null || mechanismType === undefined) return false
  return ANR_MECHANISMS.has(mechanismType.toLowerCase().replaceAll('_', ''))
}

/** An unhandled crash below the language runtime: a signal, a Mach exception or a minidump. */
export function isNativeCrash(event: Pick<Event, 'exceptions' | 'is_unhandled'>): boolean {
  return (
    event.is_unhandled && event.exceptions.some(({ mechanism }) => mechanism !== null && isNativeMechanism(mechanism))
  )
}

function isNativeMechanism(mechanism: NonNullable<Exception['mechanism']>): boolean {
  const type = mechanism.type?.toLowerCase().replaceAll('_', '') ?? ''
  if (
    ['signalhandler', 'minidump', 'mach', 'signal', 'tombstone', 'tombstonemerged', 'mxcrashdiagnostic'].includes(type)
  ) {
    return true
  }
  return mechanism.meta !== null && ('signal' in mechanism.meta || 'mach_exception' in mechanism.meta)
}

/** The cause of an ANR or app hang: the call it waited for (docs/protocol.md §10.4). Pure. */

export type AnrCause = {
  /** `SharedPreferencesImpl.commit in SessionStore.save`: what the app called last, and where. */
  readonly call: string
  /** How long the main thread was blocked, as far as the event says. */
  readonly waitMs: number | null
}

/** The call of ANRs without a stack. */
const UNKNOWN_CALL = '<unknown>'
const MAX_CALL = 200

/** The cause of an ANR; null for other events. */
export function anrCause(event: Pick<Event, 'exceptions' | 'threads'>): AnrCause | null {
  const exception = event.exceptions.findLast(isAnrException)
  if (exception === undefined) return null
  return { call: callOf(stackOf(exception, event)), waitMs: waitOf(exception) }
}

/** The stack of the exception is the main thread's; without one, the main thread's own. */
const stackOf = (exception: Exception, { threads }: Pick<Event, 'threads'>): Stacktrace | null =>
  exception.stacktrace ??
  threads.find(({ main }) => main)?.stacktrace ??
  threads.find(({ crashed, current }) => crashed || current)?.stacktrace ??
  null

/** The innermost frame of the app and the call it made, or without one the innermost frame. */
function callOf(stack: Stacktrace | null): string {
  const frames = stack?.frames ?? []
  const own = frames.findLastIndex((frame) => frame.in_app)
  const caller = nameOf(frames[own])
  const called = nameOf(own === -1 ? frames.at(-1) : frames[own + 1])
  const call = caller === null || called === null ? (called ?? caller) : `${called} in ${caller}`
  return call === null ? UNKNOWN_CALL : cut(call, MAX_CALL)
}

/** Class and function; of a class its outer one without the package. */
function nameOf(frame: Frame | undefined): string | null {
  if (frame === undefined) return null
  const name = functionName(frame)
  const file = (frame.filename ?? frame.abs_path)?.split(/[\\/]/).at(-1) ?? null
  if (name === null) return file === null || frame.lineno === null ? file : `${file}:${frame.lineno}`
  const type = /^(?:[\w$]+\.)+[\w$]+$/.test(frame.module ?? '') ? typeName(frame.module ?? '') : null
  return type === null || name.startsWith(`${type}.`) ? name : `${type}.${name}`
}

const typeName = (module: string): string | null => module.split('.').at(-1)?.split('$')[0] || null

const UNITS = new Map([
  ['ms', 1],
  ['milliseconds', 1],
  ['s', 1_000],
  ['seconds', 1_000],
])

/** `Application Not Responding for at least 5000 ms.`, `App hanging between 2.0 and 2.5 seconds.`: the higher number. */
function waitOf({ value }: Exception): number | null {
  const found =
    /(?:at least|between \d{1,9}(?:\.\d{1,6})? and) (\d{1,9}(?:\.\d{1,6})?) ?(ms|milliseconds|s|seconds)\b/.exec(
      value ?? '',
    )
  const wait = Number(found?.[1]) * (UNITS.get(found?.[2] ?? '') ?? Number.NaN)
  return wait > 0 && wait < 86_400_000 ? wait : null
}
