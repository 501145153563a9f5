import { useSyncExternalStore } from 'react'

/** The issues of a bulk operation that could not be changed, shown in a dialog. */

export type Refused = {
  /** The number of all such issues; `rows` holds the first 100. */
  readonly total: number
  readonly rows: readonly { readonly issueId: string; readonly name: string | null; readonly reason: string }[]
}

let shown: Refused | null = null
const listeners = new Set<() => void>()

/** @param next null closes the dialog */
export function showRefused(next: Refused | null): void {
  shown = next
  for (const listener of listeners) listener()
}

export const useRefused = (): Refused | null =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => shown,
  )
