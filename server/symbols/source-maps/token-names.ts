import { ContextualKeyword } from 'sucrase/dist/parser/tokenizer/keywords.js'
import { TokenType } from 'sucrase/dist/parser/tokenizer/types.js'
import { isWrapper, memberName, targetName } from './name-rules.ts'
import type { ScriptTokens } from './script-tokens.ts'

/** A function or class among the tokens: from its first one until the one after its last. */
export type TokenRange = {
  readonly from: number
  readonly until: number
  /** The innermost bracket that it is in; -1 outside all. */
  readonly open: number
}

/** The names of the classes of a script, by the context of their tokens. */
type ClassNames = ReadonlyMap<number, string | null>

/** @returns the name of the class whose body begins with a bracket; undefined for another bracket */
export function classNameAt(tokens: ScriptTokens, classes: ClassNames, open: number): string | null | undefined {
  const context = tokens.type(open) === TokenType.braceL ? tokens.token(open)?.contextId : null
  return context === null || context === undefined ? undefined : classes.get(context)
}

/**
 * The name of what holds a value: looks outwards from the value, through parentheses, types and calls of wrappers, to a
 * variable, a property or an attribute. @param isArrow nothing can follow an arrow function in its expression
 */
export function nameOfValue(
  tokens: ScriptTokens,
  classes: ClassNames,
  value: TokenRange,
  isArrow: boolean,
): string | null {
  let { from, until, open } = value
  for (let isWhole = isArrow; ; isWhole = false) {
    until = skipSuffix(tokens, until)
    if (!isWhole && continuesExpression(tokens.type(until))) return null
    from = tokens.startOfTypes(from - 1)
    const before = from - 1
    let call = -1
    switch (tokens.type(before)) {
      case TokenType.eq:
      case TokenType.assign:
        return tokens.isType(before) ? null : nameOfTarget(tokens, classes, before - 1, open)
      case TokenType.colon:
        return isPropertyKey(tokens, before - 1, open) ? tokens.keyName(before - 1) : null
      case TokenType._default:
        return tokens.type(before - 1) === TokenType._export ? 'default' : null
      case TokenType.braceL:
        return tokens.partner(before) === until ? nameOfAttribute(tokens, before - 1) : null
      case TokenType.comma:
        call = open
        break
      case TokenType.parenL:
        call = before
        break
      default:
        return null
    }
    const start = tokens.token(call)?.subscriptStartIndex ?? null
    if (start !== null) {
      if (tokens.type(call) !== TokenType.parenL || !isWrapperCall(tokens, start, call)) return null
      from = start
      until = tokens.partner(call) + 1
    } else {
      if (call !== before || tokens.partner(call) !== until) return null
      from = call
      until++
    }
    open = tokens.outer(call)
  }
}

/** @returns whether a token before a colon is, or ends, a key. The parser does not mark a key `async`. */
function isPropertyKey(tokens: ScriptTokens, at: number, open: number): boolean {
  if (tokens.isKey(at)) return true
  const isFirst = at - 1 === open || tokens.type(at - 1) === TokenType.comma
  const isInObject = tokens.type(open) === TokenType.braceL && (tokens.token(open)?.contextId ?? null) !== null
  return isFirst && isInObject && tokens.token(at)?.contextualKeyword === ContextualKeyword._async
}

/** Skips `!`, `as T`, `satisfies T`, and `: T` in parentheses. */
function skipSuffix(tokens: ScriptTokens, until: number): number {
  let end = until
  for (;;) {
    const token = tokens.token(end)
    if (token?.type === TokenType.nonNullAssertion) end++
    else if (
      token?.isType === true &&
      (token.type === TokenType.colon ||
        token.contextualKeyword === ContextualKeyword._as ||
        token.contextualKeyword === ContextualKeyword._satisfies)
    ) {
      while (tokens.isType(end)) end++
    } else return end
  }
}

/** @returns whether a token makes the expression before it a part of another one */
function continuesExpression(type: TokenType): boolean {
  switch (type) {
    case TokenType.parenL:
    case TokenType.bracketL:
    case TokenType.dot:
    case TokenType.questionDot:
    case TokenType.backQuote:
    case TokenType.question:
    case TokenType.doubleColon:
      return true
    default:
      // Operators with two operands have a precedence.
      return (type & TokenType.PRECEDENCE_MASK) > 0
  }
}

/** @param start where the callee begins, which ends before the parenthesis `call` or its type arguments */
function isWrapperCall(tokens: ScriptTokens, start: number, call: number): boolean {
  if (tokens.token(start)?.isOptionalChainStart === true) return false
  const callee = tokens.startOfTypes(call - 1) - 1
  if (tokens.type(callee) === TokenType.name) return isWrapper(tokens.text(callee))
  return tokens.type(callee) === TokenType.bracketR && isWrapper(tokens.keyName(callee) ?? '')
}

/** @returns the name of an attribute whose value begins after a place */
function nameOfAttribute(tokens: ScriptTokens, at: number): string | null {
  if (tokens.type(at) !== TokenType.eq || tokens.type(at - 1) !== TokenType.jsxName) return null
  return tokens.type(at - 2) === TokenType.colon ? null : tokens.text(at - 1)
}

/** @returns the name of a variable, property or member that ends, with its type, at a place and receives a value */
function nameOfTarget(tokens: ScriptTokens, classes: ClassNames, end: number, open: number): string | null {
  const at = tokens.beforeTypes(end)
  if (tokens.isKey(at)) return memberName(classNameAt(tokens, classes, open) ?? null, tokens.keyName(at))
  const isIndex = tokens.type(at) === TokenType.bracketR
  if (!isIndex && tokens.type(at) !== TokenType.name) return null
  const property = tokens.keyName(at)
  const start = tokens.startOfKey(at)
  const access = isIndex ? start : start - 1
  if (!isIndex && tokens.type(access) !== TokenType.dot) return property
  const chain = tokens.token(access)?.subscriptStartIndex ?? null
  if (property === null || chain === null) return null
  const isPrototype = tokens.type(access - 2) === TokenType.dot && tokens.text(access - 1) === 'prototype'
  const owner = isPrototype ? access - 3 : access - 1
  return targetName(owner === chain && tokens.type(owner) === TokenType.name ? tokens.text(owner) : null, property)
}
