import { runInNewContext } from 'node:vm'
import { threadCpuMs } from '#server/platform/kernel/thread-task.ts'
import type { JsonPiece, JsonText } from './json-pieces.ts'
import type { MappedSource } from './read-source-map.ts'
import { MAX_POSITION, readVlq } from './decode-mappings.ts'
import { FunctionRanges, type FunctionPlace, flattenRanges, type FunctionRange } from './function-ranges.ts'
import { SymbolFileError } from '../index-file/built-index.ts'
import { parse, type ParserOptions, type ParserPlugin } from '@babel/parser'
import { nameFunctions } from './name-functions.ts'
import { tokenFunctions, type TokenDialect } from './token-functions.ts'

/**
 * This many bytes of source are parsed, those of the application first: 0.05 s per megabyte, and ten times that for a source
 * that was written to take long.
 */
const MAX_PARSED_BYTES = 16 * 1024 * 1024

/** A function map of one source has a few kilobytes. */
const MAX_FUNCTION_MAP_BYTES = 4 * 1024 * 1024

/**
 * A source that takes longer was written to: the parser tries some constructs twice, and nested ones more often. Processor
 * time, because the machine may have other work.
 */
const MAX_SOURCE_CPU_MS = 1_000
/** A run of the parser ends after this time, or twice the time where the machine gave it little of the processor. */
const FIRST_RUN_MS = 2_000
const MAX_RUNS = 5

type Script = { readonly index: number; readonly name: string; readonly content: JsonPiece }

/** Reads the functions of sources, by index: from Metro's function maps, otherwise from the contents of scripts. */
export function readFunctions(json: JsonText, sources: readonly MappedSource[]): Map<number, FunctionRanges> {
  const functions = new Map<number, FunctionRanges>()
  const scripts: Script[] = []
  for (const [index, { name, content, functionMap }] of sources.entries()) {
    const isRead = functionMap !== null && functionMap.to - functionMap.from <= MAX_FUNCTION_MAP_BYTES
    const found = isRead ? readMetroFunctions(json.decode(functionMap)) : null
    if (found !== null) functions.set(index, found)
    else if (name !== null && content !== null && isScript(name)) scripts.push({ index, name, content })
  }
  const chosen = chooseScripts(scripts, sources)
  let next = 0
  let startedAtMs = 0
  const parseRest = (): void => {
    for (; next < chosen.length; next++) {
      startedAtMs = threadCpuMs()
      const script = chosen[next]
      const text = script === undefined ? null : json.decode(script.content)
      const found = script !== undefined && typeof text === 'string' ? findFunctions(script.name, text) : null
      if (script !== undefined && found !== null) functions.set(script.index, found)
    }
  }
  let timeoutMs = FIRST_RUN_MS
  for (let run = 0; next < chosen.length && run < MAX_RUNS; run++) {
    if (runWithin(timeoutMs, parseRest)) break
    // The machine may have had no time for this source: it is tried again after the others.
    const [interrupted] = chosen.splice(next, 1)
    if (threadCpuMs() - startedAtMs >= MAX_SOURCE_CPU_MS || interrupted === undefined) continue
    chosen.push(interrupted)
    timeoutMs *= 2
  }
  return functions
}

/** @returns the scripts of the application, then those of packages, as far as the limit allows */
function chooseScripts(scripts: readonly Script[], sources: readonly MappedSource[]): Script[] {
  const isForeign = ({ index, name }: Script): boolean =>
    sources[index]?.isIgnored === true || name.includes('node_modules/')
  const ordered = [...scripts.filter((script) => !isForeign(script)), ...scripts.filter(isForeign)]
  let left = MAX_PARSED_BYTES
  return ordered.filter(({ content }) => {
    const size = content.to - content.from
    if (size > left) return false
    left -= size
    return true
  })
}

/**
 * Runs `work`, and ends it where it is after a time: only what a virtual machine runs can be ended from outside.
 * @returns whether it came to its end
 */
function runWithin(timeoutMs: number, work: () => void): boolean {
  try {
    runInNewContext('work()', { work }, { timeout: timeoutMs })
    return true
  } catch (error) {
    // The error belongs to the other context: it is no instance of this one's `Error`.
    const isTimeout =
      typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
    if (isTimeout) return false
    throw error
  }
}

/**
 * Reads a function map of Metro: the first element of a source's entry in `x_facebook_sources`, `{names, mappings}` (the
 * format is described in Metro's documentation, "Source map format"). In `mappings` lines are separated by `;`, segments
 * by `,`; the numbers of a segment are column, name and line in base64 VLQ, relative to the segment before; the column
 * begins at 0 in each line of the map, the line at 1.
 *
 * @returns null when the entry holds no function map, or a damaged one: the positions of its source are right without it
 */
export function readMetroFunctions(entry: unknown): FunctionRanges | null {
  const map: unknown = Array.isArray(entry) ? entry[0] : null
  if (typeof map !== 'object' || map === null || !('names' in map) || !('mappings' in map)) return null
  const { names, mappings } = map
  if (!Array.isArray(names) || typeof mappings !== 'string') return null
  try {
    const places = decodePlaces(Buffer.from(mappings, 'latin1'), names)
    places.sort((a, b) => a.line - b.line || a.column - b.column)
    return new FunctionRanges(places)
  } catch (error) {
    if (error instanceof SymbolFileError) return null
    throw error
  }
}

const COMMA = 0x2c
const SEMICOLON = 0x3b
const MAX_NAME = 500

