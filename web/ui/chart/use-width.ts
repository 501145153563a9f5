import { useLayoutEffect, useRef, useState, type RefObject } from 'react'

/** The width of an element in pixels, measured before the first paint and kept up to date. */
export function useWidth<T extends HTMLElement>(): [RefObject<T | null>, number] {
  const element = useRef<T>(null)
  const [width, setWidth] = useState(600)
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return undefined
    const measure = () => setWidth(Math.round(current.getBoundingClientRect().width))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(current)
    return () => observer.disconnect()
  }, [])
  return [element, width]
}
