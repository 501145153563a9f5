import type { Tx } from '../../platform/storage/database.ts'
import { publish } from '../../platform/storage/bus.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { nextPlace } from './create-project-key.ts'
import { insertFreeKey, readProjectKeys } from './projects.queries.ts'

/** The key of a DSN of another service, and the number of the project in it. */
export type ForeignKey = { readonly publicKey: string; readonly dsnNumber: string }

/**
 * Adds the key of another service to a project, so that apps which have its DSN need no new one once the host name leads
 * here.
 * @returns whether it was free: a key belongs to one project
 */
export async function takeOverKey(tx: Tx, projectId: string, key: ForeignKey, now: Date): Promise<boolean> {
  const isFree = await insertFreeKey(tx, {
    id: newId(),
    project_id: projectId,
    public_key: key.publicKey,
    name: 'Imported',
    place: nextPlace(await readProjectKeys(tx, projectId)),
    dsn_number: key.dsnNumber,
    created_at: now,
  })
  // Processes may have cached a refusal of this key.
  if (isFree) await publish(tx, 'project_key', { public_key: key.publicKey })
  return isFree
}
