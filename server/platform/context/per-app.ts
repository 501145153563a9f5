import type { App } from './app.ts'

/** State of one App (caches, queues), created at first use and collected with the App. */
export function perApp<T>(make: (app: App) => T): (app: App) => T {
  const states = new WeakMap<App, T>()
  return (app) => {
    const state = states.get(app) ?? make(app)
    states.set(app, state)
    return state
  }
}
