import { useQuery } from '@tanstack/react-query'
import { CentredMain } from '../frames/centred-main.tsx'
import { Outlet } from '@tanstack/react-router'
import { meQuery } from '../api/queries.ts'
import { appTexts } from '../app/texts.ts'
import { QueryError } from '../frames/query-error.tsx'

/**
 * Renders nothing until the user is known: a visitor without a session goes to the login page without seeing an empty
 * dashboard. The page's code and data load meanwhile.
 */
export function SignedIn() {
  const me = useQuery(meQuery)
  if (me.data !== undefined) return <Outlet />
  if (me.error !== null) {
    return (
      <CentredMain>
        <QueryError what={appTexts.yourAccount} error={me.error} onRetry={() => void me.refetch()} />
      </CentredMain>
    )
  }
  return null
}
