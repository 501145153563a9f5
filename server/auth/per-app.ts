import type { App } from '../context/app.ts'

/** State that lives as long as one App (caches, queues): made at first use, gone with it. */
export function perApp<T>(make: (app: App) => T): (app: App) => T {
  const states = new WeakMap<App, T>()
  return (app) => {
    const state = states.get(app) ?? make(app)
    states.set(app, state)
    return state
  }
}
