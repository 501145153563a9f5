import { publishLive } from '../../platform/live/publish.ts'
import type { Connection } from '../../platform/storage/database.ts'
import type { CodeHostRow } from './code-hosts.queries.ts'

/**
 * Has open dashboards read issues of the project again: its known commits changed, so that any issue may have other suspects.
 * One message for all of them, once per job, in the transaction of the change.
 */
export const announceSuspects = (
  on: Connection,
  { org_id: orgId, project_id: id }: Pick<CodeHostRow, 'org_id' | 'project_id'>,
): Promise<void> =>
  publishLive(on, [
    { orgId, message: { kind: 'issues', project_id: id, issue_ids: [], new_issue_ids: [], event_count: 0 } },
  ])
