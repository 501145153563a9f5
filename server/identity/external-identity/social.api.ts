import { z } from 'zod'
import { OptionalPassword, password } from '../auth/credentials.api.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { Timestamp } from '../../platform/kernel/page.api.ts'

export const PROVIDERS = ['github', 'google'] as const
export const ProviderName = z.enum(PROVIDERS)
export type ProviderName = z.infer<typeof ProviderName>

const SocialAccount = z.object({
  provider: ProviderName,
  available: z.boolean().describe('Whether the operator has switched it on.'),
  linked_at: Timestamp.nullable(),
  login: z.string().nullable().describe('The name of the linked account there; null while none is linked.'),
})
z.globalRegistry.add(SocialAccount, { id: 'SocialAccount' })
export type SocialAccount = z.infer<typeof SocialAccount>

/** Anything: an unknown one is a page of the dashboard too. */
const anyProvider = z.object({ provider: z.string().describe('github or google.') })

export const socialRoutes = routes({
  startSocial: {
    method: 'GET',
    path: '/api/auth/oauth/:provider/start',
    tag: 'Social sign-in',
    summary: 'Go to GitHub or Google to sign in, or to link an account',
    description:
      'Redirects to the provider. With link=1 the account there is linked to the user of the session, who must have logged in within 15 minutes.',
    permission: 'public',
    csrf: true,
    stream: 'redirect',
    params: anyProvider,
    query: z.looseObject({ link: z.unknown().optional().describe('1 links an account.') }),
  },
  finishSocial: {
    method: 'GET',
    path: '/api/auth/oauth/:provider/callback',
    tag: 'Social sign-in',
    summary: 'Come back from GitHub or Google',
    description:
      'Redirects to / with session cookies, to /login?step=code when a code of the authenticator app is needed (POST /api/auth/2fa/continue), to /me/security?linked=… after linking, else to /login?error=… (not_linked: log in, then call POST /api/auth/oauth/link) or /me/security?error=….',
    permission: 'public',
    stream: 'redirect',
    params: anyProvider,
    query: z.looseObject({
      code: z.unknown().optional().describe('From the provider.'),
      state: z.unknown().optional().describe('As it was sent to the provider.'),
      error: z.unknown().optional().describe('From the provider, in place of a code.'),
    }),
  },
  listSocial: {
    method: 'GET',
    path: '/api/auth/oauth',
    tag: 'Social sign-in',
    summary: 'Your linked accounts',
    permission: 'self',
    response: z.object({ items: z.array(SocialAccount) }),
  },
  linkSocial: {
    method: 'POST',
    path: '/api/auth/oauth/link',
    tag: 'Social sign-in',
    summary: 'Link the account with which you tried to sign in',
    description:
      'After a sign-in that ended with not_linked, within 10 minutes and in the same browser. Needs your password, once.',
    permission: 'self',
    body: z.strictObject({ password: password('password') }),
    response: SocialAccount,
    refusals: [409],
  },
  unlinkSocial: {
    method: 'DELETE',
    path: '/api/auth/oauth/:provider',
    tag: 'Social sign-in',
    summary: 'Unlink an account',
    description:
      'Needs a log-in of the last 15 minutes, or the password (403 otherwise). 409 when it is your last way to sign in.',
    permission: 'self',
    params: z.object({ provider: ProviderName }),
    body: OptionalPassword.optional(),
    status: 204,
    refusals: [404, 409],
  },
})
