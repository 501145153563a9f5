import { expect, test } from 'vitest'
import { createTxtResolver } from '#server/platform/egress/resolve-txt.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import { aPerson, type Person } from '#test/kit/members.ts'
import { queuedMails } from '#test/kit/queued-mails.ts'
import { SSO_INPUT } from '#test/kit/sso.ts'
import { testApp } from '#test/kit/test-app.ts'
import { txtServer } from '#test/kit/txt-server.ts'
import { recheckDomains } from './recheck-domains.ts'
import type { SsoConfig } from './sso.api.ts'
import { updateSsoConfig } from './update-config.ts'
import { verifyDomain, verifyDomainByOperator } from './verify-domain.ts'
import { viewConfig } from './view-config.ts'

const dns = await txtServer()
const t = await testApp({ resolveTxt: createTxtResolver([dns.address]) })
t.onClose(() => dns.close())

const DAY_MS = 86_400_000

/** An owner whose single sign-on lists the domain. */
async function withDomain(domain: string): Promise<{ owner: Person; record: SsoConfig['domains'][number] }> {
  const owner = await aPerson(t.app)
  const config = await updateSsoConfig(t.app, owner.actor, { ...SSO_INPUT, domains: [domain] })
  const [record] = config.domains
  if (record === undefined) throw new Error('the domain is not in the configuration')
  return { owner, record }
}

const aDomain = (): string => `${newId()}.example`
const stateOf = async ({ actor }: Person) => (await viewConfig(t.app, t.app.db, actor.orgId)).domains[0]
const verify = ({ actor }: Person, domain: string) => verifyDomain(t.app, actor, domain)

test('the record of a domain proves it', async () => {
  const domain = aDomain()
  const { owner, record } = await withDomain(domain)
  expect(record).toMatchObject({ record_name: `_svc-verify.${domain}`, verified_at: null })
  expect(record.record_value).toMatch(/^svc-domain=[\w-]{32}$/)
  await expect(verify(owner, domain)).rejects.toMatchObject({ code: 'invalid' })
  for (const wrong of [
    'svc-domain=x',
    `x${record.record_value}`,
    `${record.record_value} `,
    record.record_value.slice(0, -1),
  ]) {
    dns.set(record.record_name, [wrong])
    await expect(verify(owner, domain)).rejects.toMatchObject({ code: 'invalid' })
  }
  dns.set(record.record_name, 'failure')
  await expect(verify(owner, domain)).rejects.toMatchObject({ code: 'unavailable' })
  dns.set(record.record_name, ['v=spf1 -all', record.record_value])
  expect((await verify(owner, domain.toUpperCase())).domains).toMatchObject([{ domain, verified_by: 'dns' }])
  expect((await verify(owner, domain)).domains).toHaveLength(1)
})

test('a configuration that keeps a domain keeps its proof; one that drops it loses it', async () => {
  const domain = aDomain()
  const { owner, record } = await withDomain(domain)
  dns.set(record.record_name, [record.record_value])
  await verify(owner, domain)
  const other = aDomain()
  await updateSsoConfig(t.app, owner.actor, { ...SSO_INPUT, domains: [other, `${domain.toUpperCase()}.`] })
  const kept = (await viewConfig(t.app, t.app.db, owner.actor.orgId)).domains.find((row) => row.domain === domain)
  expect(kept?.verified_at).not.toBeNull()
  await updateSsoConfig(t.app, owner.actor, { ...SSO_INPUT, domains: [] })
  const again = await updateSsoConfig(t.app, owner.actor, { ...SSO_INPUT, domains: [domain] })
  expect(again.domains[0]?.verified_at).toBeNull()
  expect(again.domains[0]?.record_value).not.toBe(record.record_value)
})

