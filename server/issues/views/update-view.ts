import { requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { forbidden, notFound } from '../../platform/kernel/errors.ts'
import { checkDraft, mayChange, requireRoom, toIssueView } from './check-view.ts'
import type { NewView } from './create-view.ts'
import type { IssueView } from './views.api.ts'
import { changeView, lockView, removeView, selectView } from './views.queries.ts'

type ViewChange = { readonly viewId: string } & {
  readonly [K in keyof NewView]?: NewView[K] | undefined
}

const NOT_YOURS = 'Only admins and owners can change shared views of other members.'

/**
 * Changes the given fields. Only its owner can stop sharing a view.
 * @throws AppError not_found, forbidden, invalid (query, filters), conflict (too many)
 */
export async function updateView(app: App, actor: OrgActor, { viewId, ...change }: ViewChange): Promise<IssueView> {
  return app.tx(async (tx) => {
    const view = await lockView(tx, actor, viewId)
    if (view === undefined) throw notFound('View')
    if (!mayChange(actor, view)) throw forbidden(NOT_YOURS)
    if (change.is_shared === false && view.created_by !== requireActingMember(actor).userId)
      throw forbidden('Only the owner of a view can stop sharing it. You can delete it.')
    const now = app.clock.now()
    await checkDraft(tx, actor, now, change)
    if (change.is_shared !== undefined && change.is_shared !== view.is_shared)
      await requireRoom(tx, actor, change.is_shared)
    const { filters, ...rest } = change
    const changed = { ...rest, ...(filters === undefined ? {} : { filters: JSON.stringify(filters) }), updated_at: now }
    await changeView(tx, viewId, changed)
    const row = await selectView(tx, actor, viewId)
    if (row === undefined) throw notFound('View')
    return toIssueView(actor, row)
  })
}

/** @throws AppError not_found, forbidden */
export async function deleteView(app: App, actor: OrgActor, viewId: string): Promise<void> {
  await app.tx(async (tx) => {
    const view = await lockView(tx, actor, viewId)
    if (view === undefined) throw notFound('View')
    if (!mayChange(actor, view)) throw forbidden(NOT_YOURS)
    await removeView(tx, viewId)
  })
}
