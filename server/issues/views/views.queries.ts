import type { Insertable, Updateable } from 'kysely'
import type { Tables } from '../../platform/storage/tables.gen.ts'
import { memberBehind, requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'

/** Saved views that an actor can see: their own and the shared ones of the organisation. */

const visible = (db: Connection, actor: OrgActor) =>
  db
    .selectFrom('issue_views as v')
    .where('v.org_id', '=', actor.orgId)
    .where((eb) => eb.or([eb('v.is_shared', '=', true), eb('v.created_by', '=', memberBehind(actor)?.userId ?? null)]))

const columns = [
  'v.id',
  'v.name',
  'v.query',
  'v.sort',
  'v.filters',
  'v.is_shared',
  'v.created_by',
  'v.position',
  'v.created_at',
  'v.updated_at',
  'u.name as owner_name',
  'u.email as owner_email',
] as const

export type ViewRow = NonNullable<Awaited<ReturnType<typeof selectView>>>

/** Adds the name of the member who created the view, unless that member is disabled. */
const withOwner = (db: Connection, actor: OrgActor) =>
  visible(db, actor)
    .leftJoin('memberships as m', (join) =>
      join.onRef('m.user_id', '=', 'v.created_by').onRef('m.org_id', '=', 'v.org_id').on('m.disabled_at', 'is', null),
    )
    .leftJoin('users as u', (join) => join.onRef('u.id', '=', 'm.user_id').on('u.disabled_at', 'is', null))
    .select(columns)

export function selectViews(db: Connection, actor: OrgActor, page: { limit: number; offset: number }) {
  return withOwner(db, actor)
    .orderBy('v.position')
    .orderBy('v.created_at')
    .orderBy('v.id')
    .limit(page.limit)
    .offset(page.offset)
    .execute()
}

export async function countViews(db: Connection, actor: OrgActor): Promise<number> {
  const { n } = await visible(db, actor)
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return n
}

export function selectView(db: Connection, actor: OrgActor, viewId: string) {
  return withOwner(db, actor).where('v.id', '=', viewId).executeTakeFirst()
}

/** One visible view, locked until the transaction ends. */
export function lockView(tx: Tx, actor: OrgActor, viewId: string) {
  return visible(tx, actor)
    .select(['v.id', 'v.created_by', 'v.is_shared'])
    .where('v.id', '=', viewId)
    .forUpdate()
    .executeTakeFirst()
}

/** Number of views for a limit. Other callers of the organisation wait until the transaction ends. */
export async function countForLimit(tx: Tx, actor: OrgActor, shared: boolean): Promise<number> {
  await tx.selectFrom('orgs').select('id').where('id', '=', actor.orgId).forNoKeyUpdate().executeTakeFirst()
  let query = tx.selectFrom('issue_views').where('org_id', '=', actor.orgId).where('is_shared', '=', shared)
  if (!shared) query = query.where('created_by', '=', requireActingMember(actor).userId)
  const { n } = await query.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
  return n
}

export async function insertView(tx: Tx, view: Insertable<Tables['issue_views']>): Promise<void> {
  await tx.insertInto('issue_views').values(view).execute()
}

export async function changeView(tx: Tx, viewId: string, change: Updateable<Tables['issue_views']>): Promise<void> {
  await tx.updateTable('issue_views').set(change).where('id', '=', viewId).execute()
}

export async function removeView(tx: Tx, viewId: string): Promise<void> {
  await tx.deleteFrom('issue_views').where('id', '=', viewId).execute()
}
