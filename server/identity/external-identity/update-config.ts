import { randomBytes } from 'node:crypto'
import { asciiDomain } from '../auth/email.ts'
import { selectOwners } from '../auth/auth.queries.ts'
import { maySignInByPassword } from '../auth/password-policy.ts'
import { orgSealer } from '../auth/org-sealer.ts'
import { type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, invalid } from '../../platform/kernel/errors.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { sealClientSecret } from './client-secret.ts'
import { dropEnded, endRefusedSessions, endSsoSessions, NONE_ENDED } from './end-sso-sessions.ts'
import { allowsPlainHttp } from './provider-fetch.ts'
import type { SsoConfig } from './sso.api.ts'
import {
  deleteAttempts,
  deleteConfig,
  deleteDomainsExcept,
  selectSsoDomains,
  insertConfig,
  insertDomains,
  lockConfig,
  updateConfig,
  type SsoConfigRow,
} from './sso.queries.ts'
import { viewConfig } from './view-config.ts'

export type SsoConfigInput = {
  readonly issuer: string
  readonly client_id: string
  readonly client_secret?: string | undefined
  readonly domains?: readonly string[] | undefined
  readonly jit?: boolean | undefined
  readonly default_role?: 'member' | 'viewer' | undefined
  readonly enforced?: boolean | undefined
}

/** 24 bytes in base64url. */
const newDomainToken = (): string => randomBytes(24).toString('base64url')

/**
 * Sets up or changes single sign-on of the actor's organisation.
 * @throws AppError invalid (issuer, client_secret), conflict (enforced)
 */
export async function updateSsoConfig(app: App, actor: OrgActor, input: SsoConfigInput): Promise<SsoConfig> {
  checkIssuer(app, input.issuer)
  const domains = input.domains === undefined ? null : domainNames(input.domains)
  const { orgId } = actor
  const { view, ended } = await app.tx(async (tx) => {
    const old = await lockConfig(tx, orgId)
    const now = app.clock.now()
    const isNewProvider = old !== null && old.issuer !== input.issuer
    // Else a changed issuer would receive the stored secret with the next sign-in.
    if (input.client_secret === undefined && (old === null || isNewProvider))
      throw invalid('client_secret is needed for a new issuer.')
    const sealer = await orgSealer(app, orgId, tx)
    const change = {
      issuer: input.issuer,
      client_id: input.client_id,
      jit: input.jit ?? old?.jit ?? false,
      default_role: input.default_role ?? old?.default_role ?? 'member',
      enforced: input.enforced ?? old?.enforced ?? false,
      updated_at: now,
      last_error: null,
      last_error_at: null,
    }
    const secret =
      input.client_secret === undefined
        ? null
        : { client_secret_sealed: sealClientSecret(sealer, orgId, input.client_secret), client_secret_updated_at: now }
    const fields = changedFields(old, input)
    if (old !== null) await updateConfig(tx, orgId, { ...change, ...secret })
    else if (secret !== null) await insertConfig(tx, { org_id: orgId, created_at: now, ...change, ...secret })
    if (domains !== null && (await replaceDomains(tx, orgId, domains, now))) fields.push('domains')
    // Also when the last verified domain was removed.
    if (change.enforced) await checkEnforceable(tx, orgId)
    if (isNewProvider || (old !== null && old.client_id !== input.client_id)) await deleteAttempts(tx, orgId)
    const ended = [
      isNewProvider ? await endSsoSessions(tx, app, orgId, 'sso_changed') : NONE_ENDED,
      change.enforced && old?.enforced !== true ? await endRefusedSessions(tx, app, orgId) : NONE_ENDED,
    ]
    if (fields.length > 0)
      await recordFacts(tx, factContext(app, actor), [
        { kind: 'sso.config.updated', orgId, data: { fields } },
        ...ended.flatMap(({ facts }) => facts),
      ])
    return { view: await viewConfig(app, tx, orgId), ended }
  })
  for (const one of ended) dropEnded(app, one)
  return view
}

/** Removes single sign-on of the actor's organisation and ends the sessions that began with it. */
export async function removeSsoConfig(app: App, actor: OrgActor): Promise<void> {
  const { orgId } = actor
  const ended = await app.tx(async (tx) => {
    if ((await lockConfig(tx, orgId)) === null) return null
    await deleteConfig(tx, orgId)
    const ended = await endSsoSessions(tx, app, orgId, 'sso_removed')
    const fields = ['issuer', 'client_id', 'client_secret', 'domains', 'enforced']
    await recordFacts(tx, factContext(app, actor), [
      { kind: 'sso.config.updated', orgId, data: { fields } },
      ...ended.facts,
    ])
    return ended
  })
  if (ended !== null) dropEnded(app, ended)
}

/** @throws AppError invalid */
function checkIssuer(app: App, issuer: string): void {
  const url = app.egress.checkUrl(issuer)
  if (url.protocol !== 'https:' && !allowsPlainHttp(app)) throw invalid('issuer must begin with https://.')
  if (issuer.includes('?')) throw invalid('issuer must have no query (the part after ?).')
  if (issuer.includes('/.well-known/'))
    throw invalid('issuer must be the address before /.well-known/openid-configuration.')
}

/** @throws AppError invalid */
function domainNames(given: readonly string[]): string[] {
  const names = given.map((text) => {
    const name = asciiDomain(text)
    if (name === null) throw invalid(`domains contains ${JSON.stringify(text.slice(0, 80))}, which is no domain.`)
    return name
  })
  return [...new Set(names)]
}

/** Names of what the input changes, for the audit log. */
function changedFields(old: SsoConfigRow | null, input: SsoConfigInput): string[] {
  const fields = ['issuer', 'client_id', 'jit', 'default_role', 'enforced'] as const
  const changed: string[] = fields.filter((field) => input[field] !== undefined && input[field] !== old?.[field])
  if (input.client_secret !== undefined) changed.push('client_secret')
  return changed
}

/** Domains that stay keep their proof. @returns whether the list changed */
async function replaceDomains(tx: Tx, orgId: string, domains: readonly string[], now: Date): Promise<boolean> {
  const old = new Set((await selectSsoDomains(tx, orgId)).map(({ domain }) => domain))
  const added = domains.filter((domain) => !old.has(domain))
  if (added.length === 0 && old.size === domains.length) return false
  await deleteDomainsExcept(tx, orgId, domains)
  await insertDomains(
    tx,
    added.map((domain) => ({ org_id: orgId, domain, token: newDomainToken(), created_at: now })),
  )
  return true
}

/**
 * Enforcing must concern some member, and must leave a way in when the provider is broken.
 * @throws AppError conflict
 */
async function checkEnforceable(tx: Tx, orgId: string): Promise<void> {
  const verified = (await selectSsoDomains(tx, orgId)).some(({ verified_at }) => verified_at !== null)
  if (!verified)
    throw conflict('Verify a domain first: single sign-on is enforced for the members of verified domains.')
  const withPassword = (await selectOwners(tx, orgId)).filter((owner) => owner.password_hash !== null)
  for (const owner of withPassword) if (await maySignInByPassword(tx, owner)) return
  throw conflict(
    'Set up two-factor authentication first, as an owner with a password: it is the way in when the provider is broken.',
  )
}
