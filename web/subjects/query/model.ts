import { isFinished, replaceBetween, splitQuery, type QueryTerm } from '#shared/query-terms.ts'

/**
 * The state of a query field: the query, and which part of it is in the input. What is before and after that part is
 * shown as chips. Nothing is lost between the two: the query is always the whole text. Pure.
 */
export type FieldState = { readonly text: string; readonly from: number; readonly to: number }

/** A chip: a term, or words before one. */
export type Chip = {
  readonly start: number
  readonly end: number
  readonly text: string
  /** Null for words. */
  readonly term: QueryTerm | null
}

/** Shows a query: its terms are chips, words and what is unfinished behind them are in the input. */
export function shown(text: string): FieldState {
  const last = chipsOf(text).findLast(({ end, term }) => term !== null && /^(?:\s|$)/.test(text.slice(end, end + 1)))
  if (last === undefined) return { text, from: 0, to: text.length }
  const whole = last.end === text.length ? `${text} ` : text
  const space = /^\s*/.exec(whole.slice(last.end))?.[0].length ?? 0
  return { text: whole, from: last.end + space, to: whole.length }
}

/**
 * The parts of a query that can stand as chips, up to what is unfinished. None if a keyword joins parts of the query:
 * taken apart, these would mean something else.
 */
function chipsOf(text: string): Chip[] {
  const chips: Chip[] = []
  let depth = 0
  let open = 0
  for (const { kind, text: piece, start, term } of splitQuery(text)) {
    const end = start + piece.length
    if (kind === 'open' && depth++ === 0) open = start
    if (kind === 'close') depth--
    if (depth < 0) break
    if (depth > 0 || kind === 'space') continue
    if (kind === 'keyword') return []
    if (kind === 'broken') break
    const from = kind === 'close' ? open : start
    const before = chips.at(-1)
    // Parts without a space between them stay together.
    if (before?.end === from)
      chips[chips.length - 1] = { ...before, end, text: text.slice(before.start, end), term: null }
    else chips.push({ start: from, end, text: text.slice(from, end), term: term ?? null })
  }
  return chips
}

export const typedText = ({ text, from, to }: FieldState): string => text.slice(from, to)

/** The chips before and after the input. */
export function chipsAround({ text, from, to }: FieldState): { before: Chip[]; after: Chip[] } {
  const after = chipsOf(text.slice(to)).map((chip) => ({ ...chip, start: chip.start + to, end: chip.end + to }))
  return { before: chipsOf(text.slice(0, from)), after }
}

/** Puts other text into the input. A space behind a finished term makes it a chip. */
export function typed(state: FieldState, value: string): FieldState {
  const { text, from } = state
  const whole = text.slice(0, from) + value + text.slice(state.to)
  const isTermDone = /\s$/.test(value) && isFinished(value) && (chipsOf(value).at(-1)?.term ?? null) !== null
  return isTermDone ? shown(whole) : { text: whole, from, to: from + value.length }
}

/** Takes a chip back into the input. What was typed becomes chips; if it cannot, all between the two is in the input. */
export function reopened({ text, from, to }: FieldState, chip: Pick<Chip, 'start' | 'end'>): FieldState {
  const end = isCovered(text.slice(chip.end)) ? chip.end : Math.max(chip.end, to)
  return { text, from: isCovered(text.slice(0, chip.start)) ? chip.start : Math.min(chip.start, from), to: end }
}

/** Whether chips show all of a text. */
function isCovered(text: string): boolean {
  let at = 0
  for (const { start, end } of chipsOf(text)) {
    if (/\S/.test(text.slice(at, start))) return false
    at = end
  }
  return !/\S/.test(text.slice(at))
}

/** Removes a chip. What is typed stays in the input. */
export function removed(state: FieldState, chip: Pick<Chip, 'start' | 'end'>): FieldState {
  const { text, from, to } = state
  const value = typedText(state)
  const cut = (part: string, at: number): string =>
    chip.start >= at && chip.end <= at + part.length ? replaceBetween(part, chip.start - at, chip.end - at, '') : part
  const before = cut(text.slice(0, from), 0)
  const after = cut(text.slice(to), to)
  const start = before === '' || /\s$/.test(before) ? before : `${before} `
  const end = after === '' || /^\s/.test(after) ? after : ` ${after}`
  return { text: start + value + end, from: start.length, to: start.length + value.length }
}

/** The part that is typed at the caret: a key, or a value of a key. `start` and `end` are positions in the input. */
export type TypedPart = {
  readonly key: string | null
  readonly prefix: string
  readonly inList: boolean
  readonly start: number
  readonly end: number
}

const KEY_PART = /^[-!]?([A-Za-z_][A-Za-z0-9_.-]*)$/
const VALUE_PART = /^[-!]?([A-Za-z_][A-Za-z0-9_.-]*):(?!:|\/\/)([^]*)$/

/** The part at the caret; null where no suggestion fits, such as in quoted words. */
export function partAt(value: string, caret: number): TypedPart | null {
  const piece = splitQuery(value).find(({ start, text }) => start < caret && caret <= start + text.length)
  if (piece === undefined || /^(?:space|open|close)$/.test(piece.kind))
    return { key: null, prefix: '', inList: false, start: caret, end: caret }
  const before = value.slice(piece.start, caret)
  const name = KEY_PART.exec(before)?.[1]
  if (name !== undefined) {
    const rest = /^[\w.-]*:?/.exec(value.slice(caret))?.[0] ?? ''
    return { key: null, prefix: name, inList: false, start: caret - name.length, end: caret + rest.length }
  }
  const [, key, written] = VALUE_PART.exec(before) ?? []
  if (key === undefined || written === undefined) return null
  const inList = written.startsWith('[')
  const element = inList ? lastElement(written) : written
  const rest = /^[^\s,()[\]"]*"?/.exec(value.slice(caret))?.[0] ?? ''
  return {
    key: key.toLowerCase(),
    prefix: element.replace(/^"/, ''),
    inList,
    start: caret - element.length,
    end: caret + rest.length,
  }
}

/** The text after the last comma of an open list, outside quotes. */
function lastElement(list: string): string {
  let at = 1
  let isQuoted = false
  for (let index = 1; index < list.length; index++) {
    if (list[index] === '"') isQuoted = !isQuoted
    if (list[index] === ',' && !isQuoted) at = index + 1
  }
  return list.slice(at).trimStart()
}

/** Takes a suggestion for a part: `release:` or `1.2.3`. A value ends its term, unless it is in a list. */
export function taken(state: FieldState, part: TypedPart, text: string): { state: FieldState; caret: number } {
  const value = typedText(state)
  const after = value.slice(part.end)
  const isEnd = !text.endsWith(':') && !part.inList && !/^\s/.test(after)
  const start = value.slice(0, part.start) + text + (isEnd ? ' ' : '')
  const next = typed(state, start + after)
  return { state: next, caret: next.from === state.from ? start.length : typedText(next).length }
}
