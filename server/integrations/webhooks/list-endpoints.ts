import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { readRowsBefore } from '../../platform/kernel/cursor.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import { countEndpointsOfOrg, selectEndpoints } from './endpoints.queries.ts'
import { viewEndpoints } from './view-endpoint.ts'
import type { WebhookEndpoint } from './webhooks.api.ts'

/** The endpoints of the organisation. There are few, so a cursor is a number of rows. @throws AppError invalid */
export async function listEndpoints(
  app: App,
  actor: OrgActor,
  { limit, offset, cursor }: { limit: number; offset: number; cursor?: string | undefined },
): Promise<Page<WebhookEndpoint>> {
  const from = readRowsBefore({ offset, cursor })
  const [rows, total] = await Promise.all([
    selectEndpoints(app.db, actor, { limit: limit + 1, offset: from }),
    countEndpointsOfOrg(app.db, actor),
  ])
  return {
    items: await viewEndpoints(app, app.db, actor, rows.slice(0, limit)),
    total,
    limit,
    offset,
    next_cursor: rows.length > limit ? String(from + limit) : null,
  }
}
