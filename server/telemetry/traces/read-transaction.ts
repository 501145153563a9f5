import { shortId } from '#shared/issue-values.ts'
import { findIssuesByEvent } from '../../events/store/store.queries.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { prepareQuestion } from '../performance/question.ts'
import { readOperations, readTimeShares } from '../performance/read-operations.ts'
import { readTransactionFigures, type TransactionInput } from '../performance/read-transaction.ts'
import { chooseSamples } from './choose-samples.ts'
import * as sql from './read.queries.ts'
import { slowestTraces, traceKey, type StoredRequest } from './slowest-traces.ts'
import { decodeTimedSpans } from './stored-span.ts'
import type { SpanOperations, TransactionDetail } from './transaction.api.ts'

/** Parts whose spans are read for links to traces, and their spans: some 100 ms. */
const MAX_PARTS = 100
const MAX_SPANS = 20_000
const MAX_SAMPLED = 500
const MAX_ERRORS = 500
const MAX_ISSUES = 10

/** A transaction with its figures, and traces and issues in it. @throws AppError not_found */
export async function readTransaction(app: App, actor: OrgActor, input: TransactionInput): Promise<TransactionDetail> {
  const { from, to, ...figures } = await readTransactionFigures(app, actor, input)
  const { name, op } = figures
  const scope = { projectId: input.projectId, from, to, transaction: { name, op } }
  // Spans are counted by environment only.
  const filter = { name, ...(input.environment?.length ? { environment: input.environment } : {}) }
  const [time, sampled] = await Promise.all([
    readTimeShares(app, { projectIds: [input.projectId], from, to, filter }),
    sql.sampledParts(app.db, scope, MAX_SAMPLED),
  ])
  return {
    ...figures,
    time,
    samples: chooseSamples(sampled, figures),
    issues: await issuesIn(app, input.projectId, sampled),
  }
}

/** Queries, hosts, queues, caches and resources, each with a stored trace if there is one. @throws AppError not_found */
export async function listSpanOperations(
  app: App,
  actor: OrgActor,
  { projectId, range, environment }: Pick<TransactionInput, 'projectId' | 'range' | 'environment'>,
): Promise<SpanOperations> {
  const { now } = await prepareQuestion(app, actor, { projectId, range, environment })
  const [found, requests] = await Promise.all([
    readOperations(app, now),
    readRequests(app, { projectId, from: now.from, to: now.to, transaction: null }),
  ])
  const traces = slowestTraces(requests)
  const withTrace = (operations: typeof found.queries) =>
    operations.map((one) => ({ ...one, trace_id: traces.get(traceKey(one)) ?? null }))
  return {
    range,
    queries: withTrace(found.queries),
    outgoing: withTrace(found.outgoing),
    queues: withTrace(found.queues),
    caches: withTrace(found.caches),
    resources: withTrace(found.resources),
  }
}

async function readRequests(app: App, scope: sql.PartsScope): Promise<StoredRequest[]> {
  const requests: StoredRequest[] = []
  let spans = 0
  for (const part of await sql.newestParts(app.db, scope, MAX_PARTS)) {
    const request = { traceId: part.traceId, spans: decodeTimedSpans(part.spans) }
    spans += request.spans.length
    if (spans > MAX_SPANS && requests.length > 0) break
    requests.push(request)
  }
  return requests
}

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
