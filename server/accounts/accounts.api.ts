import { z } from 'zod'
import { RoleName } from '../auth/auth.api.ts'
import { Email, password } from '../auth/credentials.api.ts'
import { routes } from '../kernel/contract.ts'

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
      name: z
        .string()
        .trim()
        .min(1, { error: 'name must not be empty.' })
        .max(120, { error: 'name must be at most 120 characters.' }),
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
    refusals: [409, 429],
  },
  logIn: {
    method: 'POST',
    path: '/api/auth/login',
    tag: 'Authentication',
    summary: 'Log in and receive session cookies',
    description:
      'A session belongs to one organisation: the one the user used last. `org` is its slug. Users with two-factor authentication also send `totpToken`, a code of their app or a backup code; without it a right password answers `totp_required` and sets no cookies.',
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
    refusals: [429],
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
    refusals: [429],
  },
})
