import { useLayoutEffect, useRef, type RefObject } from 'react'

/** For what a panel fetches once it is open: its first control takes the focus when it is there. */
export function useFirstFocus<E extends HTMLElement>(): RefObject<E | null> {
  const root = useRef<E>(null)
  useLayoutEffect(() => {
    root.current?.querySelector<HTMLElement>('input, button, a[href]')?.focus({ preventScroll: true })
  }, [])
  return root
}
