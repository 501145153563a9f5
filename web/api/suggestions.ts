import { call } from './call.ts'

/**
 * Reads keys of queries that begin with a text or, of a key, values, in the issues of a project or of all.
 * @returns `newest`: the number of issues that were counted, if there are more
 */
export async function readSuggestions(
  project: string | null,
  key: string | null,
  prefix: string,
  limit: number,
  signal: AbortSignal,
) {
  const { items, counted_issues, complete } = await call('GET /api/issues/suggestions', {
    query: { prefix, limit: String(limit), key, projectId: project === null ? null : [project] },
    signal,
  })
  return { items, newest: complete ? null : counted_issues }
}
