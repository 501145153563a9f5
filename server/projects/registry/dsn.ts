import type { Config } from '../../config/config.ts'
import type { Region } from './projects.api.ts'

type DsnProject = { readonly number: number; readonly region: Region }

/**
 * Returns `<scheme>://<public key>@<host[:port]>/<number>`, with the region's INGEST_URL or PUBLIC_URL. Its path comes
 * before the number, as SDKs expect.
 */
export function buildDsn(
  config: Pick<Config, 'publicUrl' | 'ingestUrls'>,
  project: DsnProject,
  publicKey: string,
): string {
  const url = new URL(config.ingestUrls[project.region] ?? config.publicUrl)
  return `${url.protocol}//${publicKey}@${url.host}${url.pathname.replace(/\/$/, '')}/${project.number}`
}
