import type { Breadcrumb } from './event.api.ts'
import { textField } from './fields.ts'
import { cleanRecord, isRecord, type JsonBudget, unwrapList } from './json.ts'
import { parseLevel } from './level.ts'
import type { Notes } from './notes.ts'
import { shiftedTime } from './time.ts'

/** Maximum breadcrumbs; the newest are kept. */
const MAX_BREADCRUMBS = 100

/** Oldest first, also where they were sent newest first. `budget` bounds the data of all of them together. */
export function readBreadcrumbs(raw: unknown, shiftMs: number, budget: JsonBudget, notes: Notes): Breadcrumb[] {
  const list = unwrapList(raw, notes, 'breadcrumbs')
  if (list.length > MAX_BREADCRUMBS) {
    notes.add('breadcrumbs', `${list.length} breadcrumbs; the newest ${MAX_BREADCRUMBS} are kept.`)
  }
  const crumbs: Breadcrumb[] = []
  const ordered = isNewestFirst(list) ? list.toReversed() : list
  for (const element of ordered.length > MAX_BREADCRUMBS ? ordered.slice(-MAX_BREADCRUMBS) : ordered) {
    if (isRecord(element)) crumbs.push(readBreadcrumb(element, shiftMs, budget, notes))
    else if (element !== null) notes.add('breadcrumbs', 'A breadcrumb is no object.')
  }
  return crumbs
}

/** By the times of the first and the last one. */
function isNewestFirst(list: readonly unknown[]): boolean {
  const [first, last] = [timeOf(list[0]), timeOf(list.at(-1))]
  return first !== null && last !== null && first > last
}

function timeOf(raw: unknown): string | null {
  const time = isRecord(raw) ? raw['timestamp'] : null
  return time === null || time === undefined ? null : shiftedTime(time, 0)
}

function readBreadcrumb(raw: Record<string, unknown>, shiftMs: number, budget: JsonBudget, notes: Notes): Breadcrumb {
  const time = raw['timestamp']
  const timestamp = time === null || time === undefined ? null : shiftedTime(time, shiftMs)
  if (timestamp === null && time !== null && time !== undefined) notes.add('breadcrumb.timestamp', 'Not a time.')
  return {
    timestamp,
    type: textField(raw['type'], 64, notes, 'breadcrumb.type') ?? 'default',
    category: textField(raw['category'], 256, notes, 'breadcrumb.category'),
    level: parseLevel(raw['level']) ?? 'info',
    message: textField(raw['message'], 8_192, notes, 'breadcrumb.message'),
    data: raw['data'] === undefined ? null : cleanRecord(raw['data'], budget, notes, 'breadcrumb.data'),
  }
}
