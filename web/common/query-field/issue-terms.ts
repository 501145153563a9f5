import { call } from '../../api/call.ts'
import type { QuerySource } from './source.ts'

const LIMIT = '20'

/** Suggests terms of issue queries, from the issues of a project or of all. */
export const issueTermsOf = (project: string | null): QuerySource => ({
  id: `issues ${project ?? ''}`,
  unit: 'issue',
  suggest: async (key, prefix, signal) => {
    const { items, counted_issues, complete } = await call('GET /api/issues/suggestions', {
      query: {
        prefix,
        limit: LIMIT,
        ...(key === null ? {} : { key }),
        ...(project === null ? {} : { projectId: [project] }),
      },
      signal,
    })
    return { items, newest: complete ? null : counted_issues }
  },
})
