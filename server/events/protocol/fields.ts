import { nearestNumber } from './json.ts'
import { type Notes, tidy } from './strings.ts'

/** Reads single fields of an untrusted payload. A wrong type gives null and a note, never an error. */

/** Text; numbers and booleans become text, empty text becomes null. */
export function textField(value: unknown, max: number, notes: Notes, name: string): string | null {
  if (typeof value === 'string') return value === '' ? null : tidy(value, max)
  if (value === null || value === undefined) return null
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  notes.add(name, 'Expected text.')
  return null
}

/** A finite number, also as decimal text. */
export function numberField(raw: unknown, notes: Notes, name: string): number | null {
  const value = nearestNumber(raw)
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (value === null || value === undefined || value === '') return null
  if (typeof value === 'string' && value.length <= 20) {
    const number = Number(value)
    if (Number.isFinite(number)) return number
  }
  notes.add(name, 'Expected a number.')
  return null
}

/** True and false, also as text; anything else is null. */
export function booleanField(value: unknown, notes: Notes, name: string): boolean | null {
  if (typeof value === 'boolean') return value
  if (value === null || value === undefined) return null
  if (value === 'true' || value === 'True' || value === 1) return true
  if (value === 'false' || value === 'False' || value === 0) return false
  notes.add(name, 'Expected true or false.')
  return null
}

/** An address: hexadecimal text with `0x`, or a number. */
export function addressField(value: unknown, notes: Notes, name: string): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return `0x${value.toString(16)}`
  if (typeof value === 'string' && value.length <= 20) {
    if (/^0x[0-9a-f]{1,16}$/.test(value)) return value
    if (/^0x[0-9a-f]{1,16}$/i.test(value)) return value.toLowerCase()
    if (/^[0-9]{1,20}$/.test(value)) return `0x${BigInt(value).toString(16)}`
    if (value === '') return null
  }
  notes.add(name, 'Expected an address.')
  return null
}
