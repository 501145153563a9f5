import type { Tx } from '../storage/database.ts'

/** The rows are locked by the caller's `requestReplay`. */
export async function updateSecretVersions(tx: Tx, versions: ReadonlyMap<string, number>): Promise<void> {
  await tx.query(
    `update outbox_deliveries d set secret_version = v.version
     from unnest($1::text[], $2::int[]) as v (id, version)
     where d.id = v.id and d.secret_version is distinct from v.version`,
    [[...versions.keys()], [...versions.values()]],
  )
}
