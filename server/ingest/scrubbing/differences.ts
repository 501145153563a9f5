import { isList, isRecord } from '../../events/protocol/json.ts'
import { cut } from '../../events/protocol/strings.ts'

export type Difference = { readonly path: string; readonly before: string; readonly after: string | null }

const MAX_SHOWN = 200
const MAX_CHARACTERS = 160
const MAX_DEPTH = 130

/** Differences of two JSON values in the order of the first: the old value with its middle hidden, and the new one. */
export function differences(before: unknown, after: unknown): { list: Difference[]; total: number } {
  const list: Difference[] = []
  let total = 0
  const report = (path: string, was: unknown, is: unknown): void => {
    total++
    if (list.length < MAX_SHOWN) list.push({ path: path === '' ? '.' : path, ...shown(was, is) })
  }
  const compare = (path: string, was: unknown, is: unknown, depth: number): void => {
    if (was === is || depth > MAX_DEPTH) return
    if (isRecord(was) && isRecord(is)) {
      for (const key of Object.keys(was)) {
        const inner = path === '' ? key : `${path}.${key}`
        if (Object.hasOwn(is, key)) compare(inner, was[key], is[key], depth + 1)
        else report(inner, was[key], undefined)
      }
    } else if (isList(was) && isList(is) && was.length === is.length) {
      for (const [index, element] of was.entries()) compare(`${path}[${index}]`, element, is[index], depth + 1)
    } else report(path, was, is)
  }
  compare('', before, after, 0)
  return { list, total }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** Hides the part of the old text that differs. Common beginnings and ends stay readable. */
function shown(was: unknown, is: unknown): { before: string; after: string | null } {
  const before = textOf(was)
  if (is === undefined || is === null) return { before: cut(hide(before), MAX_CHARACTERS), after: null }
  const after = textOf(is)
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end++
  // One or two equal characters are chance.
  if (start < 3) start = 0
  if (end < 3) end = 0
  // A long text is cut to the part around the change.
  const from = start > 60 ? start - 40 : 0
  const tail = before.slice(before.length - end)
  return {
    before: cut(
      (from > 0 ? '…' : '') + before.slice(from, start) + hide(before.slice(start, before.length - end)) + tail,
      MAX_CHARACTERS,
    ),
    after: cut((from > 0 ? '…' : '') + after.slice(from), MAX_CHARACTERS),
  }
}

/** Hides a text except its first and last two characters; a short one completely. */
function hide(text: string): string {
  if (text.length < 8) return '•'.repeat(Math.max(1, text.length))
  return `${text.slice(0, 2)}${'•'.repeat(Math.min(8, text.length - 4))}${text.slice(-2)}`.toWellFormed()
}
