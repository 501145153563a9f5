import { z } from 'zod'
import { Me, Ok, RoleName } from '../auth/auth.api.ts'
import { Email, password } from '../auth/credentials.api.ts'
import { routes } from '../../platform/kernel/contract.ts'

const OAUTH_PROVIDERS = ['github', 'google'] as const

const UserName = z
  .string({ error: 'name must be a string.' })
  .trim()
  .min(1, { error: 'name must not be empty.' })
  .max(120, { error: 'name must be at most 120 characters.' })

/** The secret of a link in a mail. Its form is not checked: a wrong one has the same answer as a used one. */
const LinkToken = z
  .string({ error: 'token must be a string.' })
  .min(1, { error: 'token must not be empty.' })
  .max(200, { error: 'token must be at most 200 characters.' })

export const accountRoutes = routes({
  signUp: {
    method: 'POST',
    path: '/api/auth/signup',
    tag: 'Authentication',
    summary: 'Create a user and an organisation',
    description:
      'The first sign-up of an installation always works; later ones as FAULTLINE_SIGNUP says (403 otherwise). Sets no cookies: log in next. `org` is the slug of the new organisation; a taken slug gets a suffix.',
    permission: 'public',
    csrf: true,
    status: 201,
    body: z.strictObject({
      email: Email,
      password: password('password'),
      name: UserName,
      org: z
        .string()
        .trim()
        .min(1, { error: 'org must not be empty.' })
        .max(80, { error: 'org must be at most 80 characters.' }),
    }),
    response: z.object({
      ok: z.literal(true),
      org: z.string(),
      warning: z
        .string()
        .optional()
        .describe('A weakness of the password, which was accepted because of PASSWORD_CHECK=warn.'),
    }),
    refusals: [409],
  },
  logIn: {
    method: 'POST',
    path: '/api/auth/login',
    tag: 'Authentication',
    summary: 'Log in and receive session cookies',
    description:
      'A session belongs to one organisation: the one the user used last. `org` is its slug. Users with two-factor authentication also send `totpToken`, a code of their app or a backup code; without it a right password answers `totp_required` and sets no cookies. 403 after the right password of a user without an organisation.',
    permission: 'public',
    csrf: true,
    body: z.strictObject({ email: Email, password: password('password'), totpToken: z.string().max(64).optional() }),
    response: z.union([
      z.object({
        ok: z.literal(true),
        org: z.string(),
        role: RoleName,
        warning: z.string().optional().describe('Few backup codes are left.'),
      }),
      z.object({ totp_required: z.literal(true) }),
    ]),
    refusals: [401],
  },
  changePassword: {
    method: 'POST',
    path: '/api/auth/change-password',
    tag: 'Authentication',
    summary: 'Change your password',
    description: 'Ends every other session and gives this one new cookies.',
    permission: 'self',
    body: z.strictObject({ currentPassword: password('currentPassword'), newPassword: password('newPassword') }),
    response: z.object({ ok: z.literal(true), warning: z.string().optional() }),
  },
  readMethods: {
    method: 'GET',
    path: '/api/auth/methods',
    tag: 'Authentication',
    summary: 'What the log-in page offers',
    permission: 'public',
    response: z.object({
      signup: z.enum(['open', 'invite', 'closed']).describe('Who may sign up.'),
      first: z.boolean().describe('There is no organisation yet: the next sign-up works with any setting.'),
      oauth: z.array(z.enum(OAUTH_PROVIDERS)).describe('Social accounts that are configured.'),
      passkeys: z.boolean().describe('False where PUBLIC_URL is an address of digits, which browsers refuse.'),
      sso: z.literal(true),
    }),
  },
  forgotPassword: {
    method: 'POST',
    path: '/api/auth/forgot-password',
    tag: 'Authentication',
    summary: 'Ask for a link that resets the password',
    description:
      'Always 200, for any address. The mail follows within seconds; at most 5 per address and 30 per IP address an hour.',
    permission: 'public',
    csrf: true,
    body: z.strictObject({ email: Email }),
    response: Ok,
  },
  resetPassword: {
    method: 'POST',
    path: '/api/auth/reset-password',
    tag: 'Authentication',
    summary: 'Set a new password with the link of a mail',
    description:
      'The newest link works once, for an hour. Ends every session of the user and sets no cookies: log in next. Two-factor authentication stays on, unless this is the first proof of an address with which anyone may have signed up: then passkeys, linked accounts, two-factor authentication and API keys are removed, and the mail about the new password lists them.',
    permission: 'public',
    csrf: true,
    body: z.strictObject({ token: LinkToken, password: password('password') }),
    response: z.object({ ok: z.literal(true), warning: z.string().optional() }),
  },
  changeEmail: {
    method: 'POST',
    path: '/api/auth/change-email',
    tag: 'Account',
    summary: 'Ask to change your e-mail address',
    description:
      'Mails a link to the new address; the change happens when it is confirmed, within an hour. The present address is informed. A user without a password must have logged in within 15 minutes.',
    permission: 'self',
    body: z.strictObject({ email: Email, password: password('password').optional() }),
    response: Ok,
    refusals: [409],
  },
  confirmEmail: {
    method: 'POST',
    path: '/api/auth/confirm-email',
    tag: 'Account',
    summary: 'Confirm a new e-mail address with the link of a mail',
    permission: 'public',
    csrf: true,
    body: z.strictObject({ token: LinkToken }),
    response: Ok,
    refusals: [409],
  },
  updateMe: {
    method: 'PATCH',
    path: '/api/me',
    tag: 'Account',
    summary: 'Change your name',
    permission: 'self',
    body: z.strictObject({ name: UserName }),
    response: Me,
  },
  deleteMe: {
    method: 'DELETE',
    path: '/api/me',
    tag: 'Account',
    summary: 'Delete your account',
    description:
      'Ends your sessions and memberships and erases deliveries about you. What you did in an organisation stays there without your name. 409 while you are the only owner of an organisation. A user without a password must have logged in within 15 minutes.',
    permission: 'self',
    status: 204,
    body: z.strictObject({ password: password('password').optional() }),
    refusals: [409],
  },
})
