import { parse, type ParserOptions, type ParserPlugin } from '@babel/parser'
import { nameFunctions } from './name-functions.ts'
import { flattenRanges, type FunctionRanges } from './function-ranges.ts'

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

/** Finds the functions of a source. @returns null when its language is not JavaScript, or the parser finds no sense in it */
export function findFunctions(source: string, text: string): FunctionRanges | null {
  const language = languageOf(source)
  if (language === null || text.length > MAX_SOURCE_CHARACTERS) return null
  for (const plugins of language.plugins) {
    try {
      const script = language.isPage ? cutScript(text) : { text, startLine: 1, startColumn: 0, isTyped: false }
      const tree = parse(script.text, {
        ...PERMISSIVE,
        startLine: script.startLine,
        startColumn: script.startColumn,
        plugins: [...ALWAYS, ...plugins],
      })
      return flattenRanges(nameFunctions(tree.program))
    } catch {
      // A syntax that this set of plug-ins does not know, or nesting beyond the stack. The next set may know it.
    }
  }
  return null
}

type Language = {
  /** Sets of plug-ins; the first that can read the text is used. */
  readonly plugins: readonly (readonly ParserPlugin[])[]
  /** A component in a page of markup: its functions are in its `<script>`. */
  readonly isPage: boolean
}

const TYPESCRIPT: readonly ParserPlugin[] = ['typescript']
const TYPESCRIPT_JSX: readonly ParserPlugin[] = ['typescript', 'jsx']
const FLOW_JSX: readonly ParserPlugin[] = ['flow', 'flowComments', 'jsx']

function languageOf(source: string): Language | null {
  // Bundlers append queries to the names of virtual files: `App.vue?vue&type=script&lang=ts`.
  const path = source.replace(/[?#].*$/s, '')
  const ending = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase()
  if (ending === undefined) return { plugins: [FLOW_JSX, TYPESCRIPT_JSX], isPage: false }
  if (ending === 'ts' || ending === 'mts' || ending === 'cts')
    return { plugins: [TYPESCRIPT, TYPESCRIPT_JSX], isPage: false }
  if (ending === 'tsx') return { plugins: [TYPESCRIPT_JSX], isPage: false }
  if (ending === 'js' || ending === 'jsx' || ending === 'mjs' || ending === 'cjs' || ending === 'es') {
    return { plugins: [FLOW_JSX, ['jsx'], TYPESCRIPT_JSX], isPage: false }
  }
  if (ending === 'vue' || ending === 'svelte') return { plugins: [TYPESCRIPT, FLOW_JSX], isPage: true }
  return null
}

/** Cuts the script out of a component of Vue or Svelte. A source that a bundler has cut before is a script as a whole. */
function cutScript(text: string): { text: string; startLine: number; startColumn: number } {
  const opening = /<script\b[^>]{0,1000}>/i.exec(text)
  if (opening === null) return { text: text.trimStart().startsWith('<') ? '' : text, startLine: 1, startColumn: 0 }
  const from = opening.index + opening[0].length
  const end = text.indexOf('</script', from)
  const lines = text.slice(0, from).split(/\r\n|[\n\r\u2028\u2029]/)
  return {
    text: text.slice(from, end === -1 ? text.length : end),
    startLine: lines.length,
    startColumn: lines.at(-1)?.length ?? 0,
  }
}
