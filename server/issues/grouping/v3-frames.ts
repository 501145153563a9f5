import type { Event } from '../../events/protocol/event.api.ts'
import { isSystemImage } from '../../events/protocol/sdk-frames.ts'
import { framesOfPanic, isSdkFrameV3 } from '../../events/protocol/telling-v3.ts'
import { baseName, withoutBuildHash } from './v2-common-names.ts'
import { roundOf } from './v2-rounds.ts'
import { cleanClass, cleanFunction, fileName, isMinified, passesOn, tells, tellsOfSystem } from './v3-names.ts'
import type { Places } from './v3-places.ts'

/**
 * Frames for grouping version 3: which count, and what they tell. Frozen with `v3.ts`: never changed once issues depend
 * on it.
 */

export type Value = { label: string; value: string }
export type Exception = Event['exceptions'][number]
type Frame = NonNullable<Exception['stacktrace']>['frames'][number]

/** The fields of an event that its frames depend on. */
export type Setting = { readonly platform: string; readonly level: string; readonly places: Places }

/** A frame that counts. */
export type Contribution = {
  readonly value: Value
  /** A name with its place, a line of source text, a native name, an image, or a place alone. */
  readonly kind: 'function' | 'line' | 'native' | 'image' | 'anonymous'
  readonly frame: Frame
  readonly platform: string
  readonly place: string | null
}

export const isNamed = ({ kind }: Contribution): boolean => kind === 'function' || kind === 'line' || kind === 'native'

/** The frame of a native function without a name; of its image only the file is known, or not even that. */
const isNameless = ({ kind }: Contribution): boolean => kind === 'image'

/** Whether it says where in the app, or in the system, something went wrong. */
function tellsPlace({ kind, value, frame, platform, place }: Contribution): boolean {
  if (kind === 'line') return true
  if (kind === 'function') return tells(value.value, platform, place)
  if (kind !== 'native') return false
  return frame.in_app ? tells(value.value, 'native', null) : tellsOfSystem(value.value) && !isOfSystem(frame)
}

export type Stack = {
  values: Value[]
  /** Functions of the app have names. */
  named: boolean
  isOwn: boolean
  /** The values say where it went wrong; else the message has to. */
  tells: boolean
  /** Native frames without names decide. */
  nameless: boolean
  minified: boolean
}

/** Frames without a name that count by their place: the innermost ones. */
const MAX_PLACES = 5

/**
 * In-app frames, all of them where none is; null where they say nothing beyond file names.
 * @param endless of a recursion that ran out, the round alone counts: way in, way out and depth are chance
 * @param crashed a call of the system by name says where it crashed; an exception is only raised there
 */
export function readStack(
  frames: readonly Frame[],
  setting: Setting,
  { endless = false, crashed = false }: { endless?: boolean; crashed?: boolean } = {},
): Stack | null {
  const { platform } = setting
  const counted = framesOfPanic(frames, platform, setting.level)
  const isKnown = (one: Contribution): boolean =>
    !isNameless(one) || one.value.value !== '' || setting.places(one.frame, null) !== null
  const own = contributions(counted.filter(isOwnFrame), platform, endless).filter(isKnown)
  const isOwn = own.length > 0
  const chosen = isOwn ? own : contributions(counted, platform, endless).filter(isKnown)
  if (chosen.every(({ kind }) => kind === 'anonymous')) return null
  const last = chosen.findLastIndex(tellsPlace)
  const bare = chosen.slice(last + 1).filter(isNameless)
  if (bare.length > 0) return withPlaces(chosen, bare, { counted, isOwn, crashed, setting })
  const values = chosen.map(({ value }) => value)
  const minified = isOwn && SCRIPT.has(platform) && areMinified(chosen.filter(isNamed))
  return {
    values: chosen.some(isNameless) ? folded(values) : values,
    named: chosen.some(isNamed),
    isOwn,
    tells: isOwn && last >= 0 && !minified,
    nameless: false,
    minified,
  }
}

/** The innermost function and most of the others have names that a minifier gave. */
function areMinified(named: readonly Contribution[]): boolean {
  const isMade = ({ kind, value }: Contribution): boolean => kind === 'function' && isMinified(value.value)
  const last = named.at(-1)
  return last !== undefined && isMade(last) && 2 * named.filter(isMade).length > named.length
}

const SCRIPT = new Set(['javascript', 'node'])

/** Proxies stand between functions of the app as they come and go with the configuration. */
const isOwnFrame = (frame: Frame): boolean => frame.in_app && (frame.module === null || !passesOn(frame.module))

/**
 * The innermost functions have no name: what the app called in the system, else their places in their images. Without
 * either the package is all that is known.
 */
