import { IssuesSearch } from '../search.ts'
import type { Selection } from './issues-selection.ts'

/** The stream somebody came from, so that an issue knows its neighbours and the way back, also after a reload. */

const KEY = 'faultline.stream'

export function rememberStream(search: IssuesSearch): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(search))
  } catch {
    // Storage switched off: an issue has no neighbours then.
  }
}

/** Null when no stream was looked at in this tab. */
export function recalledStream(): IssuesSearch | null {
  try {
    const text = sessionStorage.getItem(KEY)
    return text === null ? null : IssuesSearch.parse(JSON.parse(text))
  } catch {
    return null
  }
}

/** What was chosen in the stream that was left last; forgotten with the tab. */
let left: { key: string; selection: Selection } | null = null

export function rememberSelection(key: string, selection: Selection): void {
  left = { key, selection }
}

/** What was chosen in this stream before an issue of it was opened; null when another stream was left last. */
export const recalledSelection = (key: string): Selection | null => (left?.key === key ? left.selection : null)
