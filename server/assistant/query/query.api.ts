import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Timestamp } from '../../platform/kernel/page.api.ts'

/** Questions as one read-only statement over five views. */

export const MAX_STATEMENT_CHARACTERS = 8_000
const MAX_QUESTION_CHARACTERS = 2_000

const text = (name: string, max: number) =>
  z
    .string({ error: `${name} must be a string.` })
    .trim()
    .min(1, { error: `${name} must not be empty.` })
    .max(max, { error: `${name} must be at most ${max.toLocaleString('en')} characters.` })

const Cell = z.union([z.string(), z.number(), z.boolean(), z.null()])

export const QueryResult = z.object({
  sql: z.string().describe('The statement that ran, with the filter that the server added.'),
  written_sql: z.string().describe('The statement before the server added its filter.'),
  additions: z
    .array(z.object({ from: z.number().int(), to: z.number().int() }))
    .describe('What the server added: ranges of characters in `sql`.'),
  columns: z.array(z.object({ name: z.string(), type: z.enum(['text', 'number', 'time', 'boolean']) })),
  rows: z.array(z.array(Cell)).describe('One list per row, in the order of the columns.'),
  row_count: z.number().int(),
  truncated: z.boolean().describe('Whether there are more rows or longer values than are answered.'),
  chart_hint: z
    .object({ kind: z.enum(['bar', 'line', 'number', 'table']), x: z.string().nullable(), y: z.string().nullable() })
    .describe('A drawing that suits the result; `x` and `y` are names of columns.'),
  explanation: z.string().describe('The question as it was understood.'),
  source: z.enum(['built_in', 'model', 'typed']).describe('Who wrote the statement.'),
  took_ms: z.number().int(),
  data_as_of: Timestamp,
})
z.globalRegistry.add(QueryResult, { id: 'QueryResult' })
export type QueryResult = z.infer<typeof QueryResult>

export const SavedQuery = z.object({
  id: Id,
  name: z.string(),
  query: z.string().nullable().describe('The question; null for a typed statement.'),
  sql: z.string().nullable().describe('The typed statement; null for a question.'),
  created_by: z.object({ id: Id, name: z.string() }).nullable(),
  created_at: Timestamp,
})
z.globalRegistry.add(SavedQuery, { id: 'SavedQuery' })
export type SavedQuery = z.infer<typeof SavedQuery>

/** A question or a statement, not both. */
const asked = {
  query: text('query', MAX_QUESTION_CHARACTERS).optional(),
  sql: text('sql', MAX_STATEMENT_CHARACTERS).optional(),
}
const isOneOf = ({ query, sql }: { query?: string | undefined; sql?: string | undefined }): boolean =>
  (query === undefined) !== (sql === undefined)
const ONE_OF = { error: 'Send either query, a question, or sql, a statement.' }

export const queryRoutes = routes({
  runQuery: {
    method: 'POST',
    path: '/api/issues/nlq',
    tag: 'Assistant',
    summary: 'Answer a question with one read-only statement',
    description:
      'The question becomes one SELECT over the views `issues`, `events`, `app_sessions`, `performance` and `releases` of the project. Everything else is refused with 400. At most 1,000 rows.',
    permission: 'ai.use',
    body: z.strictObject({ ...asked, project_id: Id }).refine(isOneOf, ONE_OF),
    response: QueryResult,
    refusals: [404, 409],
  },
  listSavedQueries: {
    method: 'GET',
    path: '/api/projects/:projectId/queries',
    tag: 'Assistant',
    summary: 'Saved queries of a project',
    permission: 'ai.use',
    params: z.object({ projectId: Id }),
    response: z.object({ items: z.array(SavedQuery) }),
    refusals: [404],
  },
  saveQuery: {
    method: 'POST',
    path: '/api/projects/:projectId/queries',
    tag: 'Assistant',
    summary: 'Save a query',
    description: 'At most 100 per project. Every member of the organisation sees it.',
    permission: 'ai.use',
    status: 201,
    params: z.object({ projectId: Id }),
    body: z.strictObject({ ...asked, name: text('name', 60) }).refine(isOneOf, ONE_OF),
    response: SavedQuery,
    refusals: [404, 409],
  },
  deleteSavedQuery: {
    method: 'DELETE',
    path: '/api/projects/:projectId/queries/:queryId',
    tag: 'Assistant',
    summary: 'Delete a saved query',
    description: 'Members delete their own, admins all.',
    permission: 'ai.use',
    status: 204,
    params: z.object({ projectId: Id, queryId: Id }),
    refusals: [404],
  },
})
