import type pg from 'pg'
import { publishLive } from '../live/publish.ts'
import type { Filing } from './item.ts'

/** Something of an issue came that is no event: open dashboards read it again once this commits. */
export async function tellIssues(
  client: pg.ClientBase,
  touched: readonly { readonly filing: Filing; readonly issueId: string }[],
): Promise<void> {
  const projects = new Map<string, { orgId: string; issueIds: Set<string> }>()
  for (const { filing, issueId } of touched) {
    const project = projects.get(filing.projectId) ?? { orgId: filing.orgId, issueIds: new Set<string>() }
    projects.set(filing.projectId, project)
    project.issueIds.add(issueId)
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
