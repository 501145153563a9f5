import { z } from 'zod'
import { Ok, RoleName } from '../auth/auth.api.ts'
import { OptionalPassword } from '../auth/credentials.api.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { Timestamp } from '../../platform/kernel/page.api.ts'

const token = z
  .string({ error: 'token must be a string.' })
  .trim()
  .min(1, { error: 'token must not be empty.' })
  .max(64, { error: 'token must be at most 64 characters.' })

export const TwoFactor = z.object({
  enabled: z.boolean(),
  enrolled_at: Timestamp.nullable(),
  backup_codes_left: z.number().int().describe('Backup codes that were not used yet; 0 while it is off.'),
})

const BackupCodes = z
  .array(z.string())
  .describe('Ten codes of ten characters, each accepted once in place of a code of the app. Shown only here.')

export const twoFactorRoutes = routes({
  readTwoFactor: {
    method: 'GET',
    path: '/api/auth/2fa',
    tag: 'Authentication',
    summary: 'Whether your log-in asks for a code',
    permission: 'self',
    response: TwoFactor,
  },
  setUpTwoFactor: {
    method: 'POST',
    path: '/api/auth/2fa/setup',
    tag: 'Authentication',
    summary: 'Create the secret for an authenticator app',
    description:
      'Nothing changes until POST /api/auth/2fa/verify; a new setup replaces one that was not verified. Needs a log-in of the last 15 minutes, or the password (403 otherwise). 409 while two-factor authentication is on.',
    permission: 'self',
    body: OptionalPassword.optional(),
    response: z.object({
      otpauthUrl: z.string().describe('What the app reads from a QR code.'),
      backupCodes: BackupCodes,
    }),
    refusals: [409],
  },
  verifyTwoFactor: {
    method: 'POST',
    path: '/api/auth/2fa/verify',
    tag: 'Authentication',
    summary: 'Turn on two-factor authentication with a code of the app',
    description: 'Ends every session of the account and starts a new one with new cookies. 400 for a wrong code.',
    permission: 'self',
    body: z.strictObject({ token }),
    response: Ok,
    refusals: [409],
  },
  disableTwoFactor: {
    method: 'POST',
    path: '/api/auth/2fa/disable',
    tag: 'Authentication',
    summary: 'Turn off two-factor authentication',
    description:
      'Ends every session of the account and starts a new one with new cookies. Users without a password need a log-in of the last 15 minutes instead.',
    permission: 'self',
    body: OptionalPassword.optional(),
    response: Ok,
    refusals: [409],
  },
  replaceBackupCodes: {
    method: 'POST',
    path: '/api/auth/2fa/backup-codes',
    tag: 'Authentication',
    summary: 'Create new backup codes',
    description:
      'The old ones stop working. Users without a password need a log-in of the last 15 minutes instead of the password.',
    permission: 'self',
    body: OptionalPassword.optional(),
    response: z.object({ backupCodes: BackupCodes }),
    refusals: [409],
  },
  continueSignIn: {
    method: 'POST',
    path: '/api/auth/2fa/continue',
    tag: 'Authentication',
    summary: 'Complete a sign-in that waits for a code',
    description:
      'After single sign-on or a social account led to `/login?step=code`: the cookie `svc_pending` names the sign-in for 5 minutes. 400 when it is over, 401 for a wrong or used code. Takes a backup code as well.',
    permission: 'public',
    csrf: true,
    body: z.strictObject({ token }),
    response: z.object({
      ok: z.literal(true),
      org: z.string(),
      role: RoleName,
      warning: z.string().optional().describe('Few backup codes are left.'),
    }),
    refusals: [401],
  },
})
