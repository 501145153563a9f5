import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Timestamp } from '../../platform/kernel/page.api.ts'
import { ROLES } from '#shared/permissions.ts'

export const RoleName = z.enum(ROLES)

export const Ok = z.object({ ok: z.literal(true) })

export const OrgName = z
  .string({ error: 'name must be a string.' })
  .trim()
  .min(1, { error: 'name must not be empty.' })
  .max(80, { error: 'name must be at most 80 characters.' })

export const Organisation = z.object({ id: Id, slug: z.string(), name: z.string() })

export const Me = z.object({
  user: z.object({
    id: Id,
    email: z.string(),
    name: z.string(),
    role: RoleName,
    has_password: z.boolean().describe('False for users who only sign in with a provider or a passkey.'),
    created_at: Timestamp,
  }),
  org: Organisation.describe('The organisation of this session.'),
  operates: z
    .boolean()
    .describe('Owners of the organisation that set up the installation see its status: GET /api/operator/status.'),
  memberships: z
    .array(z.object({ org: Organisation, role: RoleName }))
    .describe('Every organisation the user belongs to; the one used last comes first.'),
  session: z.object({ id: Id, expires_at: Timestamp }).nullable().describe('Null for API keys.'),
})

export const authRoutes = routes({
  logOut: {
    method: 'POST',
    path: '/api/auth/logout',
    tag: 'Authentication',
    summary: 'End the session and clear its cookies',
    description: 'Returns 200 also without a session.',
    permission: 'public',
    csrf: true,
    response: Ok,
  },
  refresh: {
    method: 'POST',
    path: '/api/auth/refresh',
    tag: 'Authentication',
    summary: 'Rotate the refresh token and receive a new access token',
    description:
      'Reads the refresh cookie. A token that was already rotated ends the session (401), unless the call arrived before the response of that rotation was sent.',
    permission: 'public',
    csrf: true,
    response: Ok,
    refusals: [401],
  },
  switchOrg: {
    method: 'POST',
    path: '/api/auth/switch-org',
    tag: 'Authentication',
    summary: 'Continue in another of your organisations',
    description:
      'Ends this session, begins one in the other organisation and sets its cookies. The new session ends when the old one would have ended. 404 for an organisation you do not belong to.',
    permission: 'self',
    body: z.strictObject({
      org: z
        .string({ error: 'org must be a string.' })
        .min(1, { error: 'org must not be empty.' })
        .max(80, { error: 'org must be at most 80 characters.' })
        .describe('Slug of the organisation.'),
    }),
    response: z.object({ ok: z.literal(true), org: z.string(), role: RoleName }),
    refusals: [404],
  },
  readJwks: {
    method: 'GET',
    path: '/api/auth/jwks.json',
    tag: 'Authentication',
    summary: 'Public keys that verify access tokens',
    permission: 'public',
    response: z.object({ keys: z.array(z.record(z.string(), z.unknown())) }),
  },
  readMe: {
    method: 'GET',
    path: '/api/me',
    tag: 'Account',
    summary: 'The current user, organisation and role',
    description: 'An API key shows only the organisation it belongs to.',
    permission: 'me.read',
    response: Me,
  },
})
