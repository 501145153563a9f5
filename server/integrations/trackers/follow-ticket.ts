import { z } from 'zod'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { aboutIssue } from '../../issues/rows/view-issue.ts'
import { lockIssue } from '../../issues/rows/issues.queries.ts'
import { changeIssues } from '../../issues/triage/change-issues.ts'
import { type IntegrationActor, systemActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { defineTask } from '../../platform/jobs/task.ts'
import { HOST_ISSUE_JOB } from '../code-host/job-names.ts'
import { markGone } from './mark-gone.ts'
import { TrackerError } from './tracker-error.ts'
import {
  changeIntegration,
  changeTicket,
  lockTicket,
  selectByExternalId,
  selectByProvider,
  selectIntegrations,
  selectTicket,
} from './trackers.queries.ts'
import { withTracker } from './with-tracker.ts'

export const FOLLOW_JOB = 'follow-tracker-ticket'

/**
 * Reads the state that a ticket has now, and does what follows from it. A delivery only says that something changed: a late,
 * repeated or forged one does nothing.
 * @throws TrackerError when a later run may succeed
 */
export async function followTicket(app: App, issueId: string): Promise<void> {
  const before = await selectTicket(app.db, issueId)
  if (before?.integration_id == null || before.external_id === null || before.state !== 'linked') return
  const { external_id: externalId } = before
  const [integration] = await selectIntegrations(app.db, [before.integration_id])
  if (integration === undefined || integration.broken_at !== null) return
  let remote
  try {
    remote = await withTracker(app, integration, (tracker) => tracker.read(externalId))
  } catch (error) {
    if (error instanceof TrackerError && ['unauthorised', 'forbidden', 'refused'].includes(error.kind)) return
    throw error
  }
  await app.tx(async (tx) => {
    // Issues are locked before tickets, as a regression does it.
    const issue = await lockIssue(tx, { orgId: before.org_id }, issueId)
    const ticket = await lockTicket(tx, issueId)
    if (ticket?.external_id !== externalId || ticket.state !== 'linked') return
    if (remote === null) return markGone(app, tx, ticket)
    const seen = { remote_status: remote.status, checked_at: app.clock.now() }
    // Our own change is on its way: what the tracker shows is from before.
    if (ticket.remote_state === 'reopening') return changeTicket(tx, issueId, seen)
    const state = remote.isClosed ? 'closed' : 'open'
    await changeTicket(tx, issueId, { ...seen, remote_state: state })
    if (state === ticket.remote_state) return
    await recordFacts(tx, factContext(app, systemActor('trackers')), [
      {
        kind: 'ticket.changed',
        ...aboutIssue({ id: issueId, project_id: ticket.project_id, org_id: ticket.org_id }),
        sentence: `The ticket ${remote.key} was ${remote.isClosed ? 'closed' : 'reopened'} in the tracker.`,
        data: { key: remote.key, url: remote.url, state },
      },
    ])
    if (!remote.isClosed || !integration.sync_states || issue === undefined || issue.status === 'resolved') return
    const actor: IntegrationActor = {
      ...systemActor('trackers'),
      kind: 'integration',
      integrationId: integration.id,
      name: `Ticket ${remote.key}`,
      orgId: ticket.org_id,
    }
    await changeIssues(app, tx, actor, [issue], () => ({ status: 'resolved' }))
  })
}

export const followTicketTask = defineTask({
  name: FOLLOW_JOB,
  payload: z.object({ issueId: z.uuid() }),
  isPrompt: true,
  run: (app, { issueId }) => followTicket(app, issueId),
})

/** A delivery of the code host named an issue of the repository, which may be a ticket. */
export const followHostIssueTask = defineTask({
  name: HOST_ISSUE_JOB,
  payload: z.object({ projectId: z.uuid(), number: z.int() }),
  isPrompt: true,
  run: async (app, { projectId, number }) => {
    const integration = await selectByProvider(app.db, projectId, 'codehost')
    if (integration === undefined) return
    await changeIntegration(app.db, integration.id, { last_received_at: app.clock.now() })
    const ticket = await selectByExternalId(app.db, integration.id, String(number))
    if (ticket !== undefined) await followTicket(app, ticket.issue_id)
  },
})
