import { z } from 'zod'
import { RoleName } from '../auth/auth.api.ts'
import { password } from '../auth/credentials.api.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { Timestamp } from '../../platform/kernel/page.api.ts'

const MAX_DOMAINS = 20

/** Roles that single sign-on may give. */
const DefaultRole = z.enum(['member', 'viewer'], { error: 'default_role must be member or viewer.' })

const Domain = z.object({
  domain: z.string(),
  verified_at: Timestamp.nullable(),
  verified_by: z.enum(['dns', 'operator']).nullable(),
  missing_since: Timestamp.nullable().describe(
    'Since when the TXT record of a verified domain is missing; null while it is there, and for other domains.',
  ),
  record_name: z.string().describe('Name of the TXT record that proves the domain.'),
  record_value: z.string(),
})

export const SsoConfig = z.object({
  issuer: z.string().nullable().describe('Null while single sign-on is not set up.'),
  client_id: z.string().nullable(),
  client_secret: z.object({ configured: z.boolean(), updated_at: Timestamp.nullable() }).describe('Never its value.'),
  domains: z.array(Domain),
  jit: z.boolean(),
  default_role: DefaultRole,
  enforced: z.boolean(),
  callback_url: z.string().describe('The redirect URI to enter at the provider.'),
  sign_in_url: z.string().describe('Where members begin to sign in.'),
  last_error: z
    .object({ text: z.string(), at: Timestamp })
    .nullable()
    .describe('Why the provider could not be used, most recently; null after a sign-in that succeeded.'),
})
z.globalRegistry.add(SsoConfig, { id: 'SsoConfig' })
export type SsoConfig = z.infer<typeof SsoConfig>

const text = (name: string, max: number) =>
  z
    .string({ error: `${name} must be a string.` })
    .min(1, { error: `${name} must not be empty.` })
    .max(max, { error: `${name} must be at most ${max} characters.` })
const flag = (name: string) => z.boolean({ error: `${name} must be true or false.` })
const DOMAIN = { error: 'domains must be a list of names such as example.com.' }
/** A provider may add parameters of its own, and its errors must reach the log-in page. */
const callbackQuery = z.looseObject({
  code: z.unknown().optional().describe('From the provider.'),
  state: z.unknown().optional().describe('As it was sent to the provider.'),
  iss: z.unknown().optional().describe('The issuer, from providers that announce it.'),
  error: z.unknown().optional().describe('From the provider, in place of a code.'),
})

export const ssoRoutes = routes({
  startSso: {
    method: 'GET',
    path: '/api/auth/sso/start',
    tag: 'Single sign-on',
    summary: 'Go to the OIDC provider of an organisation',
    description:
      'Redirects to the provider and sets the cookie svc_sso, which must come back with the browser within 10 minutes. Without an organisation that has single sign-on it redirects to /login?error=sso_unavailable.',
    permission: 'public',
    csrf: true,
    stream: 'redirect',
    query: z.looseObject({ org: z.unknown().optional().describe('Slug of the organisation.') }),
  },
  finishSso: {
    method: 'GET',
    path: '/api/auth/sso/callback',
    tag: 'Single sign-on',
    summary: 'Come back from the OIDC provider',
    description:
      'The provider sends the browser here. Redirects to / with session cookies; to /login?step=link when the password must confirm the account first (POST /api/auth/sso/link); to /login?step=code when a code of the authenticator app is needed (POST /api/auth/2fa/continue); else to /login?error=…',
    permission: 'public',
    stream: 'redirect',
    query: callbackQuery,
  },
  linkSso: {
    method: 'POST',
    path: '/api/auth/sso/link',
    tag: 'Single sign-on',
    summary: 'Confirm with the password that an account and the sign-in at the provider belong together',
    description:
      'After /login?step=link. Links both and signs in; later sign-ins at the provider need no password. `totp_required`: send the password again, with a code.',
    permission: 'public',
    csrf: true,
    body: z.strictObject({ password: password('password'), totpToken: z.string().max(64).optional() }),
    response: z.union([
      z.object({ ok: z.literal(true), org: z.string(), role: RoleName }),
      z.object({ totp_required: z.literal(true) }),
    ]),
    refusals: [401, 409],
  },
  readSsoConfig: {
    method: 'GET',
    path: '/api/auth/sso/config',
    tag: 'Single sign-on',
    summary: 'How single sign-on is set up',
    permission: 'sso.manage',
    response: SsoConfig,
  },
  updateSsoConfig: {
    method: 'PUT',
    path: '/api/auth/sso/config',
    tag: 'Single sign-on',
    summary: 'Set up or change single sign-on',
    description:
      'Fields that are not sent keep their value. The client secret is needed the first time and with every new issuer. `domains` is the whole list; a new one must be verified. `enforced` needs a verified domain and an owner who can still sign in with a password (409).',
    permission: 'sso.manage',
    body: z.strictObject({
      issuer: text('issuer', 2_048),
      client_id: text('client_id', 255),
      client_secret: text('client_secret', 1_024).optional(),
      domains: z
        .array(z.string(DOMAIN).max(253, DOMAIN), DOMAIN)
        .max(MAX_DOMAINS, { error: `domains must hold at most ${MAX_DOMAINS}.` })
        .optional(),
      jit: flag('jit').optional().describe('Whether users whom the provider names for the first time become members.'),
      default_role: DefaultRole.optional().describe('Role of such members.'),
      enforced: flag('enforced')
        .optional()
        .describe('Refuses passwords of members of the verified domains, and ends their other sessions here.'),
    }),
    response: SsoConfig,
    refusals: [409],
  },
  removeSsoConfig: {
    method: 'DELETE',
    path: '/api/auth/sso/config',
    tag: 'Single sign-on',
    summary: 'Remove single sign-on',
    description: 'Ends every session that began with it, and removes domains and linked identities.',
    permission: 'sso.manage',
    status: 204,
  },
  verifySsoDomain: {
    method: 'POST',
    path: '/api/auth/sso/domains/:domain/verify',
    tag: 'Single sign-on',
    summary: 'Check the proof of a domain',
    description:
      'Looks for the TXT record. 400 when it is not there, 409 when another organisation has proved the domain.',
    permission: 'sso.manage',
    params: z.object({ domain: z.string().max(253) }),
    response: SsoConfig,
    refusals: [404, 409],
  },
})
