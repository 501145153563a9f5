import { z } from 'zod'
import { MAX_INVITED_EMAILS } from '#shared/limits.ts'
import { ROLES } from '#shared/permissions.ts'
import { Email, password } from '../auth/credentials.api.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, nameSort, pageSchema, pageQuery, Timestamp } from '../../platform/kernel/page.api.ts'

const RoleInput = z.enum(ROLES, { error: `role must be one of ${ROLES.join(', ')}.` })

export const Invite = z.object({
  id: Id,
  email: z.string(),
  role: z.enum(ROLES),
  invited_by: z.object({ id: Id, name: z.string() }).nullable().describe('Null when the account was deleted.'),
  created_at: Timestamp,
  sent_at: Timestamp.nullable().describe('When the newest mail was sent; null for an imported invitation without one.'),
  expires_at: Timestamp.describe('7 days after the newest mail. An expired invitation can be sent again.'),
})
z.globalRegistry.add(Invite, { id: 'Invite' })

export const InviteResult = z.object({
  email: z.string().describe('As it was sent.'),
  status: z.enum(['invited', 'conflict', 'invalid', 'limited']),
  invite_id: Id.optional().describe('Of the invitation that was sent.'),
  error: z.string().optional().describe('Why no invitation was sent.'),
})
z.globalRegistry.add(InviteResult, { id: 'InviteResult' })

const Token = z
  .string({ error: 'token must be a string.' })
  .min(1, { error: 'token must not be empty.' })
  .max(200, { error: 'token must be at most 200 characters.' })

const ROLE_RULE = 'A member cannot give a role above their own (403).'

export const inviteRoutes = routes({
  inviteMember: {
    method: 'POST',
    path: '/api/team',
    tag: 'Team',
    summary: 'Invite someone by mail',
    description: `The mail holds a link that is valid once, for 7 days. ${ROLE_RULE} 409 for a member and for an address with an open invitation.`,
    permission: 'team.write',
    status: 201,
    body: z.strictObject({ email: Email, role: RoleInput }),
    response: Invite,
    refusals: [409],
  },
  listInvites: {
    method: 'GET',
    path: '/api/invites',
    tag: 'Team',
    summary: 'Invitations that were neither accepted nor revoked',
    description: 'Expired ones too, for 30 days. The name of the sort is the email address.',
    permission: 'invites.read',
    query: z.strictObject({ ...pageQuery(), sort: nameSort }),
    response: pageSchema(Invite),
  },
  inviteMembers: {
    method: 'POST',
    path: '/api/invites',
    tag: 'Team',
    summary: 'Invite many addresses by mail',
    description: `Takes \`emails\`, at most ${MAX_INVITED_EMAILS}, or \`email\`. The response has a result for each address, in the same order: an address that is refused does not stop the others. ${ROLE_RULE}`,
    permission: 'team.write',
    body: z
      .strictObject({
        emails: z
          .array(z.string({ error: 'emails must be a list of addresses.' }).max(1_000), {
            error: 'emails must be a list of addresses.',
          })
          .min(1, { error: 'emails must name at least one address.' })
          .max(MAX_INVITED_EMAILS, { error: `emails must name at most ${MAX_INVITED_EMAILS} addresses.` })
          .optional(),
        email: z.string({ error: 'email must be a string.' }).max(1_000).optional(),
        role: RoleInput,
      })
      .refine(({ emails, email }) => (emails === undefined) !== (email === undefined), {
        error: 'Send emails or email.',
      }),
    response: z.object({ results: z.array(InviteResult) }),
  },
  resendInvite: {
    method: 'POST',
    path: '/api/invites/:inviteId/resend',
    tag: 'Team',
    summary: 'Send an invitation again',
    description: 'The new link is valid for 7 days; the one before is no longer valid.',
    permission: 'team.write',
    params: z.object({ inviteId: Id }),
    response: Invite,
    refusals: [404, 409],
  },
  revokeInvite: {
    method: 'DELETE',
    path: '/api/invites/:inviteId',
    tag: 'Team',
    summary: 'Revoke an invitation',
    permission: 'team.write',
    status: 204,
    params: z.object({ inviteId: Id }),
    refusals: [404],
  },
  readInvite: {
    method: 'POST',
    path: '/api/auth/read-invite',
    tag: 'Authentication',
    summary: 'What an invitation offers, for its page',
    description: 'An expired, used, revoked or unknown token is the same 400.',
    permission: 'public',
    csrf: true,
    body: z.strictObject({ token: Token }),
    response: z.object({
      email: z.string(),
      org: z.object({ name: z.string(), slug: z.string() }),
      role: z.enum(ROLES),
      invited_by: z.string().nullable().describe('Name of the member; null when the account was deleted.'),
      has_account: z.boolean().describe('The address has an account: it is accepted with its password or session.'),
      expires_at: Timestamp,
    }),
  },
  acceptInvite: {
    method: 'POST',
    path: '/api/auth/accept-invite',
    tag: 'Authentication',
    summary: 'Accept an invitation',
    description:
      'Without an account of the invited address, creates one with `password` and `name`. With one, adds the organisation to it: for its password, or for its session. Sets no cookies: log in next, or switch the organisation. An expired, used, revoked or unknown token is the same 400.',
    permission: 'public',
    csrf: true,
    body: z.strictObject({
      token: Token,
      password: password('password').optional(),
      name: z
        .string({ error: 'name must be a string.' })
        .trim()
        .min(1, { error: 'name must not be empty.' })
        .max(120, { error: 'name must be at most 120 characters.' })
        .optional()
        .describe('Of a new account; the part of the address before the @ unless given.'),
    }),
    response: z.object({
      ok: z.literal(true),
      org: z.string(),
      role: z.enum(ROLES),
      warning: z.string().optional().describe('A weakness of the password, which was accepted.'),
    }),
    refusals: [401, 409],
  },
})
