import {
  createElement,
  useEffect,
  useState,
  useSyncExternalStore,
  type Attributes,
  type ComponentType,
  type ReactNode,
} from 'react'

/** A component whose code is fetched after the page. */
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
 * Draws the component once its code is here; nothing before, or while it has no props. Unlike `lazy()` it is drawn in
 * the step that wants it when the code was fetched earlier: React shows what suspended up to 300 ms later, and keys
 * pressed meanwhile would be lost.
 * @throws what fetching it failed with
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
