import {
  createElement,
  useEffect,
  useState,
  useSyncExternalStore,
  type Attributes,
  type ComponentType,
  type ReactNode,
} from 'react'

/** A component that is loaded after the page. */
export type Late<Props> = {
  fetch: () => Promise<void>
  get: () => ComponentType<Props> | null
  subscribe: (listener: () => void) => () => void
}

export function late<Props>(load: () => Promise<ComponentType<Props>>): Late<Props> {
  let component: ComponentType<Props> | null = null
  const listeners = new Set<() => void>()
  return {
    fetch: async () => {
      component = await load()
      for (const listener of listeners) listener()
    },
    get: () => component,
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/**
 * Renders the component once its code is loaded and it has props. Unlike `lazy()`, loaded code renders immediately:
 * React shows suspended content up to 300 ms later, and keys pressed meanwhile would be lost.
 * @throws the error of loading it
 */
export function useLate<Props extends object>(source: Late<Props>, props: (Props & Attributes) | null): ReactNode {
  const component = useSyncExternalStore(source.subscribe, source.get)
  const [failure, setFailure] = useState<{ error: unknown } | null>(null)
  const isMissing = props !== null && component === null
  useEffect(() => {
    if (isMissing) source.fetch().catch((error: unknown) => setFailure({ error }))
  }, [isMissing, source])
  if (failure !== null) throw failure.error
  return props === null || component === null ? null : createElement(component, props)
}

/** As `useLate`, but code that is not loaded yet is fetched when the page has been painted: it is no part of the first load. */
export function useLater<Props extends object>(source: Late<Props>, props: Props & Attributes): ReactNode {
  const isPainted = usePainted()
  return useLate(source, isPainted || source.get() !== null ? props : null)
}

function usePainted(): boolean {
  const [isPainted, setIsPainted] = useState(false)
  useEffect(() => afterPaint(() => setIsPainted(true)), [])
  return isPainted
}

/** Calls after the next paint. Returns what cancels it. */
function afterPaint(run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const frame = requestAnimationFrame(() => {
    timer = setTimeout(run)
  })
  return () => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
  }
}
