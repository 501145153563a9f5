import type { Event, Exception, Frame, Stacktrace } from '../../events/protocol/event.api.ts'
import { isInApp } from '../../events/protocol/in-app.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { FoundFile } from '../files/indexes.queries.ts'
import type { PartReader } from '../index-file/built-index.ts'
import {
  type ObfuscatedFrame,
  proguardParts,
  readFrame,
  type Reading,
  type RetracedFrame,
  retraceClass,
} from '../proguard/retrace-frame.ts'
import { retraceStack } from '../proguard/retrace-stack.ts'
import { namesInText, originalName, retraceText, type TextName } from '../proguard/retrace-text.ts'
import type { OpenIndex } from './open-index.ts'
import { eachFrame, keepRaw, type Replacements, type Symbolication, unreadableFrame } from './readable-frame.ts'
import { isReady } from './symbol-reader.ts'

/** Frames and exceptions of Android and Java through mappings of ProGuard and R8. */

/**
 * Adds the frames that a mapping makes readable.
 * @returns the exceptions with their own names
 */
export async function readJvmFrames(of: Symbolication, replacements: Replacements): Promise<readonly Exception[]> {
  const { event, reader, orgId } = of
  const frames = [...eachFrame(event)].filter((frame) => isJvmFrame(frame, event))
  if (frames.length === 0) return event.exceptions
  const { file, uuid, isOfOtherBuild } = await mappingOf(of)
  if (!isReady(file) || isOfOtherBuild) {
    const reason = isOfOtherBuild ? 'wrong_build' : file?.state === 'failed' ? 'broken_file' : 'missing_file'
    const obfuscated = uuid !== null || file !== null ? frames.filter(looksObfuscated) : []
    for (const frame of obfuscated) replacements.set(frame, unreadableFrame(frame, reason))
    if (obfuscated.length > 0) of.watcher?.onMissing({ kind: 'mapping', name: 'mapping.txt', debugId: uuid, reason })
    return event.exceptions
  }
  const index = await reader.open(orgId, file)
  if (index === null) return event.exceptions
  const partsOf: PartsOf = (names) => reader.load(orgId, file, proguardParts(index.directory, names))
  await readStacks(event, frames, index, partsOf, replacements)
  if (frames.some((frame) => replacements.has(frame))) of.watcher?.onUsed(file.id)
  return readExceptions(event.exceptions, index, partsOf)
}

/** Loads the parts with classes of obfuscated names. */
type PartsOf = (names: readonly string[]) => Promise<PartReader>

async function readStacks(
  event: Event,
  frames: readonly Frame[],
  { directory, readings: known }: OpenIndex,
  partsOf: PartsOf,
  replacements: Replacements,
): Promise<void> {
  const obfuscated = frames.map(obfuscatedFrame)
  const readings = await known.of(
    obfuscated.map(({ className, method, line, file }) => `${className}\n${method}\n${line}\n${file}`),
    async (unknown) => {
      const wanted = unknown.flatMap((n) => obfuscated[n] ?? [])
      const part = await partsOf(wanted.map(({ className }) => className))
      return wanted.map((frame) => readFrame(directory, part, frame))
    },
  )
  // A frame that called an outline is read at another line, too.
  const callers = obfuscated.filter((_, n) => readings[n]?.[0]?.facts.positions !== undefined)
  const part = await partsOf(callers.map(({ className }) => className))
  const byFrame = new Map(obfuscated.map((frame, n) => [frame, readings[n]]))
  const read = (frame: ObfuscatedFrame): readonly Reading[] => byFrame.get(frame) ?? readFrame(directory, part, frame)

  const places = new Map(frames.map((frame, n) => [frame, n]))
  const readStack = ({ frames: all }: Stacktrace, thrown: string | null): void => {
    // The mapping reads the innermost frame first.
    const own = all.flatMap((frame) => places.get(frame) ?? []).toReversed()
    const stack = { thrown, frames: own.flatMap((n) => obfuscated[n] ?? []) }
    for (const [n, found] of retraceStack(stack, read).entries())
      replaceFrame(event, frames[own[n] ?? -1], found, replacements)
  }
  for (const exception of event.exceptions)
    if (exception.stacktrace !== null) readStack(exception.stacktrace, classOf(exception))
  for (const { stacktrace } of event.threads) if (stacktrace !== null) readStack(stacktrace, null)
}

