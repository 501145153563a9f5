import type { Selection } from './selection.ts'

/** The selection of the last stream, in memory of the tab. */
let left: { key: string; selection: Selection } | null = null

export function rememberSelection(key: string, selection: Selection): void {
  left = { key, selection }
}

/** The selection of this stream before an issue was opened; null if the last stream was another one. */
export const recalledSelection = (key: string): Selection | null => (left?.key === key ? left.selection : null)
