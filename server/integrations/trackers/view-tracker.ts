import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import type { TrackerTicket, TrackerView } from './trackers.api.ts'
import { type IntegrationRow, selectIntegration, type TicketRow } from './trackers.queries.ts'

/** @throws AppError not_found */
export async function readTracker(app: App, actor: OrgActor, projectId: string): Promise<TrackerView> {
  await requireProject(app, actor, projectId)
  return viewTracker(await selectIntegration(app.db, actor.orgId, projectId), app.clock.now())
}

/** Pure. */
export function viewTracker(row: IntegrationRow | undefined, now: Date): TrackerView {
  if (row === undefined) return { state: 'not_connected', integration: null }
  return {
    state: rateTracker(row, now),
    integration: {
      id: row.id,
      provider: row.provider,
      account: row.account,
      team: { id: row.team_id, name: row.team_name },
      type: row.type_id === null ? null : { id: row.type_id, name: row.type_name ?? row.type_id },
      sync_states: row.sync_states,
      webhook_path: webhookPath(row),
      created_at: row.created_at.toISOString(),
      updated_at: row.updated_at.toISOString(),
      last_received_at: row.last_received_at?.toISOString() ?? null,
      last_sent_at: row.last_sent_at?.toISOString() ?? null,
      last_error: row.last_error,
      last_error_at: row.last_error_at?.toISOString() ?? null,
    },
  }
}

/** Whether the tracker can be used now. */
export function rateTracker(row: IntegrationRow, now: Date): 'works' | 'slowed_down' | 'broken' {
  if (row.broken_at !== null) return 'broken'
  return row.last_error !== null || (row.slowed_until !== null && row.slowed_until > now) ? 'slowed_down' : 'works'
}

/** The id finds the secret before the body is read. Null where the webhook of the code host delivers changes. */
export const webhookPath = ({ id, provider }: Pick<IntegrationRow, 'id' | 'provider'>): string | null =>
  provider === 'codehost' ? null : `/api/integrations/tracker/webhook?provider=${provider}&integration=${id}`

/** A ticket that is linked, or was deleted in the tracker. */
export const viewTicket = (row: TicketRow, isFollowed: boolean): TrackerTicket => ({
  id: row.key ?? '',
  url: row.url ?? '',
  provider: row.provider,
  state: row.state === 'gone' ? 'gone' : (row.remote_state ?? 'open'),
  status: row.remote_status === '' ? null : row.remote_status,
  is_followed: isFollowed,
  created_at: row.created_at.toISOString(),
})
