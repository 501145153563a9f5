import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, pageQuery, Timestamp } from '../../platform/kernel/page.api.ts'
import { IssueStatus, Severity } from '../rules/issue.api.ts'
import { IgnoreUntilInput, ResolutionInput } from '../rules/life-cycle.api.ts'
import { MAX_BULK_ISSUES, MAX_QUERY_CHARACTERS } from '#shared/limits.ts'

/** Bulk operations: one change of many issues. */

/** Up to this number of issues are changed before the response; more are changed in a job. */
export const MAX_SYNC_ISSUES = 100

const oneOrMany = <T extends z.ZodType>(element: T) => z.union([element, z.array(element).max(100)])

/** The filters of `GET /api/issues`, in the body. */
const IssueQuery = z.strictObject({
  q: z.string().max(MAX_QUERY_CHARACTERS, { error: 'query.q must be at most 10,000 characters.' }).optional(),
  projectId: oneOrMany(Id).optional(),
  status: oneOrMany(IssueStatus).optional(),
  severity: oneOrMany(Severity).optional(),
  assignee_id: oneOrMany(z.union([Id, z.enum(['me', 'none'])])).optional(),
  platform: oneOrMany(z.string().max(50)).optional(),
  seen_since: z.iso.datetime({ offset: true, error: 'query.seen_since must be an RFC 3339 time.' }).optional(),
})

const target = {
  ids: z
    .array(Id)
    .min(1, { error: 'ids must name at least one issue.' })
    .max(MAX_BULK_ISSUES, { error: 'ids must name at most 10,000 issues. Send several requests.' })
    .optional(),
  query: z
    .union([z.string().transform((q) => ({ q })), IssueQuery], {
      error: 'query must be a search text or the filters of the list (q, projectId, status, severity, …).',
    })
    .refine(({ q = '' }) => q.length <= MAX_QUERY_CHARACTERS, {
      error: 'query must be at most 10,000 characters.',
    })
    .optional()
    .describe('Instead of ids: a search text, or the filters of GET /api/issues. At most 10,000 issues.'),
  projectId: oneOrMany(Id).optional().describe('Narrows a query.'),
  operation_id: Id.optional().describe('Chosen by the client. A repeated request returns the same operation.'),
}

const oneTarget = (body: { ids?: unknown; query?: unknown; projectId?: unknown }): boolean =>
  (body.ids === undefined) !== (body.query === undefined) && (body.ids === undefined || body.projectId === undefined)
const ONE_TARGET = { error: 'Send either ids, or query with an optional projectId.' }

const changes = {
  status: IssueStatus.optional(),
  resolution: ResolutionInput.optional(),
  ignore_until: IgnoreUntilInput.nullable().optional(),
  assignee_id: Id.nullable().optional(),
  severity: Severity.nullable().optional(),
}

/** The change as it is stored with the operation. */
export const BulkChange = z.object(changes)
export type BulkChange = z.output<typeof BulkChange>

export const BulkResult = z.enum(['changed', 'unchanged', 'failed'])
export type BulkResult = z.infer<typeof BulkResult>

export const BulkOperation = z.object({
  id: Id,
  kind: z.enum(['change', 'delete', 'undo']),
  state: z.enum(['running', 'done']),
  total: z.number().int().describe('Number of issues.'),
  done: z.number().int(),
  changed: z.number().int(),
  unchanged: z.number().int().describe('Issues that already had the requested values.'),
  failed: z.number().int(),
  can_undo: z.boolean(),
  undone_by: Id.nullable(),
  created_at: Timestamp,
  finished_at: Timestamp.nullable(),
  results: z
    .array(z.object({ issue_id: Id, result: BulkResult.nullable(), error: z.string().nullable() }))
    .describe('In the order of the request; the response to a change has the first 100.'),
  next_cursor: z
    .string()
    .nullable()
    .describe('More results: GET /api/issues/operations/:operationId?cursor= and this; null when there are no more.'),
})
export type BulkOperation = z.infer<typeof BulkOperation>

const operationParams = z.object({ operationId: Id })

export const bulkRoutes = routes({
  updateIssues: {
    method: 'PATCH',
    path: '/api/issues',
    tag: 'Issues',
    summary: 'Change many issues at once, by ids or by a query',
    description:
      'Takes the fields of PATCH /api/issues/:issueId. Up to 100 issues are changed before the response, more in the background: read the operation for progress. Each issue has a result: changed, unchanged, or failed with the reason. Unknown ids fail and do not stop the others. A repeated request with the same `operation_id` returns the same operation.',
    permission: 'issues.write',
    body: z
      .strictObject({ ...target, ...changes })
      .refine(oneTarget, ONE_TARGET)
      .refine((body) => Object.keys(changes).some((key) => body[key as keyof typeof changes] !== undefined), {
        error: 'Send at least one of status, assignee_id, severity.',
      })
      .refine((body) => body.resolution === undefined || body.status === 'resolved', {
        error: 'resolution requires status "resolved".',
      })
      .refine((body) => body.ignore_until === undefined || body.status === 'ignored', {
        error: 'ignore_until requires status "ignored".',
      }),
    response: BulkOperation,
    refusals: [409],
  },
  deleteIssues: {
    method: 'DELETE',
    path: '/api/issues',
    tag: 'Issues',
    summary: 'Delete many issues with their events, by ids or by a query',
    description: 'Same response and repetition as PATCH /api/issues. Cannot be undone.',
    permission: 'issues.admin',
    body: z.strictObject(target).refine(oneTarget, ONE_TARGET),
    response: BulkOperation,
    refusals: [409],
  },
  readOperation: {
    method: 'GET',
    path: '/api/issues/operations/:operationId',
    tag: 'Issues',
    summary: 'Progress of a change of many issues, and the result of each',
    description: 'Kept for 30 days.',
    permission: 'issues.read',
    params: operationParams,
    query: z.strictObject({ ...pageQuery(25), result: BulkResult.optional() }),
    response: BulkOperation,
    refusals: [404],
  },
  undoOperation: {
    method: 'POST',
    path: '/api/issues/operations/:operationId/undo',
    tag: 'Issues',
    summary: 'Undo a change of many issues',
    description:
      'Restores the previous values. An issue that was changed since fails and stays as it is. The undo is an operation too; a repeated request returns the same one. 409 for deletions, for undo itself, and while the change is still running.',
    permission: 'issues.write',
    params: operationParams,
    response: BulkOperation,
    refusals: [404, 409],
  },
})
