// Before any component with a CSS module: base.css declares the order of the layers.
import './ui/tokens.css'
import './ui/base.css'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { retryReads } from './api/queries.ts'
import { onSessionEnd } from './api/session.ts'
import { parseSessionEnd } from './api/session-end.ts'
import { forgetReads } from './api/unwatched.ts'
import { forgetDrafts } from './features/issues/page/comments/drafts.ts'
import { startKeys } from './app/keys.ts'
import { paths } from './address/paths.ts'
import { startPrefs } from './app/prefs.ts'
import { forgetRecents } from './app/recents.ts'
import { makeRouter } from './routes.tsx'

const client = new QueryClient({
  defaultOptions: {
    // The live stream invalidates queries, so focus need not refetch them.
    queries: { retry: retryReads, staleTime: 5000, refetchOnWindowFocus: false },
  },
})
const router = makeRouter(client)

/** Where an ended session changes nothing. */
const ENTRY_PAGES = new Set([
  '/login',
  '/signup',
  '/forgot',
  '/reset',
  '/invite',
  '/confirm-email',
  '/chat/link',
  '/unsubscribe',
])

startPrefs()
startKeys()

onSessionEnd(({ left, reason }) => {
  const { pathname, href } = router.state.location
  client.clear()
  forgetReads()
  forgetRecents()
  if (left) forgetDrafts()
  // Pages that work without a session.
  if (ENTRY_PAGES.has(pathname)) return
  const next = pathname === '/' ? undefined : href
  const ended = reason === null ? undefined : parseSessionEnd(reason)
  void router.navigate({ ...(ended === undefined ? paths.login(next) : paths.loginAfter(ended, next)), replace: true })
})

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no element with the id root')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
