import { SymbolFileError } from '../index-file/built-index.ts'
import { MAX_POSITION } from './decode-mappings.ts'
import { JsonText, type JsonPiece } from './json-pieces.ts'

/**
 * The members of a source map (ECMA-426), of an index map with `sections` or of a plain one, which is read as one section.
 * `x_facebook_sources` is Metro's ("x_facebook_sources" in the documentation of metro-source-map), `x_google_ignoreList`
 * the older name of `ignoreList`.
 */
export type SourceMapSection = {
  /** Zero-based position in the generated code where the section begins, and where the next one does. */
  readonly from: { readonly line: number; readonly column: number }
  readonly until: { readonly line: number; readonly column: number }
  readonly mappings: Uint8Array
  readonly sources: readonly MappedSource[]
  readonly names: readonly string[]
}

export type MappedSource = {
  /** The name as a reader knows it, below `sourceRoot`; null where the map has none. */
  readonly name: string | null
  readonly isIgnored: boolean
  /** A text. */
  readonly content: JsonPiece | null
  readonly functionMap: JsonPiece | null
}

type SourceMapText = { readonly json: JsonText; readonly sections: readonly SourceMapSection[] }

type Place = SourceMapSection['from']

const MAX_FILE_BYTES = 64 * 1024 * 1024
const MAX_SOURCES = 2_000_000
const MAX_NAMES = 5_000_000
/** A larger source is not shown: it is generated itself. */
const MAX_CONTENT_BYTES = 8 * 1024 * 1024
/** ECMA-426 forbids index maps in index maps, but tools that concatenate files write them. */
const MAX_NESTED_SECTIONS = 4
const END: Place = { line: MAX_POSITION, column: MAX_POSITION }

/** The members that are read, of maps, sections and offsets. */
const MEMBERS: ReadonlySet<string> = new Set([
  'version',
  'sections',
  'offset',
  'line',
  'column',
  'map',
  'url',
  'mappings',
  'sourceRoot',
  'sources',
  'sourcesContent',
  'names',
  'ignoreList',
  'x_google_ignoreList',
  'x_facebook_sources',
])

const MAX_SOURCE_NAME = 1_000
const MAX_NAME = 500

/** @throws SymbolFileError when the file is not a source map that can be used */
export function readSourceMap(file: Buffer): SourceMapText {
  if (file.length > MAX_FILE_BYTES) throw new SymbolFileError('The source map is larger than 64 MiB.')
  const json = new JsonText(trimPrefix(file))
  if (json.bytes.length === 0) throw new SymbolFileError('The file is empty.')
  refuseOtherFiles(json.bytes)
  const sections: SourceMapSection[] = []
  readMap(json, json.whole(), { line: 0, column: 0 }, END, 0, sections)
  const sources = sections.reduce((sum, section) => sum + section.sources.length, 0)
  if (sources > MAX_SOURCES) throw new SymbolFileError('The source map has more than 2 million sources.')
  if (sources === 0) {
    throw new SymbolFileError('The source map names no sources, so it cannot say where its code came from.')
  }
  return { json, sections }
}

/** @returns the file without byte order mark, the line `)]}'` that stops a browser from running it, and spaces */
export function trimPrefix(file: Buffer): Buffer {
  let from = file[0] === 0xef && file[1] === 0xbb && file[2] === 0xbf ? 3 : 0
  if (file.toString('latin1', from, from + 3) === ')]}') {
    const end = file.indexOf(0x0a, from)
    from = end === -1 ? file.length : end
  }
  while (from < file.length && (file[from] ?? 0) <= 0x20) from++
  return file.subarray(from)
}

/** @throws SymbolFileError when the first bytes are those of another file, such as a page of an error */
export function refuseOtherFiles(bytes: Buffer): void {
  if (bytes[0] === 0x7b) return
  if (bytes[0] === 0x3c) {
    throw new SymbolFileError(
      'The file is an HTML page, not a source map. The server that it was loaded from may have answered with an error page.',
    )
  }
  throw new SymbolFileError('The file is not JSON, so it is not a source map. Upload the file whose name ends in .map.')
}

