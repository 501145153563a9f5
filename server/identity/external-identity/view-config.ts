import type { App } from '../../platform/context/app.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { ssoCallbackUrl } from './organisation-provider.ts'
import type { SsoConfig } from './sso.api.ts'
import { selectSsoDomains, selectSsoConfig, readOrgSlug, type DomainRow } from './sso.queries.ts'

/** Single sign-on of an organisation as its owners see it. */
export async function viewConfig(app: App, db: Connection, orgId: string): Promise<SsoConfig> {
  const [config, domains, slug] = await Promise.all([
    selectSsoConfig(db, orgId),
    selectSsoDomains(db, orgId),
    readOrgSlug(db, orgId),
  ])
  return {
    issuer: config?.issuer ?? null,
    client_id: config?.client_id ?? null,
    client_secret: {
      configured: config !== null,
      updated_at: config?.client_secret_updated_at.toISOString() ?? null,
    },
    domains: domains.map((row) => viewDomain(row)),
    jit: config?.jit ?? false,
    default_role: config?.default_role === 'viewer' ? 'viewer' : 'member',
    enforced: config?.enforced ?? false,
    callback_url: ssoCallbackUrl(app),
    sign_in_url: `${app.config.publicUrl}/api/auth/sso/start?org=${encodeURIComponent(slug)}`,
    last_error:
      config?.last_error == null || config.last_error_at === null
        ? null
        : { text: config.last_error, at: config.last_error_at.toISOString() },
  }
}

export const recordName = (domain: string): string => `_svc-verify.${domain}`
export const recordValue = (token: string): string => `svc-domain=${token}`

const viewDomain = ({
  domain,
  token,
  verified_at,
  verified_by,
  missing_since,
}: DomainRow): SsoConfig['domains'][number] => ({
  domain,
  verified_at: verified_at?.toISOString() ?? null,
  verified_by,
  missing_since: missing_since?.toISOString() ?? null,
  record_name: recordName(domain),
  record_value: recordValue(token),
})
