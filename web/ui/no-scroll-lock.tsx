import type { ReactNode } from 'react'

/**
 * Stands in for `react-remove-scroll`, which the primitives load for their modal forms. Ours are not modal (dialogs
 * are the browser's own), and that library would inject a style element, which the content policy forbids.
 */
export function RemoveScroll({ children }: { children: ReactNode }) {
  return children
}
