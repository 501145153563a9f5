import type { Selection } from './selection.ts'

/** What was chosen in the stream that was left last; forgotten with the tab. */
let left: { key: string; selection: Selection } | null = null

export function rememberSelection(key: string, selection: Selection): void {
  left = { key, selection }
}

/** What was chosen in this stream before an issue of it was opened; null when another stream was left last. */
export const recalledSelection = (key: string): Selection | null => (left?.key === key ? left.selection : null)
