import type { Config } from '../config.ts'
import type { Region } from './projects.api.ts'

/** What of a project its DSN names. */
export type DsnProject = { readonly number: number; readonly region: Region }

/**
 * `<scheme>://<public key>@<host[:port]>/<number>`: address from the region's INGEST_URL or PUBLIC_URL.
 * A path in that address comes before the number, as SDKs understand it.
 */
export function dsnOf(
  config: Pick<Config, 'publicUrl' | 'ingestUrls'>,
  project: DsnProject,
  publicKey: string,
): string {
  const url = new URL(config.ingestUrls[project.region] ?? config.publicUrl)
  return `${url.protocol}//${publicKey}@${url.host}${url.pathname.replace(/\/$/, '')}/${project.number}`
}
