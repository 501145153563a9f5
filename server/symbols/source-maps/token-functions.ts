import { parse } from 'sucrase/dist/parser/index.js'
import type { Token } from 'sucrase/dist/parser/tokenizer/index.js'
import { ContextualKeyword } from 'sucrase/dist/parser/tokenizer/keywords.js'
import { TokenType } from 'sucrase/dist/parser/tokenizer/types.js'
import type { FunctionRange } from './function-ranges.ts'
import { constructorName, nameOfFunction, memberName, staticBlockName } from './name-rules.ts'
import { ScriptTokens } from './script-tokens.ts'
import { classNameAt, nameOfValue, type TokenRange } from './token-names.ts'

/** A set of languages that the parser of tokens reads at once. */
export type TokenDialect = { readonly jsx: boolean; readonly types: 'flow' | 'typescript' | null }

/**
 * Finds and names functions without a syntax tree: from tokens, the scopes of functions and what the parser notes at tokens
 * of classes, objects and calls. This takes a third of the time of a tree.
 * @returns null for a construct that only a tree shows @throws an error where the parser knows no such syntax
 */
export function tokenFunctions(text: string, { jsx, types }: TokenDialect): FunctionRange[] | null {
  const { tokens, scopes } = parse(text, jsx, types === 'typescript', types === 'flow')
  const ends = new Int32Array(tokens.length)
  const bodyEnds = new Uint8Array(tokens.length)
  for (const { startTokenIndex, endTokenIndex, isFunctionScope } of scopes) {
    // The whole script is a scope of a function too.
    if (!isFunctionScope || endTokenIndex === tokens.length) continue
    if (isParameters(tokens, startTokenIndex)) ends[startTokenIndex] = endTokenIndex
    else if (tokens[startTokenIndex]?.type === TokenType.braceL) bodyEnds[endTokenIndex] = 1
  }
  return new FunctionFinder(text, tokens, ends, bodyEnds).find()
}

/** Functions have up to three scopes: their own name, the parameters with the body, and the body. */
function isParameters(tokens: readonly Token[], at: number): boolean {
  switch (tokens[at]?.type) {
    case TokenType.parenL:
    case TokenType.lessThan:
    case TokenType.typeParameterStart:
      return true
    case TokenType.name:
      return tokens[at + 1]?.type === TokenType.arrow || tokens[at + 2]?.type === TokenType.arrow
    default:
      return false
  }
}

/** Words and signs before the key of a member. */
const MODIFIERS: ReadonlySet<TokenType> = new Set([
  TokenType.star,
  TokenType._async,
  TokenType._get,
  TokenType._set,
  TokenType._static,
  TokenType._declare,
  TokenType._readonly,
  TokenType._abstract,
  TokenType._public,
  TokenType._private,
  TokenType._protected,
  TokenType._override,
])

class FunctionFinder {
  readonly #source: readonly Token[]
  readonly #tokens: ScriptTokens
  /** For the first token of a function's parameters, the one after the function; otherwise 0. */
  readonly #ends: Int32Array
  /** 1 for the token after the body of a function, where the body is a block. */
  readonly #bodyEnds: Uint8Array
  readonly #ranges: FunctionRange[] = []
  readonly #classes = new Map<number, string | null>()
  readonly #bodies = new Map<number, number>()

  constructor(text: string, source: readonly Token[], ends: Int32Array, bodyEnds: Uint8Array) {
    this.#source = source
    this.#tokens = new ScriptTokens(text, source)
    this.#ends = ends
    this.#bodyEnds = bodyEnds
  }

  find(): FunctionRange[] | null {
    const places = this.#nestBrackets()
    for (let at = 0; at < places.length; at += 2) {
      if (!this.#addPlace(places[at] ?? 0, places[at + 1] ?? -1)) return null
    }
    return this.#ranges
  }

  /** @returns pairs: where something begins that counts, and the bracket that it is in */
  #nestBrackets(): number[] {
    const places: number[] = []
    let open = -1
    // Most of the finder's time is here: iterators cost as much again.
    for (let at = 0; at < this.#source.length; at++) {
      const token = this.#source[at]
      if (token === undefined) break
      const { type, contextId, contextualKeyword } = token
      if (
        this.#ends[at] !== 0 ||
        (contextId !== null && (type === TokenType._class || type === TokenType._static)) ||
        (contextualKeyword === ContextualKeyword._async && this.#source[at + 1]?.isType === true)
      ) {
        places.push(at, open)
      }
      if (contextId !== null) {
        if (type === TokenType._class) this.#classes.set(contextId, null)
        else if (type === TokenType.braceL && this.#classes.has(contextId)) this.#bodies.set(contextId, at)
      }
      open = this.#tokens.nest(at, type, open)
    }
    return places
  }

  /** @returns false when only a tree can show the function */
  #addPlace(at: number, open: number): boolean {
    const end = this.#ends[at] ?? 0
    const type = this.#tokens.type(at)
    if (end !== 0) return this.#addFunction(at, { from: at, until: end, open })
    if (type === TokenType._class) this.#nameClass(at, open)
    else if (type === TokenType._static) this.#addStaticBlock(at, open)
    else return this.#addGenericAsync(at, open)
    return true
  }

  #add({ from, until }: TokenRange, name: string | null): void {
    const start = this.#source[from]?.start ?? 0
    const end = this.#source[until - 1]?.end ?? start
    this.#ranges.push({ start, end, name: nameOfFunction(name) })
  }

