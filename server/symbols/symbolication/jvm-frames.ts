import type { Event, Exception, Frame, Stacktrace } from '../../events/protocol/event.api.ts'
import { isInApp } from '../../events/protocol/in-app.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { FoundFile } from '../files/indexes.queries.ts'
import type { PartReader } from '../index-file/built-index.ts'
import { proguardParts, type RetracedFrame, retraceClass } from '../proguard/retrace-frame.ts'
import { retraceStack } from '../proguard/retrace-stack.ts'
import { classNamesIn, retraceText } from '../proguard/retrace-text.ts'
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
  const directory = await reader.directoryOf(orgId, file)
  if (directory === null) return event.exceptions
  const classes = [
    ...frames.map(({ module }) => module ?? ''),
    ...event.exceptions.flatMap((exception) => [classOf(exception), ...classNamesIn(exception.value ?? '')]),
  ]
  const part = await reader.load(orgId, file, proguardParts(directory, [...new Set(classes)]))
  for (const exception of event.exceptions)
    if (exception.stacktrace !== null)
      readStack(directory, part, event, exception.stacktrace, classOf(exception), replacements)
  for (const { stacktrace } of event.threads)
    if (stacktrace !== null) readStack(directory, part, event, stacktrace, null, replacements)
  if (frames.some((frame) => replacements.has(frame))) of.watcher?.onUsed(file.id)
  return event.exceptions.map((exception) => named(directory, part, exception))
}

const JVM = new Set(['java', 'android', 'kotlin'])
const isJvmFrame = (frame: Frame, { platform }: Event): boolean =>
  frame.module !== null && JVM.has(frame.platform ?? platform)

/** Short names are those of a shrinker: `a.b.c`, `d5.b`. */
const looksObfuscated = ({ module, function: name }: Frame): boolean =>
  /(?:^|\.)[a-zA-Z]\w?$/u.test(module ?? '') || /^[a-z]\w?$/u.test(name ?? '')

const classOf = ({ module, type }: Exception): string => (module === null ? (type ?? '') : `${module}.${type ?? ''}`)

function readStack(
  directory: Buffer,
  part: PartReader,
  event: Event,
  { frames: all }: Stacktrace,
  thrown: string | null,
  replacements: Replacements,
): void {
  // The mapping reads the innermost frame first.
  const frames = all.filter((frame) => isJvmFrame(frame, event)).toReversed()
  const readings = retraceStack(directory, part, {
    thrown,
    frames: frames.map(({ module, function: method, lineno: line, filename: file }) => ({
      className: module ?? '',
      method: method ?? '',
      line,
      file,
    })),
  })
  for (const [n, frame] of frames.entries()) {
    const [best] = readings[n] ?? []
    if (best === undefined || isUnchanged(best, frame)) continue
    const shown = best.some(({ isSynthesized }) => !isSynthesized) ? best.filter((one) => !one.isSynthesized) : best
    const platform = frame.platform ?? event.platform
    replacements.set(
      frame,
      shown.toReversed().map((one, place) => readableFrame(frame, one, place > 0, platform)),
    )
  }
}

const isUnchanged = (chain: readonly RetracedFrame[], { module, function: name, lineno }: Frame): boolean =>
  chain.length === 1 && chain[0]?.className === module && chain[0].method === name && chain[0].line === lineno

function named(directory: Buffer, part: PartReader, exception: Exception): Exception {
  const name = retraceClass(directory, part, classOf(exception))
  const value = exception.value === null ? null : retraceText(directory, part, exception.value)
  if (name === null) return value === exception.value ? exception : { ...exception, value }
  const dot = name.lastIndexOf('.')
  return { ...exception, value, type: name.slice(dot + 1), module: dot < 0 ? null : name.slice(0, dot) }
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
