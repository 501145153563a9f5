import { z } from 'zod'
import { routes } from '../kernel/contract.ts'
import { Id, nameSort, pageOf, pageQuery, Timestamp } from '../kernel/page.api.ts'
import { ROLES } from '#shared/permissions.ts'

export const Member = z.object({
  id: Id,
  name: z.string(),
  email: z.string(),
  role: z.enum(ROLES),
  created_at: Timestamp,
  last_seen_at: Timestamp.nullable().describe('Newest use of a session of the member.'),
})

export const memberRoutes = routes({
  listMembers: {
    method: 'GET',
    path: '/api/team',
    tag: 'Team',
    summary: "Members of the caller's organisation",
    permission: 'team.read',
    query: z.strictObject({
      ...pageQuery(),
      q: z
        .string()
        .max(100, { error: 'q must be at most 100 characters.' })
        .optional()
        .describe('Only members whose name or email address contains this text, in any case.'),
      sort: nameSort,
    }),
    response: pageOf(Member),
  },
})