function readMap(
  json: JsonText,
  piece: JsonPiece,
  from: Place,
  until: Place,
  depth: number,
  into: SourceMapSection[],
): void {
  if (!json.isObject(piece)) throw new SymbolFileError('The source map is not a JSON object.')
  const members = json.members(piece, MEMBERS)
  const version = members.get('version')
  const versionValue = version === undefined ? undefined : json.decode(version)
  if (versionValue !== 3 && versionValue !== '3') {
    throw new SymbolFileError(
      version === undefined
        ? 'The file is JSON without a version, so it is not a source map.'
        : 'The source map has not version 3. Build it with a tool that writes version 3.',
    )
  }
  const sections = members.get('sections')
  if (sections === undefined || !json.isArray(sections)) into.push(readPlainMap(json, members, from, until))
  else readSections(json, sections, from, until, depth, into)
}

function readSections(
  json: JsonText,
  piece: JsonPiece,
  from: Place,
  until: Place,
  depth: number,
  into: SourceMapSection[],
): void {
  if (depth === MAX_NESTED_SECTIONS) throw new SymbolFileError('The source map has sections in sections in sections.')
  let before: { readonly place: Place; readonly map: JsonPiece } | null = null
  for (const element of json.elements(piece)) {
    const members = json.isObject(element) ? json.members(element, MEMBERS) : new Map<string, JsonPiece>()
    const map = members.get('map')
    if (map === undefined) {
      throw new SymbolFileError(
        members.has('url')
          ? 'A section of the source map refers to another file by url. Upload a map that contains its sections.'
          : 'A section of the source map has no map.',
      )
    }
    const place = readOffset(json, members.get('offset'), from)
    if (before !== null) {
      if (comparePlaces(place, before.place) < 0) {
        throw new SymbolFileError('The sections of the source map are not in the order of their offsets.')
      }
      readMap(json, before.map, before.place, earlier(place, until), depth + 1, into)
    }
    before = { place, map }
  }
  if (before !== null) readMap(json, before.map, before.place, until, depth + 1, into)
}

const comparePlaces = (a: Place, b: Place): number => a.line - b.line || a.column - b.column
const earlier = (a: Place, b: Place): Place => (comparePlaces(a, b) < 0 ? a : b)

/** Offsets of sections in a section are relative to it; the column only in its first line. */
function readOffset(json: JsonText, piece: JsonPiece | undefined, outer: Place): Place {
  const members = piece !== undefined && json.isObject(piece) ? json.members(piece, MEMBERS) : null
  const read = (name: string): number => {
    const member = members?.get(name)
    const value = member === undefined ? null : json.decode(member)
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > MAX_POSITION) {
      throw new SymbolFileError('A section of the source map has no offset with a line and a column.')
    }
    return value
  }
  const line = read('line')
  const column = read('column')
  const place = { line: outer.line + line, column: line === 0 ? outer.column + column : column }
  if (place.line > MAX_POSITION || place.column > MAX_POSITION) {
    throw new SymbolFileError('A section of the source map has an offset that is too large.')
  }
  return place
}

function readPlainMap(
  json: JsonText,
  members: ReadonlyMap<string, JsonPiece>,
  from: Place,
  until: Place,
): SourceMapSection {
  const mappings = members.get('mappings')
  if (mappings === undefined) throw new SymbolFileError('The source map has no mappings.')
  if (!json.isText(mappings)) throw new SymbolFileError('The mappings of the source map are not a text.')
  const sources = members.get('sources')
  if (sources === undefined || !json.isArray(sources))
    throw new SymbolFileError('The source map has no list of sources.')
  const sourceNames = readTexts(json, sources, MAX_SOURCES, 'sources')
  const root = members.get('sourceRoot')
  const rootName = root !== undefined && json.isText(root) ? decodeText(json, root).slice(0, MAX_SOURCE_NAME) : ''
  const ignored = readIgnored(json, members, sourceNames.length)
  const contents = listPieces(json, members.get('sourcesContent'), sourceNames.length)
  const functionMaps = listPieces(json, members.get('x_facebook_sources'), sourceNames.length)
  return {
    from,
    until,
    mappings: readMappings(json, mappings),
    sources: sourceNames.map((name, index) => ({
      name: name === null ? null : resolveSource(name, rootName),
      isIgnored: ignored[index] === 1,
      content: findContent(json, contents[index]),
      functionMap: functionMaps[index] ?? null,
    })),
    names: readTexts(json, members.get('names'), MAX_NAMES, 'names').map((name) => name?.slice(0, MAX_NAME) ?? ''),
  }
}

