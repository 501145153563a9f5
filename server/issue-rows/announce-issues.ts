import { liveNotification } from '../live/publish.ts'
import type { Tx } from '../storage/pool.ts'

/** Open dashboards read these issues of one project again once this commits. */
export async function announceIssues(
  tx: Tx,
  orgId: string,
  projectId: string,
  issueIds: readonly string[],
): Promise<void> {
  await liveNotification(orgId, {
    kind: 'issues',
    project_id: projectId,
    issue_ids: [...issueIds],
    new_issue_ids: [],
    event_count: 0,
  }).execute(tx)
}
