import type { ReactNode } from 'react'

/**
 * Replaces `react-remove-scroll`, which Radix uses for modal panels. Ours are not modal, and that library injects a style
 * element, which the content security policy forbids.
 */
export function RemoveScroll({ children }: { children: ReactNode }) {
  return children
}
