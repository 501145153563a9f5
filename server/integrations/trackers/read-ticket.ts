import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { selectIntegration, selectTicket } from './trackers.queries.ts'
import { rateTracker, viewTicket } from './view-tracker.ts'

/** The ticket part of the page of an issue. */
export async function readTicket(
  app: App,
  actor: OrgActor,
  { id, projectId }: { readonly id: string; readonly projectId: string },
) {
  const [row, integration] = await Promise.all([
    selectTicket(app.db, id),
    selectIntegration(app.db, actor.orgId, projectId),
  ])
  const isFollowed = integration?.sync_states === true && row?.integration_id === integration.id
  return {
    tracker: integration === undefined ? ('not_connected' as const) : rateTracker(integration, app.clock.now()),
    ticket: row === undefined || row.state === 'creating' ? null : viewTicket(row, isFollowed),
  }
}
