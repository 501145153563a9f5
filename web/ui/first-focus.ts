import { useLayoutEffect, useRef, type RefObject } from 'react'

/** Moves the focus to the first control of content that a panel loads after it opens. */
export function useFirstFocus<E extends HTMLElement>(): RefObject<E | null> {
  const root = useRef<E>(null)
  useLayoutEffect(() => {
    root.current?.querySelector<HTMLElement>('input, button, a[href]')?.focus({ preventScroll: true })
  }, [])
  return root
}
