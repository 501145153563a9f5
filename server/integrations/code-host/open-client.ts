import type { App } from '../../platform/context/app.ts'
import type { CodeHostRow } from './code-hosts.queries.ts'
import { hostClient } from './host-client.ts'
import type { HostClient } from './vendor.ts'
import { openToken } from './secrets.ts'
import { findVendor } from './vendors.ts'

/** The REST API with the token of a connection; null without one, and after it was refused. */
export async function openClient(app: App, host: CodeHostRow, signal?: AbortSignal): Promise<HostClient | null> {
  if (host.broken_at !== null) return null
  const token = await openToken(app, host)
  if (token === null) return null
  const { repository_url: repositoryUrl, provider, project_id: group } = host
  return hostClient(app, { vendor: findVendor(provider), repositoryUrl, token, group }, signal)
}
