import type { Exception, Frame } from './event.api.ts'
import { isSdkFrame } from './sdk-frames.ts'

/**
 * Which frames and which exception say where it went wrong: SDKs known by their path alone and deferred functions that take
 * a panic do not, and the ids of exceptions name the cause. Frozen with grouping version 3: this file never changes again.
 */

type Located = Pick<Frame, 'filename' | 'abs_path' | 'function' | 'module' | 'package'>

/** Folders of SDKs in the caches of package managers and in checkouts. */
const SDK_PATH =
  /[\\/]sentry(?:-(?:core|panic|backtrace|anyhow|actix|tower|tracing|log|slog|contexts|debug-images|opentelemetry|types))?(?:-\d+\.\d+[\w.+-]{0,30})?[\\/]src[\\/](?:[\w-]{1,60}[\\/]){0,6}[\w-]{1,60}\.rs$|[\\/]sentry-rust-[0-9a-f]{4,40}[\\/]|[\\/]sentry-(?:native|cocoa)[\\/](?:src|Sources)[\\/]|[\\/]getsentry[\\/]sentry-go(?:@[\w.+-]{1,40})?[\\/]|[\\/](?:site|dist)-packages[\\/]sentry_sdk[\\/]|[\\/]node_modules[\\/](?:@sentry(?:-internal)?|raven(?:-js)?)[\\/]|[\\/]sentry(?:_flutter|_dio|_logging)?-\d+\.\d+[\w.+-]{0,30}[\\/]lib[\\/]|[\\/]deps[\\/]sentry[\\/]lib[\\/]/

/** The path of a file of Rust's library, where others have a function. */
const RUST_FILE = /^(?:at )?(?:[a-z]:)?[\\/]rustc[\\/][0-9a-f]{7,40}[\\/]|[\\/]rustlib[\\/]src[\\/]rust[\\/]/i

/** @param platform the frame's, else the event's */
export function isSdkFrameV3(frame: Located, platform: string): boolean {
  if (isSdkFrame(frame, platform)) return true
  const { function: name, abs_path: path, filename } = frame
  if (name !== null && name.includes('rust') && RUST_FILE.test(name)) return true
  const place = path ?? filename
  return place !== null && place.includes('sentry') && SDK_PATH.test(place)
}

const GO_PANIC =
  /^(?:runtime\.)?(?:gopanic|panicmem\w*|panic(?:Index|Slice|divide|shift|dottype|nil|wrap)\w*|sigpanic)$/
/** Closures in closures are numbered too. */
const GO_CLOSURE = /^(.{1,300}?)(?:\.(?:func\d+|deferwrap\d+|gowrap\d+|\d+)){1,8}$/
const GO_RECOVERY = /[Rr]ecover|[Pp]anic/
const RECOVERS = /\brecover\(\)|\bRecover(?:WithContext)?\(/

/**
 * The frames up to where Go panicked: a deferred function that recovers runs above the one that panicked. SDKs leave out
 * the frames of the runtime; then a closure tells that lies above other functions of the app within its own function, in
 * an event of a panic.
 */
export function framesOfPanic(frames: readonly Frame[], platform: string, level: string): readonly Frame[] {
  if (platform !== 'go') return frames
  const panic = frames.findLastIndex(({ function: name }) => name !== null && GO_PANIC.test(name))
  if (panic > 0) return frames.slice(0, panic)
  const last = frames.findLastIndex((frame) => frame.in_app && !isSdkFrameV3(frame, platform))
  const top = frames[last]
  if (last < 2 || top?.function == null) return frames
  if (level === 'fatal' && GO_RECOVERY.test(top.function)) return frames.slice(0, last)
  const around = GO_CLOSURE.exec(top.function)?.[1]
  if (around === undefined || !(level === 'fatal' || RECOVERS.test(top.context_line ?? ''))) return frames
  const from = frames.findIndex((frame) => frame.function === around && frame.module === top.module)
  return from >= 0 && frames.slice(from + 1, last).some((frame) => frame.in_app) ? frames.slice(0, last) : frames
}

// --- Order of exceptions -------------------------------------------------------------------------------------------

/**
 * In the order that the ids say: an error after its causes. The order of the list differs between versions of SDKs. It
 * counts where the ids are missing, not unique, or do not lead every exception to one newest error.
 */
export function causesFirst(exceptions: readonly Exception[]): readonly Exception[] {
  if (exceptions.length < 2) return exceptions
  const byId = new Map<number, Exception>()
  let newest = 0
  for (const exception of exceptions) {
    const { exception_id: id, parent_id: parentId } = exception.mechanism ?? NO_IDS
    if (id === null || byId.has(id)) return exceptions
    byId.set(id, exception)
    if (parentId === null) newest += 1
  }
  if (newest !== 1) return exceptions
  const depths = new Map<Exception, number>()
  for (const exception of exceptions) {
    let depth = 0
    let parentId = exception.mechanism?.parent_id ?? null
    while (parentId !== null) {
      const parent = byId.get(parentId)
      depth += 1
      if (parent === undefined || depth >= exceptions.length) return exceptions
      parentId = parent.mechanism?.parent_id ?? null
    }
    depths.set(exception, depth)
  }
  const idOf = (one: Exception): number => one.mechanism?.exception_id ?? 0
  return exceptions.toSorted((a, b) => (depths.get(b) ?? 0) - (depths.get(a) ?? 0) || idOf(b) - idOf(a))
}

const NO_IDS = { exception_id: null, parent_id: null }
