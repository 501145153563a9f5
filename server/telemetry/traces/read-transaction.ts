import { shortId } from '#shared/issue-values.ts'
import type { RangeName } from '#shared/issue-values.ts'
import { findIssuesByEvent } from '../../events/store/store.queries.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { prepareQuestion } from '../performance/question.ts'
import { readTransactionFigures, type TransactionInput } from '../performance/read-transaction.ts'
import { chooseSamples } from './choose-samples.ts'
import * as sql from './read.queries.ts'
import { rankOperations, timeParts, type StoredRequest } from './spans-by-time.ts'
import { decodeSpans } from './stored-span.ts'
import type { TransactionDetail } from './transaction.api.ts'

/** Parts whose spans are read for one answer, and their spans: some 100 ms. */
const MAX_PARTS = 100
const MAX_SPANS = 20_000
const MAX_SAMPLED = 500
const MAX_ERRORS = 500
const MAX_ISSUES = 10

/** A transaction with its figures, and what its stored traces say. @throws AppError not_found */
export async function readTransaction(app: App, actor: OrgActor, input: TransactionInput): Promise<TransactionDetail> {
  const { from, to, ...figures } = await readTransactionFigures(app, actor, input)
  const { name, op } = figures
  const scope = { projectId: input.projectId, from, to, transaction: { name, op } }
  const [requests, sampled] = await Promise.all([
    readRequests(app, scope),
    sql.sampledParts(app.db, scope, MAX_SAMPLED),
  ])
  return {
    ...figures,
    stored: countsOf(requests),
    time: timeParts(requests),
    samples: chooseSamples(sampled, figures),
    issues: await issuesIn(app, input.projectId, sampled),
  }
}

/** Queries, hosts, queues, caches and resources of the newest stored traces. @throws AppError not_found */
export async function listSpanOperations(
  app: App,
  actor: OrgActor,
  input: { readonly projectId: string; readonly range: RangeName },
) {
  const { now } = await prepareQuestion(app, actor, input)
  const requests = await readRequests(app, { ...now, projectId: input.projectId, transaction: null })
  return { range: input.range, stored: countsOf(requests), ...rankOperations(requests) }
}

async function readRequests(app: App, scope: sql.PartsScope): Promise<StoredRequest[]> {
  const requests: StoredRequest[] = []
  let spans = 0
  for (const part of await sql.newestParts(app.db, scope, MAX_PARTS)) {
    const request = { traceId: part.traceId, transaction: part.name, spans: decodeSpans(part.spans) }
    spans += request.spans.length
    if (spans > MAX_SPANS && requests.length > 0) break
    requests.push(request)
  }
  return requests
}

const countsOf = (requests: readonly StoredRequest[]) => ({
  traces: requests.length,
  spans: requests.reduce((sum, { spans }) => sum + spans.length, 0),
})

async function issuesIn(
  app: App,
  projectId: string,
  sampled: readonly sql.SampledPart[],
): Promise<TransactionDetail['issues']> {
  const failed = sampled.filter(({ hasError }) => hasError).map(({ traceId }) => traceId)
  if (failed.length === 0) return []
  const errors = await sql.errorsOfTraces(app.db, projectId, failed, MAX_ERRORS)
  const issueOf = await findIssuesByEvent(
    app.db,
    errors.map(({ eventId }) => ({ projectId, eventId })),
  )
  const issues = await sql.issuesOfErrors(app.db, [projectId], [...new Set(issueOf.values())])
  const found = new Map<string, { issue: sql.IssueOfTrace; traces: Set<string>; lastAt: Date }>()
  for (const { traceId, eventId, occurredAt } of errors) {
    const issue = issues.get(issueOf.get(`${projectId}/${eventId}`) ?? '')
    if (issue === undefined) continue
    // The newest event of an issue comes first.
    const one = found.get(issue.id) ?? { issue, traces: new Set<string>(), lastAt: occurredAt }
    one.traces.add(traceId)
    found.set(issue.id, one)
  }
  return [...found.values()]
    .sort((a, b) => b.traces.size - a.traces.size || b.lastAt.getTime() - a.lastAt.getTime())
    .slice(0, MAX_ISSUES)
    .map(({ issue, traces, lastAt }) => ({
      issue_id: issue.id,
      short_id: shortId(issue.slug, issue.number),
      title: issue.title,
      level: issue.level,
      traces: traces.size,
      last_at: lastAt.toISOString(),
    }))
}
