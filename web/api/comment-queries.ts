import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import type { Comment } from './issue-queries.ts'

/** The newest comments of an issue, in order of time; `earlier` is the cursor of the comments before them. */
export type Comments = { items: Comment[]; total: number; earlier: string | null }

export const commentsQuery = (issueId: string) =>
  queryOptions({
    queryKey: ['comments', issueId],
    queryFn: async ({ client, signal }): Promise<Comments> => {
      // A refetch reads as many as are shown.
      const shown = client.getQueryData<Comments>(['comments', issueId])?.items.length ?? 0
      let comments = await commentsBefore(issueId, null, signal)
      while (comments.earlier !== null && comments.items.length < shown)
        comments = joined(await commentsBefore(issueId, comments.earlier, signal), comments)
      return comments
    },
  })

/** The page of comments before the cursor `earlier`; null for the newest page. */
export async function commentsBefore(issueId: string, earlier: string | null, signal?: AbortSignal): Promise<Comments> {
  const { items, total, next_cursor } = await call('GET /api/issues/:issueId/comments', {
    params: { issueId },
    query: { limit: '100', sort: '-created_at', cursor: earlier },
    ...(signal === undefined ? {} : { signal }),
  })
  return { items: items.toReversed(), total, earlier: next_cursor }
}

export const joined = (before: Comments, after: Comments): Comments => ({
  ...before,
  items: [...before.items, ...after.items],
})