function withPlaces(
  chosen: readonly Contribution[],
  bare: readonly Contribution[],
  {
    counted,
    isOwn,
    crashed,
    setting,
  }: { counted: readonly Frame[]; isOwn: boolean; crashed: boolean; setting: Setting },
): Stack {
  const common = { named: false, isOwn, nameless: true, minified: false }
  const called = isOwn && crashed ? calledNames(counted, setting.platform) : []
  if (called.length > 0)
    return { ...common, tells: true, values: [...folded(chosen.map(({ value }) => value)), ...called] }
  const places = new Map<Contribution, string>()
  // A place in the C library is where every program of that system ends.
  const placed = bare.filter(({ frame }) => frame.in_app || !isOfSystem(frame))
  for (const one of placed.slice(-MAX_PLACES)) {
    const place = setting.places(one.frame, one.frame.function)
    if (place !== null) places.set(one, place)
  }
  const values = chosen
    .filter((one) => places.size === 0 || places.has(one) || !bare.includes(one))
    .map((one) => {
      const place = places.get(one)
      if (place === undefined) return one.value
      return { label: one.value.value === '' ? 'place' : `place in ${one.value.value}`, value: place }
    })
  return { ...common, tells: places.size > 0, values: folded(values) }
}

/** The functions of libraries that the innermost frame of the app called, without those that are called from everywhere. */
function calledNames(frames: readonly Frame[], platform: string): Value[] {
  const from = frames.findLastIndex(isOwnFrame)
  return contributions(frames.slice(from + 1), platform)
    .filter((one) => isNamed(one) && tellsPlace(one))
    .map(({ value }) => value)
}

const MAX_PERIOD = 4

/** One entry per frame that counts; recursion, also through up to four functions, is folded into one round. */
export function contributions(frames: readonly Frame[], platform: string, endless = false): Contribution[] {
  const list: Contribution[] = []
  for (const frame of platform === 'php' ? withNamedClosures(frames) : frames) {
    const contribution = contributionOf(frame, frame.platform ?? platform)
    if (contribution === null) continue
    list.push(contribution)
    if (!endless) foldEnd(list, isSameStep)
  }
  const round = endless ? roundOf(list.map(({ value }) => JSON.stringify([value.label, value.value]))) : null
  return round === null ? list : round.flatMap((index) => list[index] ?? [])
}

/**
 * Before 8.4 PHP did not say which function a closure stands in: the last one of its file that was called. Since then it
 * does, and the two are one problem.
 */
function withNamedClosures(frames: readonly Frame[]): readonly Frame[] {
  if (!frames.some((frame) => frame.function?.endsWith('{closure}') === true)) return frames
  const functions = new Map<string, string>()
  return frames.map((frame) => {
    const { function: name, filename } = frame
    if (name === null || filename === null) return frame
    if (!name.endsWith('{closure}')) {
      if (!name.includes('{')) functions.set(filename, name)
      return frame
    }
    const around = functions.get(filename)
    return around === undefined ? frame : { ...frame, function: `{closure:${around}()}` }
  })
}

/** Takes away the last round of a list that repeats the one before. */
function foldEnd<T>(list: T[], isSame: (one: T, other: T) => boolean): void {
  for (let period = 1; period <= MAX_PERIOD && 2 * period <= list.length; period += 1) {
    if (!repeats(list, period, isSame)) continue
    list.length -= period
    return
  }
}

function repeats<T>(list: readonly T[], period: number, isSame: (one: T, other: T) => boolean): boolean {
  for (let at = list.length - period; at < list.length; at += 1) {
    const now = list[at]
    const before = list[at - period]
    if (now === undefined || before === undefined || !isSame(now, before)) return false
  }
  return true
}

const isSameValue = (one: Value, other: Value): boolean => one.value === other.value && one.label === other.label

/** Frames without a name are the same only at one address. */
const isSameStep = (one: Contribution, other: Contribution): boolean =>
  isSameValue(one.value, other.value) &&
  (!isNameless(one) ||
    (one.frame.instruction_addr === other.frame.instruction_addr && one.frame.function === other.frame.function))

/** Values of frames that have no place, of which only the package is known. */
function folded(values: readonly Value[]): Value[] {
  const list: Value[] = []
  for (const value of values) {
    list.push(value)
    foldEnd(list, isSameValue)
  }
  return list
}

const WITH_CONTEXT = new Set(['javascript', 'node', 'python', 'php', 'ruby'])
const NATIVE = new Set(['native', 'c', 'cpp', 'rust', 'cocoa', 'objc', 'swift'])

