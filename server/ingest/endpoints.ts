import type { Endpoint } from './endpoint.ts'

/** Every endpoint beside `envelope` and `store`; the first that matches takes the request. */
const ENDPOINTS: readonly Endpoint[] = []

export type MatchedEndpoint = { readonly endpoint: Endpoint; readonly params: Readonly<Record<string, string>> }

/** Finds who takes a path (what follows `/api/<number>/`); null when nobody does. */
export function matchEndpoint(path: string): MatchedEndpoint | null {
  for (const endpoint of ENDPOINTS) {
    const params = endpoint.match(path)
    if (params !== null) return { endpoint, params }
  }
  return null
}
