import type { Tx } from '../storage/database.ts'
import { updateSecretVersions } from './pin-secrets.queries.ts'

/** From now on these versions of secrets sign the attempts of the schedule, by id of the delivery. */
export async function pinSecrets(tx: Tx, versions: ReadonlyMap<string, number>): Promise<void> {
  if (versions.size > 0) await updateSecretVersions(tx, versions)
}
