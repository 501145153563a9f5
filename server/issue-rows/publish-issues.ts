import { publishLive } from '../live/publish.ts'
import type { ItemContext } from '../outcomes/recorder.ts'
import type { Tx } from '../storage/database.ts'
import { mergeTargetsOf } from './merge-targets.queries.ts'

/** Open dashboards read these issues of one project again after the commit. */
export const publishIssues = (tx: Tx, orgId: string, projectId: string, issueIds: readonly string[]): Promise<void> =>
  publishLive(tx, orgId, {
    kind: 'issues',
    project_id: projectId,
    issue_ids: [...issueIds],
    new_issue_ids: [],
    event_count: 0,
  })

/** The same for issues of recorded items other than events. For a merged issue, publishes its merge target. */
export async function publishIssuesOfItems(
  tx: Tx,
  items: readonly { readonly context: ItemContext; readonly issueId: string }[],
): Promise<void> {
  if (items.length === 0) return
  const targets = await mergeTargetsOf(tx, [...new Set(items.map(({ issueId }) => issueId))])
  const projects = new Map<string, { orgId: string; issueIds: Set<string> }>()
  for (const { context, issueId } of items) {
    const project = projects.get(context.projectId) ?? { orgId: context.orgId, issueIds: new Set<string>() }
    projects.set(context.projectId, project)
    project.issueIds.add(targets.get(issueId) ?? issueId)
  }
  for (const [projectId, { orgId, issueIds }] of projects) await publishIssues(tx, orgId, projectId, [...issueIds])
}
