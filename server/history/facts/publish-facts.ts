import { inboxMessages, publishLive, type OrgMessage } from '../../platform/live/publish.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { factKind, type NewFact } from './kinds.ts'

/** Publishes one live message per project and kind, the inboxes and the webhook endpoints that changed, when the transaction commits. */
export async function publishFacts(
  tx: Tx,
  facts: readonly NewFact[],
  inboxes: readonly { readonly org_id: string; readonly user_id: string }[],
): Promise<void> {
  const messages: OrgMessage[] = []
  for (const [orgId, ofOrg] of Map.groupBy(facts, (fact) => fact.orgId)) {
    const endpointIds = ofOrg.flatMap((fact) =>
      factKind(fact.kind).live === 'webhooks' && 'endpointId' in fact ? [fact.endpointId] : [],
    )
    if (endpointIds.length > 0)
      messages.push({ orgId, message: { kind: 'webhooks', endpoint_ids: [...new Set(endpointIds)] } })
    for (const [projectId, ofProject] of Map.groupBy(ofOrg, (fact) =>
      'projectId' in fact ? (fact.projectId ?? null) : null,
    ))
      if (projectId !== null) for (const message of messagesOf(projectId, ofProject)) messages.push({ orgId, message })
  }
  for (const [orgId, ofOrg] of Map.groupBy(inboxes, (row) => row.org_id))
    messages.push(
      ...inboxMessages(
        orgId,
        ofOrg.map((row) => row.user_id),
      ),
    )
  if (messages.length > 0) await publishLive(tx, messages)
}

function messagesOf(projectId: string, facts: readonly NewFact[]): OrgMessage['message'][] {
  const issueIds = new Set<string>()
  const newIssueIds = new Set<string>()
  const releaseIds = new Set<string>()
  const alertIds = new Set<string>()
  let eventCount = 0
  let isProjectChanged = false
  for (const fact of facts) {
    const { live } = factKind(fact.kind)
    if (live === 'project') isProjectChanged = true
    if (live === 'releases' && 'releaseId' in fact) releaseIds.add(fact.releaseId)
    if (live === 'alerts' && 'targetId' in fact) alertIds.add(fact.targetId)
    if ((live === 'issues' || live === 'new_issues') && 'issueId' in fact) {
      issueIds.add(fact.issueId)
      if (live === 'new_issues') newIssueIds.add(fact.issueId)
      if (fact.kind === 'issue.events_received') eventCount += fact.data.events
    }
  }
  const messages: OrgMessage['message'][] = []
  if (issueIds.size > 0)
    messages.push({
      kind: 'issues',
      project_id: projectId,
      issue_ids: [...issueIds],
      new_issue_ids: [...newIssueIds],
      event_count: eventCount,
    })
  if (releaseIds.size > 0) messages.push({ kind: 'releases', project_id: projectId, release_ids: [...releaseIds] })
  if (alertIds.size > 0) messages.push({ kind: 'alerts', project_id: projectId, ids: [...alertIds] })
  if (isProjectChanged) messages.push({ kind: 'project', project_id: projectId })
  return messages
}
