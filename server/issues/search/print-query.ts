import { isBeginning } from './query-lexer.ts'
import type { Pattern, Query, Term, Time } from './query.ts'

/** Returns a text that {@link parseQuery} parses to the same tree; empty for null. */
export function printQuery(query: Query | null): string {
  return query === null ? '' : print(query)
}

function print(query: Query): string {
  switch (query.kind) {
    case 'and':
      return query.parts.map((part) => (part.kind === 'or' ? `(${print(part)})` : print(part))).join(' ')
    case 'or':
      return query.parts.map(print).join(' OR ')
    case 'not': {
      const inner = print(query.part)
      const isGroup = query.part.kind === 'and' || query.part.kind === 'or'
      return !isGroup && isBeginning(String.fromCodePoint(inner.codePointAt(0) ?? 0)) ? `-${inner}` : `-(${inner})`
    }
    default:
      return printTerm(query)
  }
}

function printTerm(term: Term): string {
  switch (term.kind) {
    case 'text':
      return term.whole ? quoted(term.text) : term.text
    case 'status':
      return `is:${list(term.values)}`
    case 'level':
    case 'severity':
      return `${term.kind}:${list(term.values)}`
    case 'assigned':
    case 'project':
      return `${term.kind}:${list(term.values.map(quotedIfNeeded))}`
    case 'user':
      return `user.id:${list(term.values.map(quotedIfNeeded))}`
    case 'platform':
      return `platform:${list(term.values.map(pattern))}`
    case 'release':
      return `${term.field}:${list(term.values.map(pattern))}`
    case 'facet':
    case 'identity':
      return `${term.key}:${list(term.values.map(pattern))}`
    case 'issue':
      return `issue:${list(term.values.map(quotedIfNeeded))}`
    case 'field':
      return `${term.field}:${list(term.values.map(pattern))}`
    case 'unhandled':
      return `unhandled:${String(term.value)}`
    case 'has':
      return `has:${quotedIfNeeded(term.key)}`
    case 'count':
      return `${term.field}:${term.op}${term.value}`
    case 'time':
      return `${term.field}:${printTime(term.side, term.time)}`
  }
}

function printTime(side: 'since' | 'before' | 'on', time: Time): string {
  if ('ago' in time) return `${side === 'since' ? '-' : '+'}${time.ago}${time.unit}`
  const written = 'day' in time ? time.day : time.instant
  return side === 'on' ? written : `${side === 'since' ? '>=' : '<'}${written}`
}

const list = (values: readonly string[]): string => (values.length === 1 ? (values[0] ?? '') : `[${values.join(', ')}]`)

/** Quotes the value only if it needs quotes. */
export const quotedIfNeeded = (text: string): string =>
  /^[\p{L}\p{N}_][\p{L}\p{N}_.@:/+-]*$/u.test(text) ? text : quoted(text)
const pattern = ({ text, glob }: Pattern): string => (glob ? text : quotedIfNeeded(text))
const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`
