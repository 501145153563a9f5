import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute } from '@tanstack/react-router'
import { ApiError } from '../api/call.ts'
import { isSessionKnown, noteSession } from '../api/session.ts'
import { meQuery, projectSettingsQuery, projectsQuery } from '../api/queries.ts'
import { ShellSearch, type Range } from '../address/search.ts'

/**
 * The routes below which those of the features stand. Their components are in layers that know features, and are added
 * in `web/routes.tsx`.
 */

/** The controls of the top bar on a page: project picker and time range. */
type PageScope = {
  project: 'any' | 'one' | 'none'
  range: boolean
  /** Whether the page shows any dates, beside the ranges. */
  dates?: boolean
  defaultRange?: Range
}

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    scope?: PageScope
  }
}

/** Starts a read that a page needs. Errors are shown by the component that uses the query. */
export const prefetch = (read: Promise<unknown>): void => void read.catch(() => undefined)

export const root = createRootRouteWithContext<{ client: QueryClient }>()()

export const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  // A first visit asks whether there is a session, instead of having every read of the page refused.
  beforeLoad: async ({ context: { client } }) => {
    if (isSessionKnown()) return
    const error: unknown = await client.query(meQuery).then(
      () => null,
      (refusal: unknown) => refusal,
    )
    if (error === null) noteSession(true)
    // The end of the session leads to the page that logs in.
    else if (error instanceof ApiError && error.status === 401) await new Promise(() => undefined)
  },
  // Not awaited: pages load their code and data meanwhile. An error 401 leads to the login page.
  loader: ({ context: { client } }) => {
    prefetch(client.query(meQuery))
    prefetch(client.query(projectsQuery))
  },
})

export const shell = createRoute({
  getParentRoute: () => signedIn,
  id: 'shell',
  validateSearch: (search) => ShellSearch.parse(search),
})

/** Several features have pages below it. */
export const organisation = createRoute({
  getParentRoute: () => shell,
  path: '/org',
  staticData: { scope: { project: 'none', range: false } },
})

/** Several features have pages below it. */
export const projectSettings = createRoute({
  getParentRoute: () => shell,
  path: '/projects/$projectId/settings',
  staticData: { scope: { project: 'one', range: false } },
  loader: ({ context, params }) => prefetch(context.client.query(projectSettingsQuery(params.projectId))),
})
