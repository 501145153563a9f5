import type { App } from '#server/platform/context/app.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import { updateSsoConfig, type SsoConfigInput } from '#server/identity/external-identity/update-config.ts'
import { verifyDomainByOperator } from '#server/identity/external-identity/verify-domain.ts'
import { FAKE_CLIENT, type Claims, type FakeOidc, type Plan, type Tenant } from './fake-oidc.ts'
import { aPerson, type Person } from './members.ts'
import { visitor, type Visit, type Visitor } from './visitor.ts'

/** An organisation with single sign-on at a tenant of the fake provider, and a verified domain. */
export type SsoOrg = {
  readonly owner: Person
  readonly tenant: Tenant
  readonly domain: string
  readonly org: { readonly id: string; readonly slug: string }
}

export async function anSsoOrg(
  app: App,
  provider: FakeOidc,
  { plan = {}, verified = true, ...over }: Partial<SsoConfigInput> & { plan?: Plan; verified?: boolean } = {},
): Promise<SsoOrg> {
  const tenant = provider.tenant(plan)
  const owner = await aPerson(app)
  const domain = `${newId()}.example`
  const input = { issuer: tenant.issuer, ...FAKE_CLIENT, domains: [domain], jit: true, ...over }
  await updateSsoConfig(app, owner.actor, { ...input, enforced: false })
  if (verified) await verifyDomainByOperator(app, { org: owner.orgSlug, domain })
  if (over.enforced === true) await updateSsoConfig(app, owner.actor, input)
  return { owner, tenant, domain, org: { id: owner.actor.orgId, slug: owner.orgSlug } }
}

/** Claims of the provider about a user, verified unless the test says otherwise. */
export const aUserAt = ({ domain }: SsoOrg, over: Claims = {}): Claims => {
  const sub = newId()
  return { sub, email: `${sub}@${domain}`, email_verified: true, name: 'Grace Hopper', ...over }
}

/** Begins at the service. @returns where the browser is sent */
export async function startAt(url: string, { org }: SsoOrg, browser: Visitor): Promise<string> {
  return (await browser.go(`${url}/api/auth/sso/start?org=${org.slug}`)).location
}

export const callBack = (url: string, query: URLSearchParams | string, browser: Visitor): Promise<Visit> =>
  browser.go(`${url}/api/auth/sso/callback?${query.toString()}`)

/** The whole way of a user: to the provider, in, and back. */
export async function signInAt(url: string, org: SsoOrg, user: Claims, browser = visitor()): Promise<Visit> {
  return callBack(url, org.tenant.authorize(await startAt(url, org, browser), user), browser)
}
