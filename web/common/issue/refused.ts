import { useSyncExternalStore } from 'react'

/** What a change of many issues could not do, while somebody looks at it. */

export type Refused = {
  /** All that were refused; the rows are the first hundred. */
  readonly total: number
  readonly rows: readonly { readonly issueId: string; readonly name: string | null; readonly reason: string }[]
}

let shown: Refused | null = null
const listeners = new Set<() => void>()

/** @param next null puts it away */
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
