import { systemActor, type Actor, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, invalid, notFound, unavailable } from '../../platform/kernel/errors.ts'
import { lockUntilEnd } from '../../platform/storage/advisory-lock.queries.ts'
import { asciiDomain } from '../auth/email.ts'
import { dropEnded, endRefusedSessions, NONE_ENDED } from './end-sso-sessions.ts'
import { recheckDomain } from './recheck-domains.ts'
import type { SsoConfig } from './sso.api.ts'
import { lockConfig, orgIdOfSlug, readDomain, updateDomain, verifiedElsewhere, type DomainRow } from './sso.queries.ts'
import { recordName, recordValue, viewConfig } from './view-config.ts'

/**
 * Looks for the TXT record that proves a domain of the actor's organisation.
 * @throws AppError not_found (not in the configuration), invalid (no such record), conflict (proved by another
 *   organisation), unavailable (the DNS does not answer)
 */
export async function verifyDomain(app: App, actor: OrgActor, given: string): Promise<SsoConfig> {
  const { orgId } = actor
  const name = asciiDomain(given)
  const row = name === null ? null : await readDomain(app.db, orgId, name)
  if (row === null) throw notFound('Domain')
  if (row.verified_by !== 'operator') {
    await checkRecord(app, row)
    await freeDomain(app, row)
    await markVerified(app, actor, row, 'dns')
  }
  return viewConfig(app, app.db, orgId)
}

/**
 * The operator vouches for a domain, for installations whose DNS is not visible from outside. It must be in the
 * organisation's configuration.
 * @throws AppError invalid, not_found, conflict (proved by another organisation)
 */
export async function verifyDomainByOperator(
  app: App,
  input: { readonly org: string; readonly domain: string },
): Promise<void> {
  const domain = asciiDomain(input.domain)
  if (domain === null) throw invalid(`${input.domain} is no domain.`)
  const orgId = await orgIdOfSlug(app.db, input.org)
  if (orgId === null) throw notFound('Organisation')
  if ((await readDomain(app.db, orgId, domain)) === null)
    throw invalid(`${domain} is not in the single sign-on of ${input.org}: an owner must add it first.`)
  await markVerified(app, systemActor('admin'), { org_id: orgId, domain }, 'operator')
}

/** @throws AppError invalid, unavailable */
async function checkRecord(app: App, { domain, token }: DomainRow): Promise<void> {
  const name = recordName(domain)
  const found = await app.resolveTxt(name).catch((error: unknown) => {
    app.log.info({ err: error, domain }, 'the proof of a domain could not be looked up')
    throw unavailable(`The DNS gave no answer about ${name}. Try again in a minute.`, 60)
  })
  if (found.includes(recordValue(token))) return
  const rest = found.length === 0 ? 'there is none' : 'those that exist have other values'
  throw invalid(
    `The TXT record ${name} with the value ${recordValue(token)} was not found: ${rest}. A new record may need an hour until everyone sees it.`,
  )
}

/** Another organisation may have proved the domain and lost it since. @throws AppError conflict */
async function freeDomain(app: App, { org_id, domain }: DomainRow): Promise<void> {
  const holder = await verifiedElsewhere(app.db, org_id, domain)
  if (holder === null) return
  if (holder.verified_by === 'dns') await recheckDomain(app, holder, { graceMs: 0 })
  if ((await verifiedElsewhere(app.db, org_id, domain)) !== null) throw taken(domain)
}

/** An arbitrary number. Proofs are written one after the other, so that two organisations never have one domain. */
const PROOF_LOCK = 7_201_994_326

/** @throws AppError conflict, not_found */
async function markVerified(
  app: App,
  actor: Actor,
  { org_id: orgId, domain }: Pick<DomainRow, 'org_id' | 'domain'>,
  by: 'dns' | 'operator',
): Promise<void> {
  const ended = await app.tx(async (tx) => {
    await lockUntilEnd(tx, PROOF_LOCK)
    const config = await lockConfig(tx, orgId)
    const row = await readDomain(tx, orgId, domain)
    if (row === null) throw notFound('Domain')
    if ((await verifiedElsewhere(tx, orgId, domain)) !== null) throw taken(domain)
    const now = app.clock.now()
    const proof = { verified_by: by, checked_at: now, missing_since: null }
    await updateDomain(tx, row, { ...proof, verified_at: row.verified_at ?? now })
    if (row.verified_at !== null) return NONE_ENDED
    const refused = config?.enforced === true ? await endRefusedSessions(tx, app, orgId) : NONE_ENDED
    await recordFacts(tx, factContext(app, actor), [
      { kind: 'sso.domain.verified', orgId, data: { domain } },
      ...refused.facts,
    ])
    return refused
  })
  dropEnded(app, ended)
}

const taken = (domain: string) =>
  conflict(`${domain} is proved by another organisation of this installation. Its owners must remove it there first.`)
