import { useQuery } from '@tanstack/react-query'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { subscriptionQuery, type Subscription } from '../../../api/member-queries.ts'
import { commentsTexts } from './comments/texts.ts'

/** The user's subscription to an issue, and functions that change it. */
export function useFollow(issueId: string) {
  const { data } = useQuery(subscriptionQuery(issueId))
  const { queryKey } = subscriptionQuery(issueId)
  const change = useChange<boolean, Subscription | undefined>({
    send: (wanted) =>
      wanted
        ? call('PUT /api/issues/:issueId/subscription', { params: { issueId } })
        : call('DELETE /api/issues/:issueId/subscription', { params: { issueId } }),
    touches: () => [queryKey],
    guess: (client, wanted) =>
      client.setQueryData(queryKey, (before) =>
        before === undefined ? before : { ...before, subscribed: wanted, reason: wanted ? ('manual' as const) : null },
      ),
    failed: commentsTexts.followFailed,
  })
  const follows = data?.subscribed ?? false
  return {
    isKnown: data !== undefined,
    follows,
    why: data?.reason == null ? commentsTexts.followText : commentsTexts.because[data.reason],
    toggle: () => change.mutate(!follows),
  }
}
