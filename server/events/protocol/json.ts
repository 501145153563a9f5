import type { Notes } from './notes.ts'
import { cut, storable } from './strings.ts'

/**
 * Free JSON inside an event (extra, contexts, variables, breadcrumb data). Clean values, the usual case, are used without
 * copying; others are copied with corrections.
 */

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }
export type JsonRecord = { [key: string]: JsonValue }

/** Deeper values are left out; the guard before `JSON.parse` refuses more than 64 levels. */
const MAX_DEPTH = 64
const MAX_KEY = 200

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isList(value: unknown): value is unknown[] {
  return Array.isArray(value)
}

/** Reads a list: plain, wrapped in `{values: […]}`, or with `single` one object. */
export function unwrapList(value: unknown, notes: Notes, name: string, single = false): unknown[] {
  if (value === null || value === undefined) return []
  if (isList(value)) return value
  if (isRecord(value)) {
    const values = value['values']
    if (isList(values)) return values
    if (single && !('values' in value)) return [value]
    if (values === null || values === undefined) return []
  }
  notes.add(name, 'Expected a list.')
  return []
}

/** Remaining characters of a size limit that several parts share. */
export class JsonBudget {
  left: number
  spent = false

  constructor(characters: number) {
    this.left = characters
  }
}

/** A record of clean JSON; null when it is missing, empty or no object. Forbidden keys are removed. */
export function cleanRecord(value: unknown, budget: JsonBudget, notes: Notes, name: string): JsonRecord | null {
  if (value === null || value === undefined) return null
  if (!isRecord(value)) {
    notes.add(name, 'Expected an object.')
    return null
  }
  const before = budget.left
  if (isCleanRecord(value, budget)) return isEmpty(value) ? null : value
  budget.left = before
  const copy = copyJson(value, budget, notes, name, 0)
  return isJsonRecord(copy) && !isEmpty(copy) ? copy : null
}

/** Any JSON value, clean; null stays null. */
export function cleanValue(value: unknown, budget: JsonBudget, notes: Notes, name: string): JsonValue {
  if (value === undefined) return null
  const before = budget.left
  if (isClean(value, budget, 0)) return value
  budget.left = before
  return copyJson(value, budget, notes, name, 0) ?? null
}

export function isEmpty(value: object): boolean {
  for (const key in value) if (Object.hasOwn(value, key)) return false
  return true
}

/** Whether a name may be a key of our objects. */
export function isSafeKey(key: string): boolean {
  return key !== '__proto__' && key !== 'constructor' && key !== 'prototype'
}

function isJsonRecord(value: JsonValue | undefined): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isCleanText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

function isCleanRecord(value: Record<string, unknown>, budget: JsonBudget): value is JsonRecord {
  return isClean(value, budget, 0)
}

/** Whether the value can be used without copying; subtracts its size from the budget. */
function isClean(value: unknown, budget: JsonBudget, depth: number): value is JsonValue {
  switch (typeof value) {
    case 'string':
      budget.left -= value.length
      return budget.left >= 0 && isCleanText(value)
    case 'number':
      budget.left -= 8
      return Number.isFinite(value)
    case 'boolean':
      budget.left -= 4
      return true
    case 'object': {
      if (value === null) return true
      if (depth >= MAX_DEPTH) return false
      if (isList(value)) {
        budget.left -= value.length
        for (const element of value) if (!isClean(element, budget, depth + 1)) return false
        return budget.left >= 0
      }
      if (!isRecord(value)) return false
      for (const key in value) {
        budget.left -= key.length + 4
        if (key.length > MAX_KEY || !isSafeKey(key) || !isCleanText(key)) return false
        if (!isClean(value[key], budget, depth + 1)) return false
      }
      return budget.left >= 0
    }
    default:
      return false
  }
}

/** Copies a value with corrections; undefined means that the entry is left out. */
function copyJson(
  value: unknown,
  budget: JsonBudget,
  notes: Notes,
  name: string,
  depth: number,
): JsonValue | undefined {
  switch (typeof value) {
    case 'string': {
      if (budget.left <= 0) return spend(budget, notes, name)
      const text = storable(value.length > budget.left ? cut(value, Math.max(budget.left, 1)) : value)
      budget.left -= value.length
      if (budget.left < 0) spend(budget, notes, name)
      return text
    }
    case 'number':
      budget.left -= 8
      return Number.isFinite(value) ? value : String(value)
    case 'boolean':
      budget.left -= 4
      return value
    case 'object': {
      if (value === null) return null
      if (budget.left <= 0) return spend(budget, notes, name)
      if (depth >= MAX_DEPTH) {
        notes.add(name, `Nested deeper than ${MAX_DEPTH} levels.`)
        return undefined
      }
      return isList(value) ? copyList(value, budget, notes, name, depth) : copyRecord(value, budget, notes, name, depth)
    }
    default:
      return undefined
  }
}

function copyList(value: unknown[], budget: JsonBudget, notes: Notes, name: string, depth: number): JsonValue[] {
  const list: JsonValue[] = []
  for (const element of value) {
    if (budget.left <= 0) {
      spend(budget, notes, name)
      break
    }
    budget.left -= 1
    list.push(copyJson(element, budget, notes, name, depth + 1) ?? null)
  }
  return list
}

function copyRecord(value: object, budget: JsonBudget, notes: Notes, name: string, depth: number): JsonRecord {
  const record: JsonRecord = {}
  for (const [key, element] of Object.entries(value)) {
    if (budget.left <= 0) {
      spend(budget, notes, name)
      break
    }
    if (!isSafeKey(key)) {
      notes.add(name, `The key ${key} is not allowed.`)
      continue
    }
    budget.left -= key.length + 4
    const kept = copyJson(element, budget, notes, name, depth + 1)
    // A key may become a forbidden one by losing a NUL, so it is checked again.
    const safeKey = storable(cut(key, MAX_KEY))
    if (kept !== undefined && isSafeKey(safeKey)) record[safeKey] = kept
  }
  return record
}

function spend(budget: JsonBudget, notes: Notes, name: string): undefined {
  if (!budget.spent) notes.add(name, 'Too large; the rest was left out.')
  budget.spent = true
  return undefined
}
