import { recordFacts } from '../../history/facts/record-facts.ts'
import { aboutIssue } from '../../issues/rows/view-issue.ts'
import { systemActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { changeTicket, type TicketRow } from './trackers.queries.ts'

/** The ticket was deleted in the tracker: a new one can be created. */
export async function markGone(app: App, tx: Tx, ticket: TicketRow): Promise<void> {
  const now = app.clock.now()
  await changeTicket(tx, ticket.issue_id, { state: 'gone', checked_at: now })
  await recordFacts(tx, factContext(app, systemActor('trackers'), now), [
    {
      kind: 'ticket.changed',
      ...aboutIssue({ id: ticket.issue_id, project_id: ticket.project_id, org_id: ticket.org_id }),
      sentence: `The ticket ${ticket.key ?? ''} was deleted in the tracker.`,
      data: { key: ticket.key ?? '', url: ticket.url ?? '', state: 'gone' },
    },
  ])
}
