import { publishLive } from '../live/publish.ts'
import type { Tx } from '../storage/database.ts'

/** Publishes a change of the release when the transaction commits: open dashboards read it again. */
export async function announceRelease(
  tx: Tx,
  orgId: string,
  release: { readonly id: string; readonly project_id: string },
): Promise<void> {
  await publishLive(tx, orgId, {
    kind: 'releases',
    project_id: release.project_id,
    release_ids: [release.id],
  })
}
