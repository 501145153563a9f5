import { shownAs } from './shown-as.queries.ts'
import type { Tx } from '../storage/database.ts'
import { publishLive } from '../live/publish.ts'
import type { ItemContext } from '../outcomes/recorder.ts'

/**
 * Something of an issue came that is no event: open dashboards read it again once this commits. Events of merged issues
 * are filed under an issue nobody looks at: the one it is shown as is told.
 */
export async function publishIssues(
  tx: Tx,
  touched: readonly { readonly context: ItemContext; readonly issueId: string }[],
): Promise<void> {
  if (touched.length === 0) return
  const shown = await shownAs(tx, [...new Set(touched.map(({ issueId }) => issueId))])
  const projects = new Map<string, { orgId: string; issueIds: Set<string> }>()
  for (const { context, issueId } of touched) {
    const project = projects.get(context.projectId) ?? { orgId: context.orgId, issueIds: new Set<string>() }
    projects.set(context.projectId, project)
    project.issueIds.add(shown.get(issueId) ?? issueId)
  }
  for (const [projectId, { orgId, issueIds }] of projects)
    await publishLive(tx, orgId, {
      kind: 'issues',
      project_id: projectId,
      issue_ids: [...issueIds],
      new_issue_ids: [],
      event_count: 0,
    })
}