test.each([
  'example',
  '',
  '192.0.2.1',
  'a b.example',
  'user@example.com',
  '*.example.com',
  '-a.example',
  'exa mple.com',
  '.',
])('%j is no domain', async (domain) => {
  const owner = await aPerson(t.app)
  const input = { ...SSO_INPUT, domains: [domain] }
  await expect(updateSsoConfig(t.app, owner.actor, input)).rejects.toMatchObject({ code: 'invalid' })
})

test('an internationalised domain has one form', async () => {
  const { record } = await withDomain('Bücher.example')
  expect(record.domain).toBe('xn--bcher-kva.example')
})

test('one organisation has a domain: another one is refused, until the record of the first is gone', async () => {
  const domain = aDomain()
  const [first, second] = [await withDomain(domain), await withDomain(domain)]
  const name = first.record.record_name
  dns.set(name, [first.record.record_value, second.record.record_value])
  await verify(first.owner, domain)
  await expect(verify(second.owner, domain)).rejects.toMatchObject({ code: 'conflict' })
  expect(await stateOf(first.owner)).toMatchObject({ verified_by: 'dns' })
  dns.set(name, [second.record.record_value])
  await verify(second.owner, domain)
  expect(await stateOf(first.owner)).toMatchObject({ verified_at: null })
  expect(await stateOf(second.owner)).toMatchObject({ verified_by: 'dns' })
})

test('of parallel proofs by many organisations one counts', async () => {
  const domain = aDomain()
  const owners = await Promise.all(Array.from({ length: 5 }, () => withDomain(domain)))
  dns.set(
    `_svc-verify.${domain}`,
    owners.map(({ record }) => record.record_value),
  )
  const results = await Promise.allSettled(owners.map(({ owner }) => verify(owner, domain)))
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test("the operator's word needs no record and is not checked again", async () => {
  const domain = aDomain()
  const [{ owner }, other] = [await withDomain(domain), await withDomain(domain)]
  await verifyDomainByOperator(t.app, { org: owner.orgSlug, domain })
  t.clock.advance(30 * DAY_MS)
  await recheckDomains(t.app)
  expect(await stateOf(owner)).toMatchObject({ verified_by: 'operator' })
  dns.set(other.record.record_name, [other.record.record_value])
  await expect(verify(other.owner, domain)).rejects.toMatchObject({ code: 'conflict' })
  await expect(verifyDomainByOperator(t.app, { org: owner.orgSlug, domain: aDomain() })).rejects.toMatchObject({
    code: 'invalid',
  })
  await expect(verifyDomainByOperator(t.app, { org: 'nowhere', domain })).rejects.toMatchObject({ code: 'not_found' })
})

test('a record is looked for every week; a missing one is reported, and a week later the domain is not verified', async () => {
  const domain = aDomain()
  const { owner, record } = await withDomain(domain)
  dns.set(record.record_name, [record.record_value])
  await verify(owner, domain)
  dns.set(record.record_name, 'unknown')
  const after = async (days: number) => {
    t.clock.advance(days * DAY_MS)
    await recheckDomains(t.app)
    return stateOf(owner)
  }
  expect(await after(6)).toMatchObject({ verified_by: 'dns', missing_since: null })
  expect(await after(2)).toMatchObject({ verified_by: 'dns', missing_since: t.clock.now().toISOString() })
  const mails = async () => (await queuedMails(t.app, owner.email)).filter(({ type }) => type === 'sso.domain.missing')
  expect(await mails()).toHaveLength(1)
  dns.set(record.record_name, 'failure')
  expect(await after(8)).toMatchObject({ verified_by: 'dns' })
  dns.set(record.record_name, [record.record_value])
  expect(await after(1)).toMatchObject({ verified_by: 'dns', missing_since: null })
  dns.set(record.record_name, [])
  expect(await after(8)).toMatchObject({ verified_by: 'dns' })
  expect(await after(6)).toMatchObject({ verified_by: 'dns' })
  expect(await after(1)).toMatchObject({ verified_at: null, verified_by: null })
  expect(await mails()).toHaveLength(3)
})
