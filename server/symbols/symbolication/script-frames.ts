import type { Frame } from '../../events/protocol/event.api.ts'
import { isInApp } from '../../events/protocol/in-app.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import { urlsToTry } from '../files/code-url.ts'
import type { FoundFile } from '../files/indexes.queries.ts'
import {
  findSource,
  type SourcePosition,
  type SourceContext,
  sourceContext,
  sourceContextParts,
  sourceMapParts,
} from '../source-maps/find-source.ts'
import { eachFrame, keepRaw, type Replacements, type Symbolication, unreadableFrame } from './readable-frame.ts'
import type { OpenIndex } from './open-index.ts'
import { isReady, type ReadyFile } from './symbol-reader.ts'

/**
 * Frames of JavaScript through source maps: by the debug id that the build put into the code, else by release and address
 * (`docs/symbols.md`).
 */

/** Lines around the line of a frame that are shown. */
const AROUND = 5

/** Adds the frames that a source map makes readable, and reasons for those that look minified and are not readable. */
export async function readScriptFrames(of: Symbolication, replacements: Replacements): Promise<void> {
  const frames = [...eachFrame(of.event)].filter((frame) => isCandidate(frame, frame.platform ?? of.event.platform))
  if (frames.length === 0) return
  const debugIds = debugIdsOf(of)
  const files = await filesOf(of, frames, debugIds)
  for (const [file, ofFile] of Map.groupBy(frames, (frame) => files.get(pathOf(frame)) ?? null)) {
    if (file !== 'wrong_build' && isReady(file)) {
      await readByFile(of, file, ofFile, replacements)
      continue
    }
    const generated = new Set(ofFile.filter((frame) => looksGenerated(frame, of)).map(pathOf))
    for (const frame of ofFile)
      if (file !== null || generated.has(pathOf(frame))) {
        const reason = file === 'wrong_build' ? file : file?.state === 'failed' ? 'broken_file' : 'missing_file'
        replacements.set(frame, unreadableFrame(frame, reason))
        of.watcher?.onMissing({
          kind: 'source_map',
          name: nameOf(frame),
          debugId: debugIds.get(pathOf(frame)) ?? null,
          reason,
        })
      }
  }
}

const pathOf = ({ abs_path, filename }: Frame): string => abs_path ?? filename ?? ''

/** Code of the platform itself has no map. */
const NOT_LOADED = /^(?:node:|internal\/|native$|\[native code\]$|<anonymous>$|$)/u

const isCandidate = (frame: Frame, platform: string): boolean =>
  (platform === 'javascript' || platform === 'node') && frame.lineno !== null && !NOT_LOADED.test(pathOf(frame))

/** Hermes and minifiers write few lines; authors write short ones. One such frame is enough for all of its file. */
const MIN_LONG_LINE = 300
const GENERATED_NAME = /\.(?:min|bundle|chunk)\.[cm]?js$|\.(?:js)?bundle$/u

