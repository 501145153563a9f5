import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { readRowsBefore } from '../../platform/kernel/cursor.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import { toIssueView } from './check-view.ts'
import type { IssueView } from './views.api.ts'
import { countViews, selectViews } from './views.queries.ts'

/** The views that the actor can see. There are few, so a cursor is a number of rows. @throws AppError invalid */
export async function listViews(
  app: App,
  actor: OrgActor,
  { limit, offset, cursor }: { limit: number; offset: number; cursor?: string | undefined },
): Promise<Page<IssueView>> {
  const from = readRowsBefore({ offset, cursor })
  const [rows, total] = await Promise.all([
    selectViews(app.db, actor, { limit: limit + 1, offset: from }),
    countViews(app.db, actor),
  ])
  return {
    items: rows.slice(0, limit).map((row) => toIssueView(actor, row)),
    total,
    limit,
    offset,
    next_cursor: rows.length > limit ? String(from + limit) : null,
  }
}
