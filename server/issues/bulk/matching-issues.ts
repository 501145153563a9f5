import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { issueIdsMatching } from '../search/list-issues.ts'
import { parseQuery } from '../search/parse-query.ts'
import { MAX_BULK_ISSUES } from '#shared/limits.ts'

type Many<T> = T | T[]

/** The filters of the list in the body of a bulk request. */
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
 * The issues that a query finds, newest first.
 * @throws AppError invalid: a malformed query, or more than {@link MAX_BULK_ISSUES}
 */
export async function matchingIssues(app: App, actor: OrgActor, query: BulkQuery): Promise<string[]> {
  // A list ignores punctuation without words; here that would mean every issue.
  if (query.q !== undefined && query.q.trim() !== '' && parseQuery(query.q, 'query') === null)
    throw invalid('query contains no search terms. Leave it empty for all issues.')
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
    throw invalid('query finds more than 10,000 issues, the maximum of one change. Narrow it.')
  return ids
}