/** @returns the exceptions with the names of their types, and of what their messages mention */
async function readExceptions(
  exceptions: readonly Exception[],
  { directory, classes, names }: OpenIndex,
  partsOf: PartsOf,
): Promise<readonly Exception[]> {
  const types = exceptions.map(classOf)
  const originals = await classes.of(types, async (unknown) => {
    const wanted = unknown.map((n) => types[n] ?? '')
    const part = await partsOf(wanted)
    return wanted.map((name) => retraceClass(directory, part, name))
  })
  const inTexts = exceptions.flatMap(({ value }) => (value === null ? [] : namesInText(value)))
  const named = await names.of(inTexts.map(keyOfName), async (unknown) => {
    const wanted = unknown.flatMap((n) => inTexts[n] ?? [])
    const part = await partsOf(wanted.flatMap((name) => name.classes))
    return wanted.map((name) => originalName(directory, part, name))
  })
  const byName = new Map(inTexts.map((name, n) => [keyOfName(name), named[n] ?? null]))
  return exceptions.map((exception, n) => {
    const { value } = exception
    const readable = value === null ? null : retraceText(value, (name) => byName.get(keyOfName(name)) ?? null)
    return readableException(exception, readable, originals[n] ?? null)
  })
}

const keyOfName = ({ text, after }: TextName): string => `${text}\n${after}`

const obfuscatedFrame = ({ module, function: method, lineno: line, filename: file }: Frame): ObfuscatedFrame => ({
  className: module ?? '',
  method: method ?? '',
  line,
  file,
})

const JVM = new Set(['java', 'android', 'kotlin'])
const isJvmFrame = (frame: Frame, { platform }: Event): boolean =>
  frame.module !== null && JVM.has(frame.platform ?? platform)

/** Short names are those of a shrinker: `a.b.c`, `d5.b`. */
const looksObfuscated = ({ module, function: name }: Frame): boolean =>
  /(?:^|\.)[a-zA-Z]\w?$/u.test(module ?? '') || /^[a-z]\w?$/u.test(name ?? '')

const classOf = ({ module, type }: Exception): string => (module === null ? (type ?? '') : `${module}.${type ?? ''}`)

/** Takes the likeliest reading of a frame. */
function replaceFrame(
  event: Event,
  frame: Frame | undefined,
  [best]: readonly (readonly RetracedFrame[])[],
  replacements: Replacements,
): void {
  if (frame === undefined || best === undefined || isUnchanged(best, frame)) return
  const shown = best.some(({ isSynthesized }) => !isSynthesized) ? best.filter((one) => !one.isSynthesized) : best
  const platform = frame.platform ?? event.platform
  replacements.set(
    frame,
    shown.toReversed().map((one, place) => readableFrame(frame, one, place > 0, platform)),
  )
}

const isUnchanged = (chain: readonly RetracedFrame[], { module, function: name, lineno }: Frame): boolean =>
  chain.length === 1 && chain[0]?.className === module && chain[0].method === name && chain[0].line === lineno

function readableException(exception: Exception, value: string | null, className: string | null): Exception {
  if (className === null) return value === exception.value ? exception : { ...exception, value }
  const dot = className.lastIndexOf('.')
  return { ...exception, value, type: className.slice(dot + 1), module: dot < 0 ? null : className.slice(0, dot) }
}

/** By the UUID that the event names, else of its release. */
async function mappingOf({ reader, projectId, event }: Symbolication): Promise<{
  readonly file: FoundFile | null
  readonly uuid: string | null
  readonly isOfOtherBuild: boolean
}> {
  const ids = event.debug_images.flatMap(({ type, uuid }) =>
    type === 'proguard' && typeof uuid === 'string' && isUuid(uuid) ? [uuid.toLowerCase()] : [],
  )
  const uuid = ids[0] ?? null
  const files = ids.length === 0 ? [] : await reader.byDebugId(projectId, ids)
  const found = files.find(isReady) ?? files.find((file) => file !== null) ?? null
  if (found !== null || event.release === null) return { file: found, uuid, isOfOtherBuild: false }
  const ofRelease = await reader.mappingOf(projectId, event.release)
  // A mapping without UUID was uploaded for all builds of the release.
  const isOfOtherBuild = uuid !== null && ofRelease !== null && ofRelease.debugId !== null
  return { file: ofRelease, uuid, isOfOtherBuild }
}

function readableFrame(frame: Frame, one: RetracedFrame, isInlined: boolean, platform: string): Frame {
  const readable: Frame = {
    ...frame,
    module: one.className,
    function: one.method,
    lineno: one.line,
    filename: one.file ?? frame.filename,
    raw: keepRaw(frame),
    ...(isInlined ? { is_inlined: true } : {}),
  }
  readable.in_app = isInApp(readable, platform)
  return readable
}
