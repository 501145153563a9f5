import { stat } from 'node:fs/promises'
import { relative, resolve, sep, basename, dirname, join } from 'node:path'
import { codeUrl } from '../files/code-url.ts'
import { SymbolFileError } from '../index-file/built-index.ts'
import { debugIdInEdges, readEdges } from '../source-maps/file-edges.ts'
import { refuseOtherFiles, trimPrefix } from '../source-maps/read-source-map.ts'
import { checkSize } from './check-size.ts'
import { type Plan, type PlannedUpload, UploadError } from './plan.ts'
import { type FoundFile, walkFiles } from './walk-files.ts'
import { readDebugId, readSourceMapUrl } from '../source-maps/debug-id.ts'

type SourceMapOptions = {
  readonly release?: string
  readonly dist?: string
  readonly urlPrefix: string
}

const CODE = /\.(?:[cm]?js|bundle|jsbundle)$/iu
const MAP = /\.map$/iu
/** Maps of styles and of declarations: no frame is in them. */
const OTHER_MAP = /\.(?:css|d\.[cm]?ts)\.map$/iu
const MAX_ADDRESS = 1_000

/**
 * Finds source maps, and beside them the code that they describe. The path of the code below the folder is its address,
 * behind the prefix.
 * @throws UploadError when a path or the prefix is of no use
 */
export async function findSourceMaps(paths: readonly string[], options: SourceMapOptions): Promise<Plan> {
  const maps = new Map<string, FoundFile>()
  const codes = new Map<string, Code>()
  const problems: string[] = []
  for await (const file of walkFiles(paths)) {
    const isCode = CODE.test(file.path)
    if (!isCode && (file.isNamed || (MAP.test(file.path) && !OTHER_MAP.test(file.path))))
      maps.set(resolve(file.path), file)
    if (!isCode) continue
    const code = await readCode(file.path)
    for (const path of code.mapPaths) if (!codes.has(resolve(path))) codes.set(resolve(path), code)
    if (!file.isNamed) continue
    const map = await firstFile(code.mapPaths)
    if (map !== null) maps.set(resolve(map.path), { ...file, ...map })
    else if (code.hasMapInside)
      problems.push(`${file.path}: The source map is inside the code. Have the build write it as a file of its own.`)
    else
      problems.push(`${file.path}: This is code, and ${code.mapPaths[0] ?? ''} is not there. Build with source maps.`)
  }
  const uploads: PlannedUpload[] = []
  const unnamed: string[] = []
  for (const [place, map] of maps) {
    const planned = await planMap(map, codes.get(place) ?? (await codeBeside(map.path)), options)
    if (typeof planned === 'string') problems.push(`${map.path}: ${planned}`)
    else if (options.release === undefined && planned.fields['debug_id'] === undefined) unnamed.push(map.path)
    else uploads.push(planned)
  }
  if (unnamed.length > 0) problems.push(releaseMissing(unnamed))
  return { uploads, leftOut: [], problems }
}

const releaseMissing = ([first = '', ...others]: readonly string[]): string =>
  `${first}${others.length === 0 ? ' has' : ` and ${others.length} more have`} no debug id. Name the release with --release, as the app sends it.`

async function firstFile(paths: readonly string[]): Promise<{ path: string; sizeBytes: number } | null> {
  for (const path of paths) {
    const found = await stat(path).catch(() => null)
    if (found?.isFile() === true) return { path, sizeBytes: found.size }
  }
  return null
}

/** The code of a map that was named without it. */
async function codeBeside(mapPath: string): Promise<Code | undefined> {
  const path = mapPath.replace(MAP, '')
  return path !== mapPath && CODE.test(path) && (await firstFile([path])) !== null ? readCode(path) : undefined
}

/** @returns a sentence when the file cannot be sent */
async function planMap(
  { path, sizeBytes, root }: FoundFile,
  code: Code | undefined,
  { release, dist, urlPrefix }: SourceMapOptions,
): Promise<PlannedUpload | string> {
  const wrongSize = checkSize(sizeBytes, 'js_source_map')
  if (wrongSize !== null) return wrongSize
  const edges = await readEdges(path)
  try {
    refuseOtherFiles(trimPrefix(edges))
  } catch (error) {
    if (error instanceof SymbolFileError) return error.message
    throw error
  }
  const below = relative(root, code?.path ?? path.replace(MAP, ''))
    .split(sep)
    .join('/')
  const filename = codeUrl(`${urlPrefix}${urlPrefix.endsWith('/') ? '' : '/'}${below}`)
  if (filename === null || filename.length > MAX_ADDRESS)
    throw new UploadError('--url-prefix must be an address such as ~/static or https://example.com/static.')
  const debugId = debugIdInEdges(edges) ?? code?.debugId ?? null
  return {
    path,
    sizeBytes,
    to: 'source-maps',
    fields: {
      symbolication_type: 'js_source_map',
      filename,
      ...(release === undefined ? {} : { release }),
      ...(dist === undefined ? {} : { dist }),
      ...(debugId === null ? {} : { debug_id: debugId }),
    },
    names: [filename, ...(debugId === null ? [] : [debugId])],
  }
}

/** Generated code beside source maps. */
type Code = {
  readonly path: string
  /** By which events name the code. */
  readonly debugId: string | null
  /** Where its map may be, the best first. */
  readonly mapPaths: readonly string[]
  /** Whether the map is in the code, as a `data:` URL. */
  readonly hasMapInside: boolean
}

async function readCode(path: string): Promise<Code> {
  const edges = await readEdges(path)
  const url = readSourceMapUrl(edges)
  const hasMapInside = url?.startsWith('data:') === true
  const named = url === null || hasMapInside ? [] : [placeOf(path, url)]
  return { path, debugId: readDebugId(edges), mapPaths: [...named, `${path}.map`], hasMapInside }
}

/** An address on a server gives only a name: the map is where the build wrote it. */
function placeOf(path: string, url: string): string {
  const local = url.replace(/[?#].*$/su, '')
  const name = /^(?:[a-z][a-z0-9+.-]*:|\/)/iu.test(local) ? basename(local) : local
  return join(dirname(path), decoded(name))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
