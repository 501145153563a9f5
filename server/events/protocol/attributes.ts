import { isEmpty, isList, isRecord, isSafeKey } from './json.ts'
import { type Notes, cut, storable, tidy } from './strings.ts'

/** Typed attributes of logs, trace metrics and spans (docs/protocol.md §10.2): `{"key": {"value", "type", "unit"?}}`. */

type AttributeScalar = string | number | boolean
type AttributeType = 'string' | 'integer' | 'double' | 'boolean' | 'array'
export type Attribute = {
  readonly value: AttributeScalar | readonly AttributeScalar[]
  readonly type: AttributeType
  readonly unit?: string
}
export type Attributes = Readonly<Record<string, Attribute>>

const MAX_ATTRIBUTES = 200
const MAX_KEY = 200
const MAX_UNIT = 64
const MAX_TEXT = 16_384
const MAX_ELEMENTS = 100
/** Maximum characters of all attributes of an entry, so that a list of 100 entries stays below 10 MB. */
const MAX_CHARACTERS = 65_536

/**
 * Reads attributes for storage. A plain value gets a type, a wrong type is corrected, and invalid attributes are left out
 * with a note.
 */
export function readAttributes(raw: unknown, notes: Notes): Attributes {
  const kept: Record<string, Attribute> = {}
  if (raw === null || raw === undefined) return kept
  if (!isRecord(raw)) {
    notes.add('attributes', 'Expected an object.')
    return kept
  }
  let count = 0
  let left = MAX_CHARACTERS
  for (const name in raw) {
    const given = raw[name]
    // Removed by the scrubber, or sent as null.
    if (given === null || given === undefined) continue
    const key = tidy(name, MAX_KEY)
    const attribute = readAttribute(given)
    if (attribute === null || key === '' || !isSafeKey(key)) {
      notes.add(`attributes.${key}`, 'Not an attribute; left out.')
      continue
    }
    left -= key.length + sizeOf(attribute.value)
    if (count >= MAX_ATTRIBUTES || left < 0) {
      notes.add('attributes', `More than ${MAX_ATTRIBUTES} attributes, or too large; the rest was left out.`)
      break
    }
    kept[key] = attribute
    count += 1
  }
  return kept
}

/** The value of an attribute as text, also of numbers and booleans; else null. */
export function attributeText(attributes: Attributes, name: string): string | null {
  const value = Object.hasOwn(attributes, name) ? attributes[name]?.value : undefined
  if (typeof value === 'string') return value === '' ? null : value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null
}

function readAttribute(given: unknown): Attribute | null {
  if (!isRecord(given)) return typed(given, undefined)
  // An object that is no attribute is kept as JSON text.
  if (!('value' in given)) return isEmpty(given) ? null : typed(given, undefined)
  const attribute = typed(given['value'], given['type'])
  const unit = given['unit']
  if (attribute === null || typeof unit !== 'string' || unit === '') return attribute
  return { ...attribute, unit: tidy(unit, MAX_UNIT) }
}

function typed(value: unknown, type: unknown): Attribute | null {
  switch (typeof value) {
    case 'string':
      return fromText(value, type)
    case 'number':
      // JSON has neither NaN nor infinities.
      if (!Number.isFinite(value)) return { value: String(value), type: 'string' }
      if (type === 'string') return { value: String(value), type }
      return { value, type: type === 'double' || !Number.isInteger(value) ? 'double' : 'integer' }
    case 'boolean':
      return type === 'string' ? { value: String(value), type } : { value, type: 'boolean' }
    case 'object':
      if (value === null) return null
      if (isList(value)) return fromList(value)
      return { value: tidy(JSON.stringify(value), MAX_TEXT), type: 'string' }
    default:
      return null
  }
}

/** 64-bit numbers are sent as text; those that a JavaScript number cannot represent stay text. */
function fromText(value: string, type: unknown): Attribute {
  if ((type === 'integer' || type === 'double') && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(value)) {
    return { value: Number(value), type: value.includes('.') ? 'double' : type }
  }
  if (type === 'boolean' && (value === 'true' || value === 'false')) return { value: value === 'true', type }
  return { value: storable(cut(value, MAX_TEXT)), type: 'string' }
}

function fromList(list: readonly unknown[]): Attribute {
  const elements: AttributeScalar[] = []
  for (const element of list.slice(0, MAX_ELEMENTS)) {
    const one = typed(element, undefined)
    if (one === null) continue
    if (typeof one.value === 'object') elements.push(tidy(JSON.stringify(one.value), MAX_TEXT))
    else elements.push(one.value)
  }
  return { value: elements, type: 'array' }
}

function sizeOf(value: Attribute['value']): number {
  if (typeof value === 'string') return value.length
  return typeof value === 'object' ? value.reduce<number>((sum, element) => sum + sizeOf(element), 2) : 8
}
