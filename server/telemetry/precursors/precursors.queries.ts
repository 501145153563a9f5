import { sql } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { MemoryState } from './memory-growth.ts'
import { PRECURSORS, type PrecursorReport, type Sign } from './precursor.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'

export type SignRow = {
  readonly projectId: string
  readonly minute: Date
  readonly owner: number
  readonly sign: Sign
}

/** Adds rows that are not there yet, in the given order. */
export async function insertSigns(tx: Tx, rows: readonly SignRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx.query({
    name: 'precursors-insert',
    text: `insert into precursors (project_id, minute, owner, sign)
           select * from unnest($1::uuid[], $2::timestamptz[], $3::bigint[], $4::smallint[]) on conflict do nothing`,
    values: [
      rows.map(({ projectId }) => projectId),
      rows.map(({ minute }) => minute),
      rows.map(({ owner }) => owner),
      rows.map(({ sign }) => PRECURSORS.indexOf(sign)),
    ],
  })
}

type Owner = Pick<PrecursorReport, 'projectId' | 'owner'>

/** Owners share slots, so that a project has a bounded number of rows. */
const SLOTS = 262_144
const slotOf = ({ owner }: Owner): number => owner % SLOTS

/** Reads the remembered states of owners, by project and owner, and locks them until the transaction ends. */
export async function lockMemory(tx: Tx, owners: readonly Owner[]): Promise<Map<string, MemoryState>> {
  const { rows } = await tx.query<{
    project_id: string
    owner: number
    seen_at: Date
    from_at: Date
    from_bytes: number
  }>({
    name: 'precursors-lock-memory',
    text: `select m.project_id, m.owner, m.seen_at, m.from_at, m.from_bytes from memory_levels m
           where (m.project_id, m.slot, m.owner) in (select * from unnest($1::uuid[], $2::int[], $3::bigint[]))
           order by m.project_id, m.slot for update`,
    values: [owners.map(({ projectId }) => projectId), owners.map(slotOf), owners.map(({ owner }) => owner)],
  })
  return new Map(
    rows.map(({ project_id, owner, seen_at, from_at, from_bytes }) => [
      `${project_id}/${owner}`,
      { seenMs: seen_at.getTime(), from: { atMs: from_at.getTime(), bytes: from_bytes } },
    ]),
  )
}

/** Saves what is now known of owners; of those in one slot the last. */
export async function saveMemory(
  tx: Tx,
  owners: readonly Owner[],
  states: ReadonlyMap<string, MemoryState>,
): Promise<void> {
  const bySlot = new Map<string, { readonly of: Owner; readonly state: MemoryState }>()
  for (const of of owners) {
    const state = states.get(`${of.projectId}/${of.owner}`)
    if (state !== undefined) bySlot.set(`${of.projectId}/${String(slotOf(of)).padStart(6, '0')}`, { of, state })
  }
  const rows = [...bySlot].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  await tx.query({
    name: 'precursors-save-memory',
    text: `insert into memory_levels (project_id, slot, owner, seen_at, from_at, from_bytes)
           select * from unnest($1::uuid[], $2::int[], $3::bigint[], $4::timestamptz[], $5::timestamptz[], $6::bigint[])
           on conflict (project_id, slot) do update set owner = excluded.owner, seen_at = excluded.seen_at,
             from_at = excluded.from_at, from_bytes = excluded.from_bytes`,
    values: [
      rows.map(({ of }) => of.projectId),
      rows.map(({ of }) => slotOf(of)),
      rows.map(({ of }) => of.owner),
      rows.map(({ state }) => new Date(state.seenMs)),
      rows.map(({ state }) => new Date(state.from.atMs)),
      rows.map(({ state }) => state.from.bytes),
    ],
  })
}

/** Owners with precursors in a window, and by precursor. */
export type PrecursorCounts = {
  readonly projectId: string
  readonly end: Date
  readonly owners: number
  readonly bySign: Readonly<Record<string, number>>
}

/**
 * For each project and end of a window the owners that showed a precursor before any crash of theirs in the window.
 * Windows without any are left out.
 */
export async function countOwners(
  db: Connection,
  projectIds: readonly string[],
  ends: readonly Date[],
  windowMinutes: number,
): Promise<PrecursorCounts[]> {
  const { rows } = await sql<{ project_id: string; end_at: Date; owners: number; by_sign: Record<string, number> }>`
    with shown as (
      select p.project_id, e.end_at, p.owner, p.sign, min(p.minute) as first_at,
        min(min(p.minute)) filter (where p.sign = 0) over (partition by p.project_id, e.end_at, p.owner) as crashed_at
      from unnest(${[...ends]}::timestamptz[]) e (end_at)
      join precursors p on p.project_id = any(${[...projectIds]}::uuid[])
        and p.minute >= e.end_at - make_interval(mins => ${windowMinutes}::int) and p.minute < e.end_at
      group by p.project_id, e.end_at, p.owner, p.sign),
    counted as (
      select project_id, end_at, owner, sign from shown
      where sign <> 0 and (crashed_at is null or first_at <= crashed_at)),
    by_sign as (
      select project_id, end_at, jsonb_object_agg(sign::text, n) as by_sign
      from (select project_id, end_at, sign, count(*) as n from counted group by 1, 2, 3) s group by 1, 2)
    select c.project_id, c.end_at, count(distinct c.owner)::int as owners, s.by_sign
    from counted c join by_sign s using (project_id, end_at)
    group by c.project_id, c.end_at, s.by_sign`.execute(db)
  return rows.map((row) => ({
    projectId: row.project_id,
    end: row.end_at,
    owners: row.owners,
    bySign: Object.fromEntries(
      Object.entries(row.by_sign).map(([number, count]) => [PRECURSORS[Number(number)] ?? number, count]),
    ),
  }))
}

/** Deletes what is known of users. @returns number of signs deleted */
export async function deleteOwners(db: Connection, projectId: string, owners: readonly number[]): Promise<number> {
  await sql`delete from memory_levels where project_id = ${projectId} and owner = any(${[...owners]}::bigint[])`.execute(
    db,
  )
  const { numAffectedRows } =
    await sql`delete from precursors where project_id = ${projectId} and owner = any(${[...owners]}::bigint[])`.execute(
      db,
    )
  return Number(numAffectedRows ?? 0)
}

export const PRECURSOR_ROWS = ownRows('precursors')
export const MEMORY_ROWS = ownRows('memory_levels')
export const PRECURSOR_PART = projectPart(5_000, [PRECURSOR_ROWS, MEMORY_ROWS])
