import { newId } from '../kernel/ids.ts'
import type { Tx } from '../storage/database.ts'
import { announceRelease } from './announce-release.ts'
import { insertPlanned } from './releases.queries.ts'

/** Creates a planned release unless the version exists (docs/issues.md). */
export async function ensureRelease(tx: Tx, projectId: string, version: string, now: Date): Promise<void> {
  const release = { id: newId(), project_id: projectId }
  const made = await insertPlanned(tx, { ...release, version, created_at: now })
  if (made !== null) await announceRelease(tx, made.orgId, release)
}
