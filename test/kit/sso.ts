import { newPendingLink } from '#server/identity/external-identity/visits.ts'
import type { App } from '#server/platform/context/app.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import { insertPendingLink } from '#server/identity/external-identity/external-identities.queries.ts'
import { updateSsoConfig, type SsoConfigInput } from '#server/identity/external-identity/update-config.ts'
import type { Person } from './members.ts'
import { setTxtRecord } from './txt-records.ts'

/** A provider that no test asks. */
export const SSO_INPUT = {
  issuer: 'http://127.0.0.1:9/',
  client_id: 'faultline',
  client_secret: 'a secret of the provider',
} as const satisfies SsoConfigInput

/** A domain of the owner's organisation, with its record in place and not yet verified. */
export async function anSsoDomain(app: App, owner: Person): Promise<string> {
  const domain = `${newId()}.example`
  const config = await updateSsoConfig(app, owner.actor, { ...SSO_INPUT, domains: [domain] })
  for (const { record_name, record_value } of config.domains) setTxtRecord(record_name, record_value)
  return domain
}

/** The cookie of a browser whose user must confirm an identity with the password. */
export async function pendingSsoLink(app: App, { actor }: Person): Promise<string> {
  await updateSsoConfig(app, actor, SSO_INPUT)
  const { token, row } = newPendingLink(app)
  const link = { ...row, org_id: actor.orgId, issuer: SSO_INPUT.issuer, subject: newId(), user_id: actor.userId }
  await app.tx((tx) => insertPendingLink(tx, link, app.clock.now()))
  return `svc_sso_link=${token}`
}
