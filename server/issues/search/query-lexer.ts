import type { AppError } from '../../platform/kernel/errors.ts'
import { queryError, type Hint } from './query-error.ts'

/** Reads the characters of a query from left to right, each once. */
export class QueryLexer {
  readonly text: string
  /** Name of the query in error messages, such as `q`. */
  readonly name: string
  at = 0

  constructor(text: string, name: string) {
    this.text = text
    this.name = name
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length
  }

  /** Returns the character at this position, or `ahead` UTF-16 units further; empty at the end. */
  peek(ahead = 0): string {
    const code = this.text.codePointAt(this.at + ahead)
    return code === undefined ? '' : String.fromCodePoint(code)
  }

  skipSpace(): void {
    while (isSpace(this.peek())) this.at++
  }

  /** Whether the keyword is next; if so, moves behind it. */
  takeKeyword(word: string): boolean {
    if (!this.text.startsWith(word, this.at) || !endsWord(this.peek(word.length))) return false
    this.at += word.length
    return true
  }

  /** Returns a name followed by a colon, in lower case, and moves behind the colon; null if none is next. */
  takeKey(): string | null {
    KEY.lastIndex = this.at
    const key = KEY.exec(this.text)?.[1]
    if (key === undefined) return null
    this.at += key.length + 1
    return key.toLowerCase()
  }

  /** Reads up to a space, parenthesis or quote; in a list also up to a comma or bracket. */
  takeBare(inList = false): string {
    const pattern = inList ? BARE_IN_LIST : BARE
    pattern.lastIndex = this.at
    const word = pattern.exec(this.text)?.[0] ?? ''
    this.at += word.length
    return word
  }

  /** Reads a quoted text. @throws AppError invalid if the quote is not closed */
  takeQuoted(): string {
    const start = this.at
    let value = ''
    this.at++
    for (;;) {
      const character = this.peek()
      if (character === '') throw this.refusal('the quote is not closed', start, { to: this.text.length })
      this.at += character.length
      if (character === '"') return value
      // Only `\\` and `\"` are escapes; other backslashes are literal, as in paths.
      if (character === '\\' && (this.peek() === '"' || this.peek() === '\\')) {
        value += this.peek()
        this.at++
      } else value += character
    }
  }

  /**
   * Returns the error `q: <what> (character 7).` At the end of the text, the position is the last character.
   * @param from,to the part of the query that is marked; unless given, the word at the position
   */
  refusal(
    what: string,
    at = this.at,
    { from, to, hints = [] }: { readonly from?: number; readonly to?: number; readonly hints?: readonly Hint[] } = {},
  ): AppError {
    const character = Math.max(0, Math.min(at, this.text.length - 1))
    WORD.lastIndex = character
    const word = WORD.exec(this.text)?.[0].length ?? 1
    const place = { start: from ?? character, end: Math.min(to ?? character + word, this.text.length) }
    return queryError(this.name, what, place, { character, hints })
  }
}

const KEY = /([A-Za-z_][A-Za-z0-9_.-]*):/y
/** The part of a query that marks a mistake: a word with its key, or a single sign. */
const WORD = /[^\s()]+/y
const BARE = /[^\s"()]+/y
const BARE_IN_LIST = /[^\s"(),[\]]+/y

const isSpace = (character: string): boolean => character !== '' && /\s/.test(character)
const endsWord = (character: string): boolean => character === '"' || endsTerm(character)
/** Whether a term or group can start with the character, so that a sign before it is a negation. */
export const isBeginning = (character: string): boolean =>
  /[\p{L}\p{N}\p{Extended_Pictographic}\p{RI}_"(]/u.test(character)
/** Whether a term ends before the character. */
export const endsTerm = (character: string): boolean =>
  character === '' || character === '(' || character === ')' || isSpace(character)
