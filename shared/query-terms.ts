/**
 * Terms of an issue query (docs/search.md) as they are written: where each begins and ends, and how to add, replace and
 * remove one without touching the rest of the text. Pure; never fails, whatever the text.
 */

/** A part of a query. The parts of a query, joined, are its text. */
export type QueryPiece = {
  /** `text` is free text, quoted or not; `broken` is an open quote or list, up to the end of the query. */
  readonly kind: 'space' | 'text' | 'term' | 'keyword' | 'open' | 'close' | 'broken'
  readonly text: string
  /** Position of the first character in the query. */
  readonly start: number
  /** The term, for a part that has one. */
  readonly term?: QueryTerm
}

/** `key:value`, `-key:value`, `key:[a, b]` or `key:>=5`. */
export type QueryTerm = {
  readonly start: number
  readonly end: number
  /** As written, with its sign. */
  readonly text: string
  readonly isNegated: boolean
  /** As written. Keys have no case. */
  readonly key: string
  readonly values: readonly TermValue[]
}

/**
 * A value; `raw` is as written, with its quotes. An operator, as in `>=5`, is part of the value, also before a quoted
 * one, which only keys that compare take.
 */
export type TermValue = { readonly text: string; readonly isQuoted: boolean; readonly raw: string }

const SPACE = /\s+/y
const KEYWORD = /(?:AND|OR|NOT)(?=$|[\s()"])/y
const KEY = /([A-Za-z_][A-Za-z0-9_.-]*):/y
const BARE = /[^\s"()]+/y
const BARE_IN_LIST = /[^\s"(),[\]]+/y
const QUOTED = /"(?:\\["\\]|\\(?!["\\])|[^"\\])*"/y
const OPERATOR = /(?:>=|<=|>|<|=)(?=")/y
/** A sign before one of these negates; another sign is text, as in `--verbose`. */
const BEGINNING = /^[\p{L}\p{N}\p{Extended_Pictographic}\p{RI}_"(]/u
const PLAIN_VALUE = /^[\p{L}\p{N}_][\p{L}\p{N}_.@:/+-]*$/u

/** Splits a query into pieces. */
export function splitQuery(query: string): QueryPiece[] {
  const pieces: QueryPiece[] = []
  let start = 0
  while (start < query.length) {
    const piece = pieceAt(query, start)
    pieces.push(piece)
    start += piece.text.length
  }
  return pieces
}

/**
 * The terms that every match must satisfy, in order: those of the top level, unless an OR or NOT joins them. Terms in
 * parentheses are not among them.
 */
export function requiredTerms(query: string): QueryTerm[] {
  const terms: QueryTerm[] = []
  let depth = 0
  let isNot = false
  for (const { kind, text, term } of splitQuery(query)) {
    if (kind === 'space') continue
    if (depth === 0 && text === 'OR' && kind === 'keyword') return []
    if (depth === 0 && term !== undefined && !isNot) terms.push(term)
    isNot = kind === 'keyword' && text === 'NOT'
    depth = depthAfter(depth, kind)
  }
  return terms
}

/** Whether no quote, list or parenthesis is open, and none is closed that was not opened. */
export function isBalanced(query: string): boolean {
  let depth = 0
  for (const { kind } of splitQuery(query)) {
    if (kind === 'broken' || (kind === 'close' && depth === 0)) return false
    depth = depthAfter(depth, kind)
  }
  return depth === 0
}

/** Whether the query looks finished: balanced, with no keyword or key that lacks what follows it. */
export function isFinished(query: string): boolean {
  const last = splitQuery(query).findLast(({ kind }) => kind !== 'space')
  const isOpen = last?.kind === 'keyword' || (last !== undefined && /^[-!]?[\w.-]+:[<>=]*$/.test(last.text))
  return !isOpen && isBalanced(query)
}

/** Adds a term that every match must satisfy. An unfinished query stays as it is, behind the term. */
export function addTerm(query: string, term: string): string {
  const text = query.trim()
  if (text === '') return term
  if (!isFinished(query)) return `${term} ${query}`
  return `${hasOr(query) ? `(${text})` : query.trimEnd()} ${term}`
}

/** Replaces what is between two positions. Nothing else changes, except the space and the AND of what is removed. */
export function replaceBetween(query: string, start: number, end: number, replacement: string): string {
  if (replacement !== '') return query.slice(0, start) + replacement + query.slice(end)
  const before = query.slice(0, start).replace(/(^|[\s()"])AND\s*$/, '$1')
  const rest = query.slice(end)
  const after = before.trim() === '' ? rest.replace(/^\s*AND(?=$|[\s()"])/, '') : rest
  if (after.trim() === '') return before.trimEnd()
  if (before === '' || /[\s(]$/.test(before)) return before + after.trimStart()
  return /^[\s)]/.test(after) ? before + after : `${before} ${after}`
}

/** Values of the key that matches must have, in order. `names` are the key and its other names. */
export const requiredValues = (query: string, names: readonly string[]): string[] => [
  ...new Set(termsOfKey(query, names).flatMap(({ values }) => values.map(({ text }) => text))),
]

/** Adds the value to those of the key, or removes it. */
export function toggleValue(query: string, names: readonly string[], value: string): string {
  const values = requiredValues(query, names)
  return setValues(query, names, values.includes(value) ? values.filter((one) => one !== value) : [...values, value])
}

/**
 * Sets the values of a key: the first term of the key takes them, further ones go. Without values the key goes. Values
 * that the key has already stay as they are written. `names` are the key and its other names; the first is written.
 */
export function setValues(query: string, names: readonly string[], values: readonly string[]): string {
  const terms = termsOfKey(query, names)
  const [first, ...others] = terms
  const written = new Map(terms.flatMap((term) => term.values.map((value) => [value.text, value.raw] as const)))
  const raws = values.map((value) => written.get(value) ?? valueText(value))
  const term = raws.length === 0 ? '' : `${first?.key ?? names[0] ?? ''}:${listText(raws)}`
  if (first === undefined) return term === '' ? query : addTerm(query, term)
  let text = query
  for (const { start, end } of others.toReversed()) text = replaceBetween(text, start, end, '')
  return replaceBetween(text, first.start, first.end, term)
}

/** Returns `key:value`, or `key:[a, b]`. Values are literal: they are quoted where they must be. */
export const termText = (key: string, values: readonly string[], isNegated = false): string =>
  `${isNegated ? '-' : ''}${key}:${listText(values.map(valueText))}`

/** A value as written in a query, in quotes if it needs them. */
export const valueText = (value: string): string =>
  PLAIN_VALUE.test(value) ? value : `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`

const listText = (raws: readonly string[]): string => (raws.length === 1 ? (raws[0] ?? '') : `[${raws.join(', ')}]`)

const hasOr = (query: string): boolean => {
  let depth = 0
  for (const { kind, text } of splitQuery(query)) {
    if (depth === 0 && kind === 'keyword' && text === 'OR') return true
    depth = depthAfter(depth, kind)
  }
  return false
}

const depthAfter = (depth: number, kind: QueryPiece['kind']): number =>
  kind === 'open' ? depth + 1 : kind === 'close' ? Math.max(0, depth - 1) : depth

const termsOfKey = (query: string, names: readonly string[]): QueryTerm[] =>
  requiredTerms(query).filter(({ key, isNegated }) => !isNegated && names.includes(key.toLowerCase()))

function matchAt(pattern: RegExp, query: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(query)
}

function pieceAt(query: string, start: number): QueryPiece {
  const piece = (kind: QueryPiece['kind'], end: number): QueryPiece => ({ kind, text: query.slice(start, end), start })
  const space = matchAt(SPACE, query, start)
  if (space !== null) return piece('space', start + space[0].length)
  if (query[start] === ')') return piece('close', start + 1)
  const isNegated = /[-!]/.test(query[start] ?? '') && BEGINNING.test(query.slice(start + 1, start + 3))
  const at = isNegated ? start + 1 : start
  if (query[at] === '(') return piece('open', at + 1)
  const keyword = isNegated ? null : matchAt(KEYWORD, query, at)
  if (keyword !== null) return piece('keyword', at + keyword[0].length)
  if (query[at] === '"') {
    const quoted = matchAt(QUOTED, query, at)
    return quoted === null ? piece('broken', query.length) : piece('text', at + quoted[0].length)
  }
  const key = matchAt(KEY, query, at)?.[1]
  if (key !== undefined && !isText(query, at + key.length + 1)) {
    const from = at + key.length + 1
    const read = valuesAt(query, from)
    if (read === null) return piece('broken', query.length)
    const text = query.slice(start, read.end)
    return { ...piece('term', read.end), term: { start, end: read.end, text, isNegated, key, values: read.values } }
  }
  const bare = matchAt(BARE, query, at)?.[0] ?? ''
  return piece('text', at + bare.length)
}

/** Whether a key is text after all: `https://…`, `std::vector`, `TypeError: …`. */
const isText = (query: string, at: number): boolean => /^(?::|\/\/|[\s()]|$)/.test(query.slice(at, at + 2))

type Values = { readonly values: readonly TermValue[]; readonly end: number }

/** Null if a quote or list is not closed. */
function valuesAt(query: string, from: number): Values | null {
  if (query[from] === '[') return listAt(query, from)
  const operator = matchAt(OPERATOR, query, from)?.[0] ?? ''
  const value = valueAt(query, from + operator.length, BARE)
  if (value === null) return null
  const raw = operator + value.raw
  return { values: [{ ...value, text: operator + value.text, raw }], end: from + raw.length }
}

/** `[a, "b c", d*]` */
function listAt(query: string, from: number): Values | null {
  const values: TermValue[] = []
  let at = from
  do {
    at = afterSpace(query, at + 1)
    const value = valueAt(query, at, BARE_IN_LIST)
    if (value === null || value.raw === '') return null
    values.push(value)
    at = afterSpace(query, at + value.raw.length)
  } while (query[at] === ',')
  return query[at] === ']' ? { values, end: at + 1 } : null
}

const afterSpace = (query: string, at: number): number => at + (matchAt(SPACE, query, at)?.[0].length ?? 0)

function valueAt(query: string, at: number, bare: RegExp): TermValue | null {
  if (query[at] !== '"') {
    const raw = matchAt(bare, query, at)?.[0] ?? ''
    return { text: raw, isQuoted: false, raw }
  }
  const raw = matchAt(QUOTED, query, at)?.[0]
  if (raw === undefined) return null
  return { text: raw.slice(1, -1).replaceAll(/\\(["\\])/g, '$1'), isQuoted: true, raw }
}
