import { useLayoutEffect, useSyncExternalStore } from 'react'

/** The project of what a page shows, where the address does not name it: of an issue, of a release. */

let shown: string | null = null
const listeners = new Set<() => void>()

function show(projectId: string | null): void {
  shown = projectId
  for (const listener of listeners) listener()
}

/** Gives the shell the project of the page; null while it is unknown. */
export function usePageProject(projectId: string | null): void {
  useLayoutEffect(() => {
    show(projectId)
    return () => show(null)
  }, [projectId])
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** The project of the shown page, or null. */
export const useShownProject = (): string | null => useSyncExternalStore(subscribe, () => shown)