  #nameClass(at: number, open: number): void {
    const context = this.#source[at]?.contextId ?? 0
    const own = this.#source[at + 1]
    const isNamed = own?.type === TokenType.name && own.identifierRole !== null && !own.isType
    const until = this.#tokens.partner(this.#bodies.get(context) ?? -1) + 1
    const name = isNamed
      ? this.#tokens.text(at + 1)
      : nameOfValue(this.#tokens, this.#classes, { from: at, until, open }, false)
    this.#classes.set(context, name)
  }

  #addStaticBlock(at: number, open: number): void {
    if (this.#tokens.type(at + 1) !== TokenType.braceL) return
    const until = this.#tokens.partner(at + 1) + 1
    this.#add({ from: at, until, open }, staticBlockName(classNameAt(this.#tokens, this.#classes, open) ?? null))
  }

  #addFunction(at: number, range: TokenRange): boolean {
    const tokens = this.#tokens
    const first = this.#source[at]
    const isMethod = first?.type === TokenType.parenL && first.contextId !== null
    const before = at - 1
    const isNamed = tokens.type(before) === TokenType.name && !tokens.isFunctionKeyword(before)
    const star = isNamed ? before - 1 : before
    const keyword = tokens.type(star) === TokenType.star ? star - 1 : star
    const isArrow = !isMethod && (first?.type === TokenType.name || !tokens.isFunctionKeyword(keyword))
    const hasBlock = this.#bodyEnds[range.until] === 1
    // Declarations of overloads and abstract methods have no body.
    if (!isArrow && !hasBlock) return true
    // To the parser all of a namespace is a type.
    if (tokens.isType(hasBlock ? range.until - 1 : range.from)) return false
    if (isMethod) this.#addMethod(before, range)
    else if (isArrow) this.#addArrow(range)
    else {
      const whole = { ...range, from: tokens.withAsync(keyword) }
      this.#add(whole, isNamed ? tokens.text(before) : nameOfValue(tokens, this.#classes, whole, false))
    }
    return true
  }

  #addArrow(range: TokenRange): void {
    const whole = { ...range, from: this.#tokens.withAsync(this.#tokens.startOfTypes(range.from - 1)) }
    this.#add(whole, nameOfValue(this.#tokens, this.#classes, whole, true))
  }

  /** @param end the last token before the parameters */
  #addMethod(end: number, range: TokenRange): void {
    const tokens = this.#tokens
    const key = tokens.beforeTypes(end)
    const name = tokens.keyName(key)
    const className = classNameAt(tokens, this.#classes, range.open)
    let from = tokens.startOfKey(key)
    let isPlain = true
    for (; this.#isModifier(from - 1, className === undefined); from--) {
      const type = tokens.type(from - 1)
      if (type === TokenType._static || type === TokenType._get || type === TokenType._set) isPlain = false
    }
    const isConstructor =
      className !== undefined && isPlain && name === 'constructor' && tokens.type(key) !== TokenType.bracketR
    this.#add({ ...range, from }, isConstructor ? constructorName(className) : memberName(className ?? null, name))
  }

  /** In an object only words that belong to it are before a key. */
  #isModifier(at: number, isInObject: boolean): boolean {
    const type = this.#tokens.type(at)
    return MODIFIERS.has(type) || (isInObject && type === TokenType.name)
  }

  /** `async <T>(x) => {}` of TypeScript, for which the parser notes no scope. */
  #addGenericAsync(at: number, open: number): boolean {
    const tokens = this.#tokens
    let parameters = at + 1
    while (tokens.isType(parameters)) parameters++
    if (tokens.type(parameters) !== TokenType.parenL || (this.#ends[at + 1] ?? 0) !== 0) return true
    let arrow = tokens.partner(parameters) + 1
    while (tokens.isType(arrow) && tokens.type(arrow) !== TokenType.arrow) arrow++
    if (tokens.type(arrow) !== TokenType.arrow) return true
    if (tokens.type(arrow + 1) !== TokenType.braceL) return false
    const range = { from: at, until: tokens.partner(arrow + 1) + 1, open }
    this.#add(range, nameOfValue(tokens, this.#classes, range, true))
    return true
  }
}
