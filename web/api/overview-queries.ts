import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Range } from '../address/search.ts'
import { call, type AnswerOf } from './call.ts'
import { OPEN, type Issue } from './issue-queries.ts'

export type Overview = AnswerOf<'GET /api/overview'>

/** The four metrics, releases, issues and intake of a project: the figures of their own pages. */
export const overviewQuery = (projectId: string, range: Range) =>
  queryOptions({
    queryKey: ['metrics', 'overview', projectId, range],
    queryFn: ({ signal }) => call('GET /api/overview', { query: { projectId, range }, signal }),
    placeholderData: keepPreviousData,
    meta: { quiet: true },
  })

const MAX_ISSUES = 20

/** The newest open issues of a project, and those that came back, each newest first. */
export const changedIssuesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['issues', 'changed', projectId],
    queryFn: async ({ signal }): Promise<{ fresh: Issue[]; back: Issue[] }> => {
      const common = { projectId: [projectId], limit: String(MAX_ISSUES) }
      const [fresh, back] = await Promise.all([
        call('GET /api/issues', { query: { ...common, status: [...OPEN], sort: '-first_seen' }, signal }),
        call('GET /api/issues', { query: { ...common, status: ['regressed'], sort: '-last_seen' }, signal }),
      ])
      return { fresh: fresh.items, back: back.items }
    },
    placeholderData: keepPreviousData,
    meta: { quiet: true },
  })
