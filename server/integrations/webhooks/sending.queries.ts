import type { Connection } from '../../platform/storage/database.ts'

/** SQL that reads the data for sending a batch. */

export type SendingRow = {
  id: string
  org_id: string
  url: string
  secret_version: number
  headers_sealed: string | null
  standard_headers: boolean
  version: number
  secret_sealed: string
  overlap_until: Date | null
}

/**
 * Endpoints that are not deleted, a row for each of their secrets that may sign: the current one, those of an overlap, and
 * the given versions.
 * @param pinned version of the secret for each endpoint, one entry per pair
 */
export async function selectSending(
  db: Connection,
  pinned: readonly { readonly endpointId: string; readonly version: number | null }[],
  now: Date,
): Promise<SendingRow[]> {
  const { rows } = await db.query<SendingRow>({
    name: 'webhooks sending',
    text: `select e.id, e.org_id, e.url, e.secret_version, e.headers_sealed, e.standard_headers,
        s.version, s.secret_sealed, s.overlap_until
      from webhook_endpoints e join webhook_secrets s on s.endpoint_id = e.id
      where e.id = any($1::uuid[]) and e.deleted_at is null
        and (s.version = e.secret_version or s.overlap_until > $3
          or exists (select from unnest($1::uuid[], $2::int[]) as p (id, version)
            where p.id = e.id and p.version = s.version))`,
    values: [pinned.map(({ endpointId }) => endpointId), pinned.map(({ version }) => version), now],
  })
  return rows
}
