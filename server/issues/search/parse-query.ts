import { invalid } from '../../platform/kernel/errors.ts'
import { type Bounds, resolveKeyAlias, readKeyTerm, knowsKey } from './query-keys.ts'
import type { Span } from './query-error.ts'
import { endsTerm, isBeginning, QueryLexer } from './query-lexer.ts'
import { MAX_QUERY_CHARACTERS } from '#shared/limits.ts'
import { splitSearchTerms } from './index-terms.ts'
import { grouped, MAX_DEPTH, MAX_SCANNED_VALUES, MAX_TERMS, negated, type Query } from './query.ts'

/**
 * Parses a query (docs/search.md) to a tree, or null if it is empty, which every issue matches. Time is linear in its
 * length, and depth is limited.
 * @param name name of the query in error messages
 * @throws AppError invalid, with the position
 */
export const parseQuery = (text: string, name = 'q'): Query | null => readQuery(text, name).query

/** A key as the query writes it, or the key after `has:`; and its term. */
type KeyPlace = Span & { readonly key: string; readonly term: Query }

/** Parses a query as {@link parseQuery} does, and also returns the places of its keys. */
export function readQuery(
  text: string,
  name = 'q',
): { readonly query: Query | null; readonly keys: readonly KeyPlace[] } {
  if (text.length > MAX_QUERY_CHARACTERS)
    throw invalid(`${name} must be at most ${MAX_QUERY_CHARACTERS.toLocaleString('en')} characters.`)
  const parser = new Parser(new QueryLexer(text, name))
  const query = parser.all()
  return { query, keys: parser.keys }
}

class Parser {
  readonly #lexer: QueryLexer
  readonly keys: KeyPlace[] = []
  #terms = 0
  #scanned = 0

  constructor(lexer: QueryLexer) {
    this.#lexer = lexer
  }

  all(): Query | null {
    const query = this.#or(0)
    if (!this.#lexer.isAtEnd) throw this.#lexer.refusal('a parenthesis is closed that was not opened')
    return query
  }

  /** Terms and groups joined by OR. */
  #or(depth: number): Query | null {
    const parts: (Query | null)[] = []
    for (;;) {
      parts.push(this.#and(depth, parts.length > 0))
      const at = this.#lexer.at
      if (!this.#lexer.takeKeyword('OR')) return grouped('or', parts)
      this.#mustFollow('OR', at)
    }
  }

  /** Terms and groups side by side or joined by AND. */
  #and(depth: number, isNeeded: boolean): Query | null {
    const lexer = this.#lexer
    const parts: (Query | null)[] = []
    for (;;) {
      lexer.skipSpace()
      const at = lexer.at
      if (lexer.takeKeyword('AND')) {
        if (parts.length === 0) throw lexer.refusal('AND has nothing before it', at)
        this.#mustFollow('AND', at)
        continue
      }
      if (lexer.isAtEnd || lexer.peek() === ')' || this.#is('OR')) {
        if (parts.length === 0 && (isNeeded || this.#is('OR'))) throw lexer.refusal('OR needs a term on both sides')
        return grouped('and', parts)
      }
      parts.push(this.#one(depth))
    }
  }

  /** Whether the keyword is next. */
  #is(word: string): boolean {
    const { at } = this.#lexer
    const is = this.#lexer.takeKeyword(word)
    this.#lexer.at = at
    return is
  }

  #mustFollow(word: string, at: number): void {
    this.#lexer.skipSpace()
    const isAtEnd = this.#lexer.isAtEnd || this.#lexer.peek() === ')'
    if (isAtEnd || (word === 'AND' && (this.#is('AND') || this.#is('OR'))))
      throw this.#lexer.refusal(`${word} has nothing after it`, at)
  }

  /** A term or a group, possibly negated. */
  #one(depth: number): Query | null {
    const lexer = this.#lexer
    const sign = lexer.peek()
    // A sign before another sign, or alone, is text: `--verbose`, `- `.
    if ((sign === '-' || sign === '!') && isBeginning(lexer.peek(1))) {
      lexer.at++
      return negated(this.#plain(depth))
    }
    const at = lexer.at
    if (lexer.takeKeyword('NOT')) {
      this.#mustFollow('NOT', at)
      // NOT counts as a level of depth, so that a chain of NOTs is limited too.
      this.#mustNotBeDeeper(depth, at)
      return negated(this.#one(depth + 1))
    }
    return this.#plain(depth)
  }

  #mustNotBeDeeper(depth: number, at: number): void {
    if (depth >= MAX_DEPTH) throw this.#lexer.refusal(`groups go at most ${MAX_DEPTH} deep`, at)
  }

  #plain(depth: number): Query | null {
    const lexer = this.#lexer
    if (lexer.peek() !== '(') return this.#term()
    const at = lexer.at
    this.#mustNotBeDeeper(depth, at)
    lexer.at++
    lexer.skipSpace()
    if (lexer.peek() === ')')
      throw lexer.refusal('the parentheses hold nothing; quote text that has parentheses in it', at)
    const group = this.#or(depth + 1)
    if (lexer.peek() !== ')') throw lexer.refusal('the parenthesis is not closed', at, { to: at + 1 })
    lexer.at++
    return group
  }

  #term(): Query | null {
    const lexer = this.#lexer
    const at = lexer.at
    this.#count(1, at)
    for (const word of ['AND', 'OR', 'NOT'])
      if (lexer.takeKeyword(word)) throw lexer.refusal(`${word} joins terms; quote it to look for the word`, at)
    if (lexer.peek() === '"') return this.#text(lexer.takeQuoted(), true, at)
    const key = lexer.takeKey()
    if (key !== null) {
      if (!isText(lexer, key)) return this.#keyTerm(key, at)
      lexer.at = at
    }
    return this.#text(lexer.takeBare(), false, at)
  }

  #keyTerm(key: string, at: number): Query {
    const term = readKeyTerm(this.#lexer, key, at, this.#bounds(at))
    const valueAt = at + key.length + 1
    this.keys.push(
      key === 'has' && term.kind === 'has'
        ? { key: term.key, term, start: valueAt, end: this.#lexer.at }
        : { key: resolveKeyAlias(key), term, start: at, end: valueAt - 1 },
    )
    return term
  }

  /** Null for text without a word, such as `->`. Each word counts as a term. */
  #text(text: string, whole: boolean, at: number): Query | null {
    const words = splitSearchTerms(text, whole, MAX_TERMS).length
    if (words === 0) return null
    this.#count(words - 1, at)
    return { kind: 'text', text, whole }
  }

  #bounds(at: number): Bounds {
    return {
      values: (more) => this.#count(more, at),
      scanned: (values) => {
        this.#scanned += values
        if (this.#scanned > MAX_SCANNED_VALUES)
          throw this.#lexer.refusal(
            `at most ${MAX_SCANNED_VALUES} values in terms that have a * before the end of a value`,
            at,
          )
      },
    }
  }

  #count(terms: number, at: number): void {
    this.#terms += terms
    if (this.#terms > MAX_TERMS)
      throw this.#lexer.refusal(`at most ${MAX_TERMS} terms, their words and values counted`, at)
  }
}

/** Whether a key is text after all: `https://…`, `std::vector`, `TypeError: …`. */
function isText(lexer: QueryLexer, key: string): boolean {
  const next = lexer.peek()
  return next === ':' || (next === '/' && lexer.peek(1) === '/') || (endsTerm(next) && !knowsKey(key))
}
