import { publishLive } from '../live/publish.ts'
import type { Tx } from '../storage/database.ts'

/** Open dashboards read these issues of one project again after the commit. */
export const publishIssues = (tx: Tx, orgId: string, projectId: string, issueIds: readonly string[]): Promise<void> =>
  publishLive(tx, orgId, {
    kind: 'issues',
    project_id: projectId,
    issue_ids: [...issueIds],
    new_issue_ids: [],
    event_count: 0,
  })