/** @returns the base64 digits without a copy; they contain no escapes, except where a tool escapes `/` */
function readMappings(json: JsonText, piece: JsonPiece): Uint8Array {
  const bytes = json.bytes.subarray(piece.from + 1, piece.to - 1)
  return bytes.includes(0x5c) ? Buffer.from(String(json.decode(piece)), 'latin1') : bytes
}

/**
 * Reads a list of texts one by one: a list of other values would take many times its bytes as a whole.
 * @returns null in place of other values
 */
function readTexts(json: JsonText, list: JsonPiece | undefined, max: number, what: string): (string | null)[] {
  const texts: (string | null)[] = []
  if (list === undefined || !json.isArray(list)) return texts
  for (const piece of json.elements(list)) {
    if (texts.length === max) throw new SymbolFileError(`The source map has more than ${max / 1e6} million ${what}.`)
    texts.push(json.isText(piece) ? decodeText(json, piece) : null)
  }
  return texts
}

const decodeText = (json: JsonText, piece: JsonPiece): string => String(json.decode(piece))

/** @returns the first pieces of a list, as many as there are sources */
function listPieces(json: JsonText, piece: JsonPiece | undefined, count: number): JsonPiece[] {
  const pieces: JsonPiece[] = []
  if (piece === undefined || !json.isArray(piece)) return pieces
  for (const element of json.elements(piece)) {
    if (pieces.length === count) break
    pieces.push(element)
  }
  return pieces
}

const findContent = (json: JsonText, piece: JsonPiece | undefined): JsonPiece | null =>
  piece !== undefined && json.isText(piece) && piece.to - piece.from <= MAX_CONTENT_BYTES ? piece : null

/** @returns 1 for each source that is ignored */
function readIgnored(json: JsonText, members: ReadonlyMap<string, JsonPiece>, count: number): Uint8Array {
  const ignored = new Uint8Array(count)
  const list = [members.get('ignoreList'), members.get('x_google_ignoreList')].find(
    (piece) => piece !== undefined && json.isArray(piece),
  )
  for (const piece of list === undefined ? [] : json.elements(list)) {
    const index = json.isArray(piece) || json.isObject(piece) ? null : json.decode(piece)
    if (typeof index === 'number' && index >= 0 && index < count) ignored[index] = 1
  }
  return ignored
}

const ABSOLUTE = /^(?:[a-z][a-z0-9+.-]*:|\/)/i

/** @returns `source` below `sourceRoot`, with `.` and `..` resolved where a folder is left to leave */
function resolveSource(source: string, sourceRoot: string): string {
  const root =
    sourceRoot === '' || ABSOLUTE.test(source) ? '' : sourceRoot.endsWith('/') ? sourceRoot : `${sourceRoot}/`
  const full = (root + source).slice(0, MAX_SOURCE_NAME)
  if (!/(?:^|\/)\.\.?(?:\/|$)/.test(full)) return full
  const origin = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/]*)?\/?/i.exec(full)?.[0] ?? ''
  const kept: string[] = []
  for (const folder of full.slice(origin.length).split('/')) {
    if (folder === '.') continue
    if (folder !== '..') kept.push(folder)
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop()
    else if (origin === '') kept.push(folder)
  }
  return origin + kept.join('/')
}
