import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, pageSchema, pageQuery, Timestamp } from '../../platform/kernel/page.api.ts'
import { IssueSort, IssueStatus, Person, Severity } from '../rules/issue.api.ts'
import { MAX_QUERY_CHARACTERS, MAX_VIEW_NAME_CHARACTERS } from '#shared/limits.ts'

/** Saved views: queries with a name. */

export const MAX_OWN_VIEWS = 50
export const MAX_SHARED_VIEWS = 100

export const ViewFilters = z.strictObject(
  {
    status: z.array(IssueStatus).max(5).optional(),
    severity: z.array(Severity).max(4).optional(),
    platform: z.array(z.string().min(1).max(50)).max(20).optional(),
    projectId: z.array(Id).max(20).optional(),
    assignee_id: z
      .array(z.union([Id, z.enum(['me', 'none'])], { error: 'assignee_id must contain UUIDs, me or none.' }))
      .max(20)
      .optional(),
    range: z
      .enum(['1h', '24h', '7d', '30d'], { error: 'range must be one of 1h, 24h, 7d, 30d.' })
      .optional()
      .describe('Only issues seen within this time.'),
  },
  { error: 'filters must be an object of status, severity, platform, projectId, assignee_id, range.' },
)
export type ViewFilters = z.infer<typeof ViewFilters>

export const IssueView = z.object({
  id: Id,
  name: z.string(),
  query: z.string(),
  sort: IssueSort,
  filters: ViewFilters,
  is_shared: z.boolean().describe('Visible to the whole organisation; otherwise only to its owner.'),
  owner: Person.nullable().describe('The member who created it; null once that member is disabled or deleted.'),
  can_change: z.boolean().describe('Whether the caller may change and delete it.'),
  position: z.number().int(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type IssueView = z.infer<typeof IssueView>

const name = z
  .string({ error: 'name must be a string.' })
  .trim()
  .min(1, { error: 'name must not be empty.' })
  .max(MAX_VIEW_NAME_CHARACTERS, { error: 'name must be at most 60 characters.' })
  // A menu shows the name: one line of visible characters. Persian words and emoji contain joiners, which are invisible.
  .refine(
    (text) =>
      /[^\p{C}\p{Z}]/u.test(text) && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text.replaceAll(/[\u200C\u200D]/gu, '')),
    { error: 'name must be one line of visible characters.' },
  )
const query = z
  .string({ error: 'query must be a string.' })
  .max(MAX_QUERY_CHARACTERS, { error: 'query must be at most 10,000 characters.' })
const POSITION = { error: 'position must be a whole number from 0 to 10,000.' }
const position = z.number(POSITION).int(POSITION).min(0, POSITION).max(10_000, POSITION)
const isShared = z.boolean({ error: 'is_shared must be true or false.' })

const viewParams = z.object({ viewId: Id })

export const viewRoutes = routes({
  listViews: {
    method: 'GET',
    path: '/api/views',
    tag: 'Issues',
    summary: 'Saved views: your own and those shared with the organisation, by position',
    permission: 'issues.read',
    query: z.strictObject(pageQuery(25)),
    response: pageSchema(IssueView),
  },
  createView: {
    method: 'POST',
    path: '/api/views',
    tag: 'Issues',
    summary: 'Save a view of the issues',
    description:
      'An invalid query is refused, as in lists. Maximum: 50 own views and 100 shared ones. Sharing needs the member role.',
    permission: 'self',
    status: 201,
    body: z.strictObject({
      name,
      query: query.default(''),
      sort: IssueSort.default('-last_seen'),
      filters: ViewFilters.default({}),
      is_shared: isShared.default(false),
      position: position.default(0),
    }),
    response: IssueView,
    refusals: [409],
  },
  updateView: {
    method: 'PATCH',
    path: '/api/views/:viewId',
    tag: 'Issues',
    summary: 'Rename, change, share or move a saved view',
    description: 'Absent fields stay as they are. Admins can change shared views of other members.',
    permission: 'self',
    params: viewParams,
    body: z
      .strictObject({
        name: name.optional(),
        query: query.optional(),
        sort: IssueSort.optional(),
        filters: ViewFilters.optional(),
        is_shared: isShared.optional(),
        position: position.optional(),
      })
      .refine((body) => Object.values(body).some((value) => value !== undefined), {
        error: 'Send at least one of name, query, sort, filters, is_shared, position.',
      }),
    response: IssueView,
    refusals: [404, 409],
  },
  deleteView: {
    method: 'DELETE',
    path: '/api/views/:viewId',
    tag: 'Issues',
    summary: 'Delete a saved view',
    description: 'The owner can delete it; admins can delete shared views.',
    permission: 'self',
    status: 204,
    params: viewParams,
    refusals: [404],
  },
})
