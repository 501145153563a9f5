import type { Tag } from './event.api.ts'
import { isList, isRecord, isSafeKey } from './json.ts'
import type { Notes } from './notes.ts'
import { storable, tidy } from './strings.ts'

/** Tags: an object or a list of pairs becomes a list without duplicates, in the order sent. */

const MAX_TAGS = 200
const MAX_KEY = 200
const MAX_VALUE = 200

/** Tags with the meaning of a field of the event: moved there if it is empty, never kept as a tag. */
const RESERVED = new Set(['release', 'dist', 'environment', 'user', 'filename', 'function'])

export type ReservedTags = { release: string | null; dist: string | null; environment: string | null }

export type Tags = { tags: Tag[]; reserved: ReservedTags }

export function readTags(raw: unknown, notes: Notes): Tags {
  const values = new Map<string, string>()
  const reserved: ReservedTags = { release: null, dist: null, environment: null }
  for (const [rawKey, rawValue] of pairs(raw, notes)) {
    const value = tagValue(rawValue, notes)
    if (value === null) continue
    const key = tagKey(rawKey)
    if (key === null)
      notes.add('tags', 'A tag key is empty, too long or holds other characters than A-Z a-z 0-9 _ . : -')
    else if (RESERVED.has(key)) reserve(reserved, key, value)
    else if (values.size < MAX_TAGS || values.has(key)) values.set(key, value)
    else {
      notes.add('tags', `More than ${MAX_TAGS} tags.`)
      break
    }
  }
  const tags: Tag[] = []
  for (const [key, value] of values) tags.push({ key, value })
  return { tags, reserved }
}

function reserve(reserved: ReservedTags, key: string, value: string): void {
  if (key === 'release' || key === 'dist' || key === 'environment') reserved[key] ??= value
}

const NO_PAIRS: readonly [unknown, unknown][] = []

function pairs(raw: unknown, notes: Notes): Iterable<readonly [unknown, unknown]> {
  if (raw === null || raw === undefined) return NO_PAIRS
  if (isRecord(raw)) return Object.entries(raw)
  if (!isList(raw)) {
    notes.add('tags', 'Expected an object or a list of pairs.')
    return NO_PAIRS
  }
  const list: [unknown, unknown][] = []
  for (const element of raw) {
    if (isList(element) && element.length === 2) list.push([element[0], element[1]])
    else if (isRecord(element) && 'key' in element) list.push([element['key'], element['value']])
    else if (element !== null) notes.add('tags', 'A tag is no pair.')
  }
  return list
}

const GOOD_KEY = /^[A-Za-z0-9_.:-]{1,200}$/

function tagKey(raw: unknown): string | null {
  if (typeof raw !== 'string') return typeof raw === 'number' ? String(raw) : null
  if (GOOD_KEY.test(raw)) return isSafeKey(raw) ? raw : null
  if (raw.length > MAX_KEY) return null
  const mended = raw.trim().replaceAll(' ', '-')
  return GOOD_KEY.test(mended) && isSafeKey(mended) ? mended : null
}

/** Null means no value: the tag is left out without a note. */
function tagValue(raw: unknown, notes: Notes): string | null {
  if (typeof raw === 'string') return raw === '' ? null : oneLine(raw)
  if (raw === null || raw === undefined) return null
  if (typeof raw === 'boolean') return raw ? 'True' : 'False'
  if (typeof raw === 'number') return String(raw)
  notes.add('tags', 'A tag value is no text.')
  return null
}

function oneLine(value: string): string | null {
  const clean = tidy(value, MAX_VALUE)
  if (!/[\n\r]/.test(clean)) return clean
  const line = storable(clean.replaceAll(/[\n\r]+/g, ' ').trim())
  return line === '' ? null : line
}
