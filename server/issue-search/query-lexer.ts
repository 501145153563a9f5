import { type AppError, invalid } from '../kernel/errors.ts'

/** Characters of a query, read from left to right, each once. */
export class QueryLexer {
  readonly text: string
  /** What the query is called in refusals: `q`. */
  readonly name: string
  at = 0

  constructor(text: string, name: string) {
    this.text = text
    this.name = name
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length
  }

  /** The character here, or `ahead` UTF-16 units of here; empty at the end. */
  peek(ahead = 0): string {
    const code = this.text.codePointAt(this.at + ahead)
    return code === undefined ? '' : String.fromCodePoint(code)
  }

  skipSpace(): void {
    while (isSpace(this.peek())) this.at++
  }

  /** Whether the word stands here by itself; moves behind it. */
  takeKeyword(word: string): boolean {
    if (!this.text.startsWith(word, this.at) || !endsWord(this.peek(word.length))) return false
    this.at += word.length
    return true
  }

  /** A name followed by a colon, in lower case; moves behind the colon. */
  takeKey(): string | null {
    KEY.lastIndex = this.at
    const key = KEY.exec(this.text)?.[1]
    if (key === undefined) return null
    this.at += key.length + 1
    return key.toLowerCase()
  }

  /** Everything up to a space, a parenthesis or a quote, and in lists up to their signs. */
  takeBare(inList = false): string {
    const pattern = inList ? BARE_IN_LIST : BARE
    pattern.lastIndex = this.at
    const word = pattern.exec(this.text)?.[0] ?? ''
    this.at += word.length
    return word
  }

  /** What stands between quotes here. @throws AppError invalid when they are not closed */
  takeQuoted(): string {
    const start = this.at
    let value = ''
    this.at++
    for (;;) {
      const character = this.peek()
      if (character === '') throw this.refusal('the quote is not closed', start)
      this.at += character.length
      if (character === '"') return value
      // `\\` and `\"`; any other backslash is one, as in paths.
      if (character === '\\' && (this.peek() === '"' || this.peek() === '\\')) {
        value += this.peek()
        this.at++
      } else value += character
    }
  }

  /** `q: <what> (character 7).` What is missing at the end is missing after the last character. */
  refusal(what: string, at = this.at): AppError {
    return invalid(`${this.name}: ${what} (character ${Math.max(1, Math.min(at + 1, this.text.length))}).`)
  }
}

const KEY = /([A-Za-z_][A-Za-z0-9_.-]*):/y
const BARE = /[^\s"()]+/y
const BARE_IN_LIST = /[^\s"(),[\]]+/y

const isSpace = (character: string): boolean => character !== '' && /\s/.test(character)
const endsWord = (character: string): boolean => character === '"' || endsTerm(character)
/** Whether a term or group begins so that a sign before it negates it. */
export const isBeginning = (character: string): boolean =>
  /[\p{L}\p{N}\p{Extended_Pictographic}\p{RI}_"(]/u.test(character)
/** Whether nothing of a term comes any more. */
export const endsTerm = (character: string): boolean =>
  character === '' || character === '(' || character === ')' || isSpace(character)
