import type { EventRequest } from './event.api.ts'
import { cleanRecord, cleanValue, isEmpty, isList, isRecord, type JsonBudget, textField } from './json.ts'
import { type Notes, cut, tidy } from './strings.ts'

/** The HTTP request of an event. Headers, cookies and query may be text, object or pairs. */

const MAX_PAIRS = 200
const MAX_PAIR_VALUE = 4_096
const MAX_URL = 8_192

/** Null when it is empty. @param budget bounds body and environment together */
export function readRequest(raw: unknown, budget: JsonBudget, notes: Notes): EventRequest | null {
  if (raw === null || raw === undefined) return null
  if (!isRecord(raw)) {
    notes.add('request', 'Expected an object.')
    return null
  }
  if (isEmpty(raw)) return null
  return {
    url: textField(raw['url'], MAX_URL, notes, 'request.url'),
    method: textField(raw['method'], 64, notes, 'request.method'),
    query_string: readQuery(raw['query_string'], notes),
    data: raw['data'] === undefined ? null : cleanValue(raw['data'], budget, notes, 'request.data'),
    cookies: readCookies(raw['cookies'], notes),
    headers: readPairs(raw['headers'], notes, 'request.headers'),
    env: raw['env'] === undefined ? null : cleanRecord(raw['env'], budget, notes, 'request.env'),
  }
}

/** The first value of a header; the name is case-insensitive. */
export function findHeader(request: EventRequest | null, name: string): string | null {
  if (request === null) return null
  for (const [key, value] of request.headers) if (key.length === name.length && key.toLowerCase() === name) return value
  return null
}

function readQuery(raw: unknown, notes: Notes): string | null {
  if (raw === null || raw === undefined) return null
  if (typeof raw === 'string') {
    const text = raw.startsWith('?') ? raw.slice(1) : raw
    return text === '' ? null : tidy(text, MAX_URL)
  }
  const pairs = readPairs(raw, notes, 'request.query_string')
  if (pairs.length === 0) return null
  return cut(pairs.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join('&'), MAX_URL)
}

function readCookies(raw: unknown, notes: Notes): [string, string][] {
  if (typeof raw !== 'string') return readPairs(raw, notes, 'request.cookies')
  const cookies: [string, string][] = []
  for (const part of cut(raw, 16_384).split(';')) {
    if (cookies.length === MAX_PAIRS) break
    const equals = part.indexOf('=')
    const name = (equals < 0 ? part : part.slice(0, equals)).trim()
    if (name !== '')
      cookies.push([tidy(name, 256), tidy(equals < 0 ? '' : part.slice(equals + 1).trim(), MAX_PAIR_VALUE)])
  }
  return cookies
}

/** An object (values text or lists of text) or a list of pairs as pairs, in the order sent. */
function readPairs(raw: unknown, notes: Notes, name: string): [string, string][] {
  const pairs: [string, string][] = []
  if (raw === null || raw === undefined) return pairs
  if (isRecord(raw)) {
    for (const [key, value] of Object.entries(raw)) addPair(pairs, key, value, notes, name)
  } else if (isList(raw)) {
    for (const pair of raw) {
      if (isList(pair) && pair.length === 2) addPair(pairs, pair[0], pair[1], notes, name)
      else if (pair !== null) notes.add(name, 'Expected pairs.')
    }
  } else notes.add(name, 'Expected an object or pairs.')
  return pairs
}

function addPair(pairs: [string, string][], key: unknown, value: unknown, notes: Notes, name: string): void {
  if (value === null || value === undefined) return
  if (pairs.length >= MAX_PAIRS) {
    if (pairs.length === MAX_PAIRS) notes.add(name, `More than ${MAX_PAIRS} entries.`)
    return
  }
  const text = typeof value === 'string' ? value : pairText(value)
  const keyText = textField(key, 256, notes, name)
  if (keyText !== null) pairs.push([keyText, tidy(text, MAX_PAIR_VALUE)])
}

function pairText(value: unknown): string {
  if (isList(value)) return value.slice(0, 50).map(scalarText).join(', ')
  return scalarText(value)
}

function scalarText(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '[object]'
}
