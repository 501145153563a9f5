import type { ParseResult } from 'libpg-query'
import { PLACES } from './allowed-nodes.ts'
import type { ViewName } from '../catalogue.ts'
import { guardTree } from './guard-tree.ts'
import { RefusedStatement } from './refused-statement.ts'
import { sameTree } from './tree.ts'

/** Text → tree → guard → text. Loads the parser, so only a thread of its own may import it. */

/** The parser and the printer, loaded once per thread. */
export type Grammar = {
  readonly parse: (text: string) => ParseResult
  readonly print: (tree: ParseResult) => string
}

/** Loads parser and printer: 1.8 MB of WebAssembly and 1 MB of scripts. */
export async function loadGrammar(): Promise<Grammar> {
  const [{ loadModule, parseSync }, { deparseSync }] = await Promise.all([
    import('libpg-query'),
    import('pgsql-deparser'),
  ])
  await loadModule()
  return { parse: parseSync, print: (tree) => breakLines(deparseSync(tree, { pretty: false })) }
}

/** Quoted texts, brackets, and the spaces before clauses. */
const PIECE =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|[()]| (?=(?:FROM|WHERE|GROUP BY|HAVING|WINDOW|ORDER BY|LIMIT|UNION|INTERSECT|EXCEPT)\b)/g

/** Clauses of the outermost SELECT begin lines. */
function breakLines(sql: string): string {
  let depth = 0
  return sql.replaceAll(PIECE, (piece) => {
    if (piece === '(') depth += 1
    else if (piece === ')') depth -= 1
    return piece === ' ' && depth === 0 ? '\n' : piece
  })
}

export type GuardedStatement = {
  /** The printed tree with the filters: this runs. */
  readonly sql: string
  /** The printed tree without them. */
  readonly written: string
  /** The ranges of `sql` that are not in `written`, in characters. */
  readonly additions: readonly { readonly from: number; readonly to: number }[]
  readonly views: readonly ViewName[]
}

/** An error of the parser that says where the text is wrong; other errors may leave it unusable. */
export const isSyntaxError = (error: unknown): error is Error & { sqlDetails: { cursorPosition: number } } =>
  error instanceof Error &&
  'sqlDetails' in error &&
  typeof error.sqlDetails === 'object' &&
  error.sqlDetails !== null &&
  'cursorPosition' in error.sqlDetails &&
  typeof error.sqlDetails.cursorPosition === 'number'

/**
 * Checks a statement and adds the filter of the project.
 * @throws RefusedStatement
 * @throws Error of the parser
 */
export function readStatement({ parse, print }: Grammar, text: string, projectId: string): GuardedStatement {
  const tree = parse(text)
  const statements = tree.stmts ?? []
  const [only] = statements
  if (only === undefined) throw new RefusedStatement('statements', 'It holds no statement.')
  if (statements.length > 1) throw new RefusedStatement('statements', 'Only one statement can run.')
  const { views } = guardTree(only.stmt, projectId)
  const sql = print(tree)
  // Only what was checked runs: the printed text has the same tree.
  if (!sameTree(withoutPlaces(parse(sql)), withoutPlaces(tree), PLACES))
    throw new RefusedStatement('printed', 'It cannot be written in a form that means exactly the same.')
  const plain = print(parse(text))
  return { sql, written: plain, additions: additionsIn(sql, plain), views }
}

/** The statements alone: the length of the text belongs to its place. */
const withoutPlaces = ({ stmts }: ParseResult): unknown => (stmts ?? []).map(({ stmt }) => stmt)

const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|[^\s]/g

/**
 * The ranges of the tokens of `longer` that are not in `shorter`, which has the others in the same order. Removing them
 * leaves the tokens of `shorter`.
 */
function additionsIn(longer: string, shorter: string): { from: number; to: number }[] {
  const tokens = [...longer.matchAll(TOKENS)].map(({ 0: text, index }) => ({ text, index, isAdded: true }))
  const wanted = shorter.match(TOKENS) ?? []
  let next = 0
  for (const token of tokens)
    if (token.text === wanted[next]) {
      token.isAdded = false
      next++
    }
  if (next < wanted.length) return []
  // A sub-select ends with words that may also follow it: its own are those inside.
  for (let end = tokens.length - 1; end > 0; end--) {
    const [token, after] = [tokens[end], tokens[end + 1]]
    if (token === undefined || !token.isAdded || after?.isAdded === true || !CLOSING.has(token.text)) continue
    let start = end
    while (tokens[start]?.isAdded === true) start--
    const before = tokens[start]
    if (before?.text !== token.text) continue
    before.isAdded = true
    token.isAdded = false
  }
  const additions: { from: number; to: number }[] = []
  for (const [i, { text, index, isAdded }] of tokens.entries()) {
    const last = additions.at(-1)
    if (!isAdded) continue
    if (last !== undefined && tokens[i - 1]?.isAdded === true) last.to = index + text.length
    else additions.push({ from: index, to: index + text.length })
  }
  return additions
}

const CLOSING: ReadonlySet<string> = new Set(['WHERE', ')', ','])
