import type pg from 'pg'
import { shownAs } from './shown-as.queries.ts'
import { publishLive } from '../live/publish.ts'
import type { Filing } from '../outcomes/recorder.ts'

/**
 * Something of an issue came that is no event: open dashboards read it again once this commits. Events of merged issues
 * are filed under an issue nobody looks at: the one it is shown as is told.
 */
export async function tellIssues(
  client: pg.ClientBase,
  touched: readonly { readonly filing: Filing; readonly issueId: string }[],
): Promise<void> {
  if (touched.length === 0) return
  const shown = await shownAs(client, [...new Set(touched.map(({ issueId }) => issueId))])
  const projects = new Map<string, { orgId: string; issueIds: Set<string> }>()
  for (const { filing, issueId } of touched) {
    const project = projects.get(filing.projectId) ?? { orgId: filing.orgId, issueIds: new Set<string>() }
    projects.set(filing.projectId, project)
    project.issueIds.add(shown.get(issueId) ?? issueId)
  }
  for (const [projectId, { orgId, issueIds }] of projects)
    await publishLive(client, orgId, {
      kind: 'issues',
      project_id: projectId,
      issue_ids: [...issueIds],
      new_issue_ids: [],
      event_count: 0,
    })
}
