import type { OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { invalid } from '../kernel/errors.ts'
import { issueIdsMatching } from '../issue-search/list-issues.ts'
import { parseQuery } from '../issue-search/parse-query.ts'
import { MAX_BULK_ISSUES } from '#shared/limits.ts'

type Many<T> = T | T[]

/** Filters of the list as the body of a bulk request holds them. */
export type BulkQuery = {
  readonly q?: string | undefined
  readonly projectId?: Many<string> | undefined
  readonly status?: Many<'unresolved' | 'resolved' | 'ignored' | 'regressed' | 'escalated'> | undefined
  readonly severity?: Many<'critical' | 'high' | 'medium' | 'low'> | undefined
  readonly assignee_id?: Many<string> | undefined
  readonly platform?: Many<string> | undefined
  readonly seen_since?: string | undefined
}

const listed = <T>(value: Many<T> | undefined): T[] | undefined =>
  value === undefined ? undefined : Array.isArray(value) ? value : [value]

/**
 * Issues a query finds now, newest first.
 * @throws AppError invalid: a malformed query, or more than {@link MAX_BULK_ISSUES}
 */
export async function matchingIssues(app: App, actor: OrgActor, query: BulkQuery): Promise<string[]> {
  // A list passes over signs that are no words; here that would be every issue.
  if (query.q !== undefined && query.q.trim() !== '' && parseQuery(query.q, 'query') === null)
    throw invalid('query holds nothing to look for; leave it empty to mean every issue.')
  const ids = await issueIdsMatching(
    app,
    actor,
    {
      q: query.q,
      projectId: listed(query.projectId),
      status: listed(query.status),
      severity: listed(query.severity),
      assignee_id: listed(query.assignee_id),
      platform: listed(query.platform),
      seen_since: query.seen_since,
    },
    MAX_BULK_ISSUES + 1,
    'query',
  )
  if (ids.length > MAX_BULK_ISSUES)
    throw invalid('query finds more than 10,000 issues, the most that are changed at once; narrow it.')
  return ids
}
