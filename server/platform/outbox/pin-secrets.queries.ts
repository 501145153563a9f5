import type { Tx } from '../storage/database.ts'

/**
 * From now on these versions of secrets sign the attempts of the schedule, by id of the delivery. The rows are locked by
 * the caller's `requestReplay`.
 */
export async function pinSecrets(tx: Tx, versions: ReadonlyMap<string, number>): Promise<void> {
  if (versions.size === 0) return
  await tx.query(
    `update outbox_deliveries d set secret_version = v.version
     from unnest($1::text[], $2::int[]) as v (id, version)
     where d.id = v.id and d.secret_version is distinct from v.version`,
    [[...versions.keys()], [...versions.values()]],
  )
}
