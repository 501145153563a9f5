import { z } from 'zod'
import { RoleName } from '../auth/auth.api.ts'
import { OptionalPassword } from '../auth/credentials.api.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Timestamp } from '../../platform/kernel/page.api.ts'

const base64url = (name: string, max = 2_000) =>
  z
    .string({ error: `${name} must be a string.` })
    .regex(/^[\w-]+$/, { error: `${name} must be base64url.` })
    .max(max, { error: `${name} is too long.` })

const credential = {
  id: base64url('id'),
  rawId: base64url('rawId'),
  type: z.literal('public-key', { error: 'type must be public-key.' }),
}

/** What `navigator.credentials.create` returns, as JSON. Other fields of it are not read. */
export const RegistrationResponse = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url('clientDataJSON', 8_000),
    attestationObject: base64url('attestationObject', 64_000),
    transports: z.array(z.string().max(32)).max(10).optional(),
  }),
})

/** What `navigator.credentials.get` returns, as JSON. Other fields of it are not read. */
export const LogInResponse = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url('clientDataJSON', 8_000),
    authenticatorData: base64url('authenticatorData', 8_000),
    signature: base64url('signature'),
    userHandle: base64url('userHandle').nullish(),
  }),
})

const PasskeyName = z
  .string({ error: 'name must be a string.' })
  .trim()
  .min(1, { error: 'name must not be empty.' })
  .max(80, { error: 'name must be at most 80 characters.' })

export const Passkey = z.object({
  id: Id,
  name: z.string(),
  created_at: Timestamp,
  last_used_at: Timestamp.nullable(),
  backed_up: z.boolean().describe('Whether its provider keeps copies of it, for example in a cloud account.'),
  transports: z.array(z.string()),
})
z.globalRegistry.add(Passkey, { id: 'Passkey' })

export const RegistrationOptions = z
  .object({
    rp: z.object({ id: z.string(), name: z.string() }),
    user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
    challenge: z.string(),
    pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.number().int() })),
    timeout: z.number().int(),
    excludeCredentials: z.array(
      z.object({ type: z.literal('public-key'), id: z.string(), transports: z.array(z.string()) }),
    ),
    authenticatorSelection: z.object({
      residentKey: z.literal('preferred'),
      requireResidentKey: z.literal(false),
      userVerification: z.literal('required'),
    }),
    attestation: z.literal('none'),
  })
  .describe('For `navigator.credentials.create`, as JSON.')

export const LogInOptions = z
  .object({
    challenge: z.string(),
    timeout: z.number().int(),
    rpId: z.string(),
    userVerification: z.literal('required'),
  })
  .describe('For `navigator.credentials.get`, as JSON.')

const ofPasskey = z.object({ passkeyId: Id })

export const passkeyRoutes = routes({
  startPasskeyRegistration: {
    method: 'POST',
    path: '/api/auth/passkeys/register/options',
    tag: 'Passkeys',
    summary: 'Begin to add a passkey',
    description:
      'Needs a log-in of the last 15 minutes, or the password (403 otherwise). The challenge is for this session, for 5 minutes and one use, kept in the cookie `svc_passkey`. At most 20 passkeys (409).',
    permission: 'self',
    body: OptionalPassword.optional(),
    response: RegistrationOptions,
    refusals: [409],
  },
  registerPasskey: {
    method: 'POST',
    path: '/api/auth/passkeys/register/verify',
    tag: 'Passkeys',
    summary: 'Add the passkey that the browser created',
    permission: 'self',
    status: 201,
    body: z.strictObject({ name: PasskeyName.optional(), response: RegistrationResponse }),
    response: Passkey,
    refusals: [409],
  },
  startPasskeyLogIn: {
    method: 'POST',
    path: '/api/auth/passkeys/login/options',
    tag: 'Passkeys',
    summary: 'Begin to log in with a passkey',
    description: 'Asks for no e-mail address: the authenticator offers the accounts it knows.',
    permission: 'public',
    csrf: true,
    response: LogInOptions,
  },
  logInWithPasskey: {
    method: 'POST',
    path: '/api/auth/passkeys/login/verify',
    tag: 'Passkeys',
    summary: 'Log in with a passkey and receive session cookies',
    description:
      'A passkey is both factors: no code is asked. 400 when the challenge is over, 401 for a passkey that cannot be used, whatever the reason.',
    permission: 'public',
    csrf: true,
    body: z.strictObject({ response: LogInResponse }),
    response: z.object({ ok: z.literal(true), org: z.string(), role: RoleName }),
    refusals: [401],
  },
  listPasskeys: {
    method: 'GET',
    path: '/api/auth/passkeys',
    tag: 'Passkeys',
    summary: 'Your passkeys, oldest first',
    permission: 'self',
    response: z.object({ items: z.array(Passkey) }),
  },
  renamePasskey: {
    method: 'PATCH',
    path: '/api/auth/passkeys/:passkeyId',
    tag: 'Passkeys',
    summary: 'Rename a passkey',
    permission: 'self',
    params: ofPasskey,
    body: z.strictObject({ name: PasskeyName }),
    response: Passkey,
    refusals: [404],
  },
  deletePasskey: {
    method: 'DELETE',
    path: '/api/auth/passkeys/:passkeyId',
    tag: 'Passkeys',
    summary: 'Remove a passkey',
    description:
      'It can no longer log in; sessions stay. Needs a log-in of the last 15 minutes, or the password (403 otherwise). 409 when it is your last way to sign in.',
    permission: 'self',
    status: 204,
    params: ofPasskey,
    body: OptionalPassword.optional(),
    refusals: [404, 409],
  },
})
