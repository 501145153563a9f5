import { requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import type { IssueSort } from '../rules/issue.api.ts'
import { checkDraft, requireRoom, toIssueView } from './check-view.ts'
import type { IssueView, ViewFilters } from './views.api.ts'
import { insertView, selectView } from './views.queries.ts'

export type NewView = {
  readonly name: string
  readonly query: string
  readonly sort: IssueSort
  readonly filters: ViewFilters
  readonly is_shared: boolean
  readonly position: number
}

/** @throws AppError invalid (query, filters), forbidden (a viewer shares a view), conflict (too many) */
export async function createView(app: App, actor: OrgActor, input: NewView): Promise<IssueView> {
  return app.tx(async (tx) => {
    const now = app.clock.now()
    await checkDraft(tx, actor, now, input)
    await requireRoom(tx, actor, input.is_shared)
    const id = newId()
    await insertView(tx, {
      id,
      org_id: actor.orgId,
      created_by: requireActingMember(actor).userId,
      ...input,
      filters: JSON.stringify(input.filters),
      created_at: now,
      updated_at: now,
    })
    const row = await selectView(tx, actor, id)
    if (row === undefined) throw notFound('View')
    return toIssueView(actor, row)
  })
}
