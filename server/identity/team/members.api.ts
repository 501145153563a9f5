import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, nameSort, pageSchema, pageQuery, Timestamp } from '../../platform/kernel/page.api.ts'
import { ROLES } from '#shared/permissions.ts'

export const Member = z.object({
  id: Id,
  name: z.string(),
  email: z.string(),
  role: z.enum(ROLES),
  created_at: Timestamp,
  last_seen_at: Timestamp.nullable().describe('Newest use of a session of the member; null when there is none.'),
  two_factor: z.boolean().describe('The member logs in with codes of an authenticator app.'),
  disabled_at: Timestamp.nullable().describe('Since when the member cannot log in; null for an active member.'),
})

const STATES = ['active', 'disabled', 'all'] as const

const memberId = z.object({ memberId: Id })

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
      state: z
        .enum(STATES, { error: `state must be one of ${STATES.join(', ')}.` })
        .default('active')
        .describe('Active members unless given.'),
      sort: nameSort,
    }),
    response: pageSchema(Member),
  },
  updateMember: {
    method: 'PATCH',
    path: '/api/team/:memberId',
    tag: 'Team',
    summary: "Change a member's role, or disable or enable the member",
    description:
      "A member cannot give a role above their own, and only owners change owners (403). The last owner who can log in keeps the role (409). A change ends the member's sessions in this organisation; who changes their own role gets a new session. API keys have the new role at once. A disabled member cannot log in here and is not notified.",
    permission: 'team.write',
    params: memberId,
    body: z
      .strictObject({
        role: z.enum(ROLES, { error: `role must be one of ${ROLES.join(', ')}.` }).optional(),
        disabled: z.boolean({ error: 'disabled must be true or false.' }).optional(),
      })
      .refine(({ role, disabled }) => role !== undefined || disabled !== undefined, {
        error: 'Send role or disabled.',
      }),
    response: Member,
    refusals: [404, 409],
  },
  removeMember: {
    method: 'DELETE',
    path: '/api/team/:memberId',
    tag: 'Team',
    summary: 'Remove a member from the organisation',
    description:
      "Ends the member's sessions and deletes their API keys in this organisation. Comments and assignments still name the person. Only owners remove owners (403); the last owner stays (409).",
    permission: 'team.write',
    status: 204,
    params: memberId,
    refusals: [404, 409],
  },
})