const looksGenerated = (frame: Frame, { event }: Symbolication): boolean =>
  (frame.colno ?? 0) >= MIN_LONG_LINE ||
  GENERATED_NAME.test(pathOf(frame).replace(/[?#].*$/su, '')) ||
  event.debug_images.some(({ type, code_file: file }) => type === 'sourcemap' && file === pathOf(frame))

const nameOf = (frame: Frame): string => {
  const path = pathOf(frame).replace(/[?#].*$/su, '')
  return path.slice(path.lastIndexOf('/') + 1)
}

/** By the path of the code. */
function debugIdsOf({ event }: Symbolication): Map<string, string> {
  const debugIds = new Map<string, string>()
  for (const { type, code_file: file, debug_id: id } of event.debug_images)
    if (type === 'sourcemap' && typeof file === 'string' && typeof id === 'string' && isUuid(id))
      debugIds.set(file, id.toLowerCase())
  return debugIds
}

/** The map of a script; `wrong_build` where the map of this address belongs to code with another debug id. */
type CodeFile = FoundFile | 'wrong_build' | null

/** By the path of frames. */
async function filesOf(
  { reader, projectId, event }: Symbolication,
  frames: readonly Frame[],
  debugIds: ReadonlyMap<string, string>,
): Promise<Map<string, CodeFile>> {
  const paths = [...new Set(frames.map(pathOf))]
  const named = paths.flatMap((path) => debugIds.get(path) ?? [])
  const byId = new Map<string, FoundFile | null>()
  for (const [n, file] of (named.length === 0 ? [] : await reader.byDebugId(projectId, named)).entries())
    byId.set(named[n] ?? '', file)
  const files = new Map<string, CodeFile>(paths.map((path) => [path, byId.get(debugIds.get(path) ?? '') ?? null]))
  const { release, dist } = event
  const left = paths.filter((path) => files.get(path) === null)
  if (release === null || left.length === 0) return files
  const tries = left.flatMap((path) => urlsToTry(path).map((url) => ({ path, url })))
  const found = await reader.byUrl(
    projectId,
    { release, dist },
    tries.map(({ url }) => url),
  )
  for (const [n, { path }] of tries.entries()) {
    const file = found[n] ?? null
    if (file === null || (files.get(path) ?? null) !== null) continue
    const debugId = debugIds.get(path) ?? null
    files.set(path, debugId !== null && file.debugId !== null && file.debugId !== debugId ? 'wrong_build' : file)
  }
  return files
}

async function readByFile(
  of: Symbolication,
  file: ReadyFile,
  frames: readonly Frame[],
  replacements: Replacements,
): Promise<void> {
  const { reader, orgId, event, needsLine, watcher } = of
  const index = await reader.open(orgId, file)
  if (index === null) return
  const { directory } = index
  const positions = await index.positions.of(frames.map(placeOf), async (unknown) => {
    const queries = unknown.map((n) => ({ line: frames[n]?.lineno ?? 1, column: frames[n]?.colno ?? null }))
    const parts = queries.flatMap((query) => sourceMapParts(directory, query))
    const part = await reader.load(orgId, file, parts)
    return queries.map((query) => findSource(directory, part, query))
  })
  const lined: LinedFrame[] = []
  for (const [n, frame] of frames.entries()) {
    const position = positions[n] ?? null
    if (position === null) {
      replacements.set(frame, unreadableFrame(frame, 'no_line'))
      continue
    }
    const platform = frame.platform ?? event.platform
    const readable = readableFrame(frame, position, platform)
    replacements.set(frame, [readable])
    if (position.hasContent && needsLine?.(readable, platform) !== false)
      lined.push({ readable, position, place: placeOf(frame) })
  }
  if (positions.some((position) => position != null)) watcher?.onUsed(file.id)
  if (lined.length > 0) await addLines(of, file, index, lined)
}

/** Adds the lines around each frame for a page, for digestion its own line alone. */
async function addLines(
  { reader, orgId, needsLine }: Symbolication,
  file: ReadyFile,
  { directory, lines }: OpenIndex,
  frames: readonly LinedFrame[],
): Promise<void> {
  const around = needsLine === undefined ? AROUND : 0
  const contextsOf = async (some: readonly LinedFrame[]): Promise<(SourceContext | null)[]> => {
    const parts = some.flatMap(({ position }) => sourceContextParts(directory, position, around))
    const part = await reader.load(orgId, file, parts)
    return some.map(({ position: { sourceIndex, line } }) => sourceContext(directory, part, sourceIndex, line, around))
  }
  if (needsLine === undefined) {
    const contexts = await contextsOf(frames)
    for (const [n, { readable }] of frames.entries()) {
      const context = contexts[n] ?? null
      if (context === null) continue
      readable.context_line = context.line
      readable.pre_context = [...context.pre]
      readable.post_context = [...context.post]
    }
    return
  }
  const own = await lines.of(
    frames.map(({ place }) => place),
    async (unknown) => (await contextsOf(unknown.flatMap((n) => frames[n] ?? []))).map((one) => one?.line ?? null),
  )
  for (const [n, { readable }] of frames.entries()) readable.context_line = own[n] ?? readable.context_line
}

type LinedFrame = { readonly readable: Frame; readonly position: SourcePosition; readonly place: number | null }

/** Larger numbers are of no code. */
const MAX_LINE = 2 ** 20
const MAX_COLUMN = 2 ** 32 - 1

/** Line and column as one number; null where it would not be exact. */
function placeOf({ lineno, colno }: Frame): number | null {
  const [line, column] = [lineno ?? 1, colno === null ? 0 : colno + 1]
  return line < MAX_LINE && column < MAX_COLUMN ? line * 2 ** 32 + column : null
}

function readableFrame(frame: Frame, position: SourcePosition, platform: string): Frame {
  const readable: Frame = {
    ...frame,
    filename: cleanSource(position.source),
    abs_path: position.source,
    function: position.functionName ?? frame.function,
    module: null,
    lineno: position.line,
    colno: position.column,
    raw: keepRaw(frame),
  }
  readable.in_app = !position.isIgnored && isInApp(readable, platform)
  return readable
}

/** `webpack://shop/./src/cart.ts?3f2a` as `src/cart.ts`. */
const cleanSource = (source: string): string =>
  source
    .replace(/[?#].*$/su, '')
    .replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*\//iu, '')
    .replace(/^(?:\.{1,2}\/)+/u, '')