function contributionOf(frame: Frame, platform: string): Contribution | null {
  if (isForeign(frame, platform)) return null
  const name = frame.function === null || isImage(frame) ? null : cleanFunction(frame.function, platform)
  const of = (kind: Contribution['kind'], label: string, value: string, place: string | null): Contribution => ({
    value: { label, value },
    kind,
    frame,
    platform,
    place,
  })
  if (NATIVE.has(platform) || (frame.instruction_addr !== null && frame.filename === null && frame.module === null)) {
    if (name !== null) return of('native', 'function', name, null)
    // SDKs of Dart send images without a file.
    if (frame.package === null) return frame.instruction_addr === null ? null : of('image', 'package', '', null)
    const library = baseName(frame.package)
    // Code made while running has an address where others have a file.
    return /^<anonymous(?::[0-9a-f]+)?>$/.test(library) ? null : of('image', 'package', library, null)
  }
  const place = placeOf(frame, platform)
  const label = (word: string): string => (place === null ? word : `${word} in ${place}`)
  if (name !== null) return of('function', label('function'), name, place)
  const line = WITH_CONTEXT.has(platform) ? sourceLine(frame.context_line) : null
  if (line !== null) return of('line', label('line'), line, place)
  return place === null ? null : of('anonymous', label('function'), '<anonymous>', place)
}

/** Reports of Apple write the image and an offset where they know no function: `Shop + 4096`. */
const isImage = ({ function: name, package: image }: Frame): boolean =>
  image !== null && name !== null && name.includes('+') && name.replace(/ ?\+ ?\w{1,18}$/, '') === baseName(image)

const isOfSystem = (frame: Frame): boolean => frame.package !== null && isSystemImage(frame.package)

/** Source text of an anonymous function; a line the client cut differs from one SDK version to the next. */
function sourceLine(line: string | null): string | null {
  if (line === null || line.length > 300 || line.includes('{snip}')) return null
  const text = line.trim()
  return text === '' ? null : text.replaceAll(/\s+/g, ' ')
}

/** Names under which engines list code that has no file. */
const NO_FILE = /^(?:native|\[native code\]|native code|Unknown script code)$|<anonymous>$/
const EXTENSION = /^(?:chrome|moz|safari|safari-web|ms-browser|webkit-masked-url)(?:-extension)?:\/\//
const SDK_FILE = /(?:^|[\\/])(?:node_modules[\\/](?:@?sentry(?:-internal)?|raven(?:-js)?)[\\/]|sentry_sdk[\\/])/
const SDK_MODULE = /^(?:@sentry[./-]|io\.sentry\.(?!samples?\.)|sentry_sdk\b|Sentry\.)/
const SDK_PACKAGE = /(?:^|[\\/])(?:libsentry[\w.-]*|Sentry)$/
const ASYNC_RUNTIME =
  /^(?:process\.processTicksAndRejections|processTicksAndRejections|runMicrotasks|_?asyncToGenerator|asyncGeneratorStep|__awaiter|__generator)$/
/** Python before 3.12 has a frame of its own for what stands in the function around it. */
const COMPREHENSION = /^<(?:list|dict|set)comp>$/
/** Java calls through generated accessors after some calls, and by other classes in each version. */
const REFLECTION = /^(?:jdk\.internal\.reflect|sun\.reflect|java\.lang\.(?:reflect|invoke))\./

/** Frames of SDKs, of browser extensions, and of the runtime's own plumbing. */
function isForeign(frame: Frame, platform: string): boolean {
  const { filename, module } = frame
  if (isSdkFrameV3(frame, platform)) return true
  if (platform === 'javascript' || platform === 'node') {
    const path = frame.abs_path ?? filename
    if (path === null || NO_FILE.test(path)) return true
    if (frame.function !== null && ASYNC_RUNTIME.test(frame.function)) return true
    if (EXTENSION.test(path)) return true
  }
  if (platform === 'python' && frame.function !== null && COMPREHENSION.test(frame.function)) return true
  // Kotlin's marks in recovered stacks of coroutines.
  if (module?.startsWith('_COROUTINE.') === true) return true
  if (module !== null && REFLECTION.test(module)) return true
  if (module !== null && module.includes('entry') && SDK_MODULE.test(module)) return true
  if (frame.package !== null && SDK_PACKAGE.test(frame.package)) return true
  return filename !== null && SDK_FILE.test(filename)
}

const MAIN = /^__(?:mp_)?main__$/

/** Module or class where there is one, else the file's name. `__main__` is whatever file was started, here or by multiprocessing. */
function placeOf(frame: Frame, platform: string): string | null {
  const script = SCRIPT.has(platform)
  // Only newer clients for Ruby send the class, and only since 3.4; they always sent the file.
  const hasModule = frame.module !== null && !(platform === 'ruby' && frame.filename !== null)
  if (hasModule && frame.module !== null && !MAIN.test(frame.module)) {
    return script ? withoutBuildHash(frame.module) : cleanClass(frame.module)
  }
  const path = frame.filename ?? frame.abs_path
  return path === null ? null : fileName(path, script)
}