function decodePlaces(bytes: Buffer, names: readonly unknown[]): FunctionPlace[] {
  const places: FunctionPlace[] = []
  const cursor = { at: 0 }
  let line = 0
  let column = 0
  let nameIndex = 0
  const isInSegment = (): boolean =>
    cursor.at < bytes.length && bytes[cursor.at] !== COMMA && bytes[cursor.at] !== SEMICOLON
  for (; cursor.at < bytes.length; cursor.at++) {
    if (isInSegment()) {
      column += readVlq(bytes, cursor, bytes.length)
      if (isInSegment()) nameIndex += readVlq(bytes, cursor, bytes.length)
      if (isInSegment()) line += readVlq(bytes, cursor, bytes.length)
      while (isInSegment()) readVlq(bytes, cursor, bytes.length)
      const name = names[nameIndex]
      if (line < 0 || line > MAX_POSITION || column < 0 || column > MAX_POSITION || typeof name !== 'string') {
        throw new SymbolFileError('The function map points outside its source or its names.')
      }
      places.push({ line, column, name: name.slice(0, MAX_NAME) })
    }
    if (bytes[cursor.at] === SEMICOLON) column = 0
  }
  return places
}

/** Larger sources are almost always built files themselves, and their trees need hundreds of megabytes. */
const MAX_SOURCE_CHARACTERS = 2 * 1024 * 1024

const PERMISSIVE: ParserOptions = {
  errorRecovery: true,
  sourceType: 'module',
  allowAwaitOutsideFunction: true,
  allowImportExportEverywhere: true,
  allowNewTargetOutsideFunction: true,
  allowReturnOutsideFunction: true,
  allowSuperOutsideMethod: true,
  allowUndeclaredExports: true,
  attachComment: false,
}

const ALWAYS: readonly ParserPlugin[] = ['decorators-legacy', 'exportDefaultFrom', 'explicitResourceManagement']

/** @returns whether functions can be read in a source of this name */
const isScript = (source: string): boolean => languageOf(source) !== null

/** Finds the functions of a source. @returns null when its language is not JavaScript, or no parser finds sense in it */
export function findFunctions(source: string, text: string): FunctionRanges | null {
  const language = languageOf(source)
  if (language === null || text.length > MAX_SOURCE_CHARACTERS) return null
  const script = language.isPage ? cutScript(text) : { text, from: 0 }
  const ranges = inFirst(language.dialects, (dialect) => tokenFunctions(script.text, dialect.tokens))
  // The tree of Babel knows more syntax, and reads on after errors.
  const found = ranges ?? inFirst(language.dialects, (dialect) => treeFunctions(script.text, dialect.plugins))
  return found === null ? null : flattenRanges(found, text, script.from)
}

/** @returns the functions in the first dialect that can read the text */
function inFirst(
  dialects: readonly Dialect[],
  read: (dialect: Dialect) => FunctionRange[] | null,
): FunctionRange[] | null {
  for (const dialect of dialects) {
    try {
      const ranges = read(dialect)
      if (ranges !== null) return ranges
    } catch {
      // A syntax that this dialect does not have, or nesting beyond the stack. The next one may know it.
    }
  }
  return null
}

const treeFunctions = (text: string, plugins: readonly ParserPlugin[]): FunctionRange[] =>
  nameFunctions(parse(text, { ...PERMISSIVE, plugins: [...ALWAYS, ...plugins] }).program)

/** A set of languages that a parser reads at once. */
type Dialect = { readonly tokens: TokenDialect; readonly plugins: readonly ParserPlugin[] }

type Language = {
  /** The first that can read the text is used. */
  readonly dialects: readonly Dialect[]
  /** A component in a page of markup: its functions are in its `<script>`. */
  readonly isPage: boolean
}

const TYPESCRIPT: Dialect = { tokens: { jsx: false, types: 'typescript' }, plugins: ['typescript'] }
const TYPESCRIPT_JSX: Dialect = { tokens: { jsx: true, types: 'typescript' }, plugins: ['typescript', 'jsx'] }
const FLOW_JSX: Dialect = { tokens: { jsx: true, types: 'flow' }, plugins: ['flow', 'flowComments', 'jsx'] }
const JSX: Dialect = { tokens: { jsx: true, types: null }, plugins: ['jsx'] }

function languageOf(source: string): Language | null {
  // Bundlers append queries to the names of virtual files: `App.vue?vue&type=script&lang=ts`.
  const path = source.replace(/[?#].*$/s, '')
  const ending = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase()
  if (ending === undefined) return { dialects: [FLOW_JSX, TYPESCRIPT_JSX], isPage: false }
  if (ending === 'ts' || ending === 'mts' || ending === 'cts') {
    return { dialects: [TYPESCRIPT, TYPESCRIPT_JSX], isPage: false }
  }
  if (ending === 'tsx') return { dialects: [TYPESCRIPT_JSX], isPage: false }
  if (ending === 'js' || ending === 'jsx' || ending === 'mjs' || ending === 'cjs' || ending === 'es') {
    // Most have no types, and are read faster without looking for them.
    return { dialects: [JSX, FLOW_JSX, TYPESCRIPT_JSX], isPage: false }
  }
  if (ending === 'vue' || ending === 'svelte') return { dialects: [TYPESCRIPT, FLOW_JSX], isPage: true }
  return null
}

/** Cuts the script out of a component of Vue or Svelte. A source that a bundler has cut before is a script as a whole. */
function cutScript(text: string): { text: string; from: number } {
  const opening = /<script\b[^>]{0,1000}>/i.exec(text)
  if (opening === null) return { text: text.trimStart().startsWith('<') ? '' : text, from: 0 }
  const from = opening.index + opening[0].length
  const end = text.indexOf('</script', from)
  return { text: text.slice(from, end === -1 ? text.length : end), from }
}
