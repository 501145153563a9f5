import { systemActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { asciiDomain } from '../auth/email-domain.ts'
import { invalid, notFound } from '../../platform/kernel/errors.ts'
import { orgIdOfSlug, readDomain } from './sso.queries.ts'
import { markVerified } from './verify-domain.ts'

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
