import { sql } from 'kysely'
import type { GroupingPart } from '../grouping/grouping.api.ts'
import { partsText } from '../grouping/parts-text.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'

/** SQL of discarded issues. */

/** The discarded fingerprints of a project, base64; null when there are none. */
export async function discardedHashes(db: Connection, projectId: string): Promise<ReadonlySet<string> | null> {
  const rows = await db
    .selectFrom('discarded_fingerprints')
    .select('hash')
    .where('project_id', '=', projectId)
    .execute()
  return rows.length === 0 ? null : new Set(rows.map(({ hash }) => hash.toString('base64')))
}

export type FingerprintKey = { readonly projectId: string; readonly hash: Buffer }

/** Ids of the discards of these fingerprints, by project id and base64 of the hash; others are missing. */
export async function findDiscarded(tx: Tx, keys: readonly FingerprintKey[]): Promise<Map<string, string>> {
  const { rows } = await tx.query<{ project_id: string; hash: Buffer; discard_id: string }>({
    name: 'record-find-discarded',
    text: `select d.project_id, d.hash, d.discard_id from unnest($1::uuid[], $2::text[]) k (project_id, hash)
           join discarded_fingerprints d on d.project_id = k.project_id and d.hash = decode(k.hash, 'base64')`,
    values: [keys.map((key) => key.projectId), keys.map((key) => key.hash.toString('base64'))],
  })
  return new Map(rows.map((row) => [row.project_id + row.hash.toString('base64'), row.discard_id]))
}

/** Adds fingerprints of a newer grouping version to discards. */
export async function linkDiscarded(
  tx: Tx,
  rows: readonly (FingerprintKey & { discardId: string; version: number; parts: readonly GroupingPart[] })[],
): Promise<void> {
  if (rows.length === 0) return
  await tx.query({
    name: 'record-link-discarded',
    text: `insert into discarded_fingerprints (project_id, hash, discard_id, grouping_version, parts)
           select k.project_id, decode(k.hash, 'base64'), k.discard_id, k.version, k.parts::jsonb
           from unnest($1::uuid[], $2::text[], $3::uuid[], $4::smallint[], $5::text[]) k (project_id, hash, discard_id, version, parts)
           order by 1, 2 on conflict do nothing`,
    values: [
      rows.map((row) => row.projectId),
      rows.map((row) => row.hash.toString('base64')),
      rows.map((row) => row.discardId),
      rows.map((row) => row.version),
      rows.map((row) => partsText(row.parts)),
    ],
  })
}

type NewDiscard = {
  readonly id: string
  readonly issueId: string
  readonly projectId: string
  readonly number: number
  readonly title: string
  readonly events: number
  readonly actorId: string | null
  readonly now: Date
}

/** Inserts a discard with the fingerprints of the issue. Returns its id; after an interruption, the id of the first one. */
export async function insertDiscard(tx: Tx, discard: NewDiscard): Promise<string> {
  const { projectId, number } = discard
  const before = await tx
    .selectFrom('discards')
    .select('id')
    .where('project_id', '=', projectId)
    .where('issue_number', '=', number)
    .executeTakeFirst()
  const id = before?.id ?? discard.id
  if (before === undefined)
    await tx
      .insertInto('discards')
      .values({
        id,
        project_id: projectId,
        title: discard.title,
        issue_number: number,
        event_count: discard.events,
        discarded_by: discard.actorId,
        created_at: discard.now,
      })
      .execute()
  await discardFingerprints(tx, id, discard.issueId)
  return id
}

/** Adds the current fingerprints of the issue to a discard; none when the issue was restored. */
export async function addToDiscard(tx: Tx, discardId: string, issueId: string): Promise<void> {
  // The lock prevents a restore until this transaction ends.
  const locked = await tx
    .selectFrom('discards')
    .select('id')
    .where('id', '=', discardId)
    .forKeyShare()
    .executeTakeFirst()
  if (locked !== undefined) await discardFingerprints(tx, discardId, issueId)
}

const discardFingerprints = (tx: Tx, discardId: string, issueId: string): Promise<unknown> =>
  sql`
    insert into discarded_fingerprints (project_id, hash, discard_id, grouping_version, parts)
    select f.project_id, f.hash, ${discardId}, f.grouping_version, f.parts
    from issue_groups g join issue_fingerprints f on f.group_id = g.id where g.issue_id = ${issueId}
    order by f.hash on conflict do nothing`.execute(tx)

export type DiscardRow = Awaited<ReturnType<typeof selectDiscards>>[number]

/** Newest first. */
export async function selectDiscards(
  db: Connection,
  filter: { readonly id?: string; readonly projectId?: string; readonly before?: string | undefined },
  page: { readonly limit: number; readonly offset: number },
) {
  let query = db
    .selectFrom('discards as d')
    .innerJoin('projects as p', 'p.id', 'd.project_id')
    .leftJoin('users as u', 'u.id', 'd.discarded_by')
    .selectAll('d')
    .select((row) => [
      'p.slug as project_slug',
      'u.name as user_name',
      'u.email as user_email',
      row
        .selectFrom('discarded_fingerprints as f')
        .select((count) => count.fn.countAll<number>().as('n'))
        .whereRef('f.discard_id', '=', 'd.id')
        .as('fingerprints'),
    ])
  if (filter.id !== undefined) query = query.where('d.id', '=', filter.id)
  if (filter.projectId !== undefined) query = query.where('d.project_id', '=', filter.projectId)
  if (filter.before !== undefined) query = query.where('d.id', '<', filter.before)
  return query.orderBy('d.id', 'desc').limit(page.limit).offset(page.offset).execute()
}

export async function countDiscards(db: Connection, projectId: string): Promise<number> {
  const row = await db
    .selectFrom('discards')
    .select((count) => count.fn.countAll<number>().as('n'))
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow()
  return row.n
}

/** Returns whether it existed. */
export async function deleteDiscard(tx: Tx, projectId: string, discardId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('discards')
    .where('project_id', '=', projectId)
    .where('id', '=', discardId)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

export const DISCARD_PARTS = [
  projectPart(1_000, [ownRows('discarded_fingerprints')]),
  projectPart(1_000, [ownRows('discards')]),
]
