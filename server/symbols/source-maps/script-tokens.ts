import { IdentifierRole, type Token } from 'sucrase/dist/parser/tokenizer/index.js'
import { ContextualKeyword } from 'sucrase/dist/parser/tokenizer/keywords.js'
import { TokenType } from 'sucrase/dist/parser/tokenizer/types.js'

const LINE_BREAK = /[\n\r\u2028\u2029]/
const ESCAPE = /\\(?:u\{([0-9a-f]+)\}|u([0-9a-f]{4})|x([0-9a-f]{2})|(\r\n|[^]))/gi
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v', 0: '\0' }

/** The tokens of a script by index, with the brackets that belong together. */
export class ScriptTokens {
  readonly #text: string
  readonly #tokens: readonly Token[]
  /** For a bracket, the one that closes or opens it. */
  readonly #partners: Int32Array
  /** For an opening bracket, the one that it is in. */
  readonly #outer: Int32Array

  constructor(text: string, tokens: readonly Token[]) {
    this.#text = text
    this.#tokens = tokens
    this.#partners = new Int32Array(tokens.length).fill(-1)
    this.#outer = new Int32Array(tokens.length).fill(-1)
  }

  /** Notes where a bracket is. @returns the innermost bracket that is open after this token */
  nest(at: number, type: TokenType, open: number): number {
    switch (type) {
      case TokenType.parenL:
      case TokenType.braceL:
      case TokenType.bracketL:
      case TokenType.braceBarL:
      case TokenType.dollarBraceL:
        this.#outer[at] = open
        return at
      case TokenType.parenR:
      case TokenType.braceR:
      case TokenType.bracketR:
      case TokenType.braceBarR:
        if (open < 0) return open
        this.#partners[at] = open
        this.#partners[open] = at
        return this.#outer[open] ?? -1
      default:
        return open
    }
  }

  token(at: number): Token | undefined {
    return this.#tokens[at]
  }

  type(at: number): TokenType {
    return this.#tokens[at]?.type ?? TokenType.eof
  }

  isType(at: number): boolean {
    return this.#tokens[at]?.isType === true
  }

  partner(at: number): number {
    return this.#partners[at] ?? -1
  }

  outer(at: number): number {
    return this.#outer[at] ?? -1
  }

  text(at: number): string {
    const token = this.#tokens[at]
    return token === undefined ? '' : this.#text.slice(token.start, token.end)
  }

  /** @returns the last token at or before a place that is no part of a type */
  beforeTypes(at: number): number {
    let before = at
    while (this.isType(before)) before--
    return before
  }

  /** @returns where the type arguments or parameters begin that end at a place; the place after it without such */
  startOfTypes(at: number): number {
    if (this.type(at) !== TokenType.greaterThan || !this.isType(at)) return at + 1
    let depth = 0
    for (let start = at; this.isType(start); start--) {
      const type = this.type(start)
      if (type === TokenType.greaterThan) depth++
      else if ((type === TokenType.lessThan || type === TokenType.typeParameterStart) && --depth === 0) return start
    }
    return at + 1
  }

  /** @returns the place of an `async` that belongs to what begins at a place; otherwise the place */
  withAsync(at: number): number {
    const before = this.#tokens[at - 1]
    const first = this.#tokens[at]
    if (before?.contextualKeyword !== ContextualKeyword._async || first === undefined) return at
    if (this.type(at - 2) === TokenType.dot || LINE_BREAK.test(this.#text.slice(before.end, first.start))) return at
    return at - 1
  }

  /** `function`, which the parser makes a name in expressions. */
  isFunctionKeyword(at: number): boolean {
    const type = this.type(at)
    return type === TokenType._function || (type === TokenType.name && this.text(at) === 'function')
  }

  /** @returns whether a token is, or ends, the key of a member of a class or an object */
  isKey(at: number): boolean {
    const token = this.#tokens[at]
    if (token === undefined || token.contextId === null) return false
    return token.identifierRole === IdentifierRole.ObjectKey || token.type === TokenType.bracketR
  }

  /** @returns where a key begins that ends at a place */
  startOfKey(at: number): number {
    if (this.type(at) === TokenType.bracketR) return this.partner(at)
    return this.type(at - 1) === TokenType.hash ? at - 1 : at
  }

  /** @returns the name that a key says which ends at a place; null when it is computed */
  keyName(at: number): string | null {
    if (this.type(at) === TokenType.bracketR) return this.partner(at) === at - 2 ? this.literal(at - 1) : null
    if (this.type(at) !== TokenType.name) return this.literal(at)
    return this.type(at - 1) === TokenType.hash ? `#${this.text(at)}` : this.text(at)
  }

  /** @returns the text of a literal; null for an empty one and other tokens */
  literal(at: number): string | null {
    const text = this.text(at)
    if (this.type(at) === TokenType.num) return String(Number(text.replaceAll('_', '')))
    if (this.type(at) !== TokenType.string) return null
    const inner = text.slice(1, -1)
    return (inner.includes('\\') ? unescape(inner) : inner) || null
  }
}

function unescape(text: string): string {
  return text.replace(ESCAPE, (_, point?: string, unit?: string, byte?: string, character?: string) => {
    const hex = point ?? unit ?? byte
    if (hex !== undefined) return String.fromCodePoint(Math.min(Number.parseInt(hex, 16), 0x10ffff))
    const plain = character ?? ''
    return LINE_BREAK.test(plain) ? '' : (CONTROLS[plain] ?? plain)
  })
}
