import { parse, type ParserOptions, type ParserPlugin } from '@babel/parser'
import { flattenRanges, type FunctionRange, type FunctionRanges } from './function-ranges.ts'
import { nameFunctions } from './name-functions.ts'
import { tokenFunctions, type TokenDialect } from './token-functions.ts'

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
export const isScript = (source: string): boolean => languageOf(source) !== null

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
