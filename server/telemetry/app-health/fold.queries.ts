import type { Tx, Connection } from '../../platform/storage/database.ts'
import {
  type Attributes,
  DIMENSIONS,
  type Dimension,
  type Level,
  LEVELS,
  levelNumber,
  countColumn,
  COUNTS,
  type Counts,
  SOURCES,
  sourceNumber,
  type Source,
  USER_SETS,
  type UserSet,
} from './dimensions.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import type { AgingRows } from '../../platform/jobs/purge.ts'
import { BUCKET_SECONDS, KEPT_MS } from './buckets.ts'
import { SESSION_RETENTION_MS } from './record-sessions.ts'
import { DAY_MS, HOUR_MS } from '../../platform/kernel/day.ts'

/** SQL of the fold. Rollups, attributes and days of a project are written under its lock ({@link tryLockFolds}). */

/** First half of the locks of projects. */
const FOLD_LOCK = 720_199_433
/** Shared by all folds: former versions take it exclusively, for all projects. */
const COMMON_LOCK = 7_201_994_334

/** Takes the locks of projects until the transaction ends. @returns the projects that no other process has */
export async function tryLockFolds(tx: Tx, projectIds: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from unnest($1::uuid[]) as id
     where case when pg_try_advisory_xact_lock_shared($2) then pg_try_advisory_xact_lock($3, hashtext(id::text)) end`,
    [projectIds, COMMON_LOCK, FOLD_LOCK],
  )
  return rows.map(({ id }) => id)
}

/** Waits for the lock of a project: deleting it must not meet a fold of its rows. */
async function lockFold(tx: Tx, projectId: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock_shared($1)', [COMMON_LOCK])
  await tx.query('select pg_advisory_xact_lock($1, hashtext($2::uuid::text))', [FOLD_LOCK, projectId])
}

export type Sketches = Record<UserSet, Buffer | null> & { durations: Buffer | null }

/** Sketches to write; null for what stays. */
export type Changed = Sketches & SetCounts
/** Counts of the users in sketches. */
type SetCounts = Record<`${UserSet}_count`, number | null>

export type TakenDelta = Counts &
  Sketches &
  Attributes & { project_id: string; source: number; minute: Date; durations_removed: Buffer | null }

/** The projects of the oldest rows. @param except projects that are left out, with their rows */
export async function projectsWithDeltas(tx: Tx, max: number, except: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ project_id: string }>({
    name: 'health-projects-with-deltas',
    text: `select distinct project_id from (
             select project_id from health_deltas where project_id <> all($2::uuid[]) order by id limit $1) as oldest`,
    values: [max, except],
  })
  return rows.map((row) => row.project_id)
}

/** Deletes and returns the oldest rows of projects, in the order of their ids. */
export async function takeDeltas(tx: Tx, max: number, projectIds: readonly string[]): Promise<TakenDelta[]> {
  const { rows } = await tx.query<TakenDelta>({
    name: 'health-take-deltas',
    text: `with taken as (delete from health_deltas
             where id = any(array(select id from health_deltas where project_id = any($2::uuid[]) order by id limit $1))
             returning *)
           select * from taken order by id`,
    values: [max, projectIds],
  })
  return rows
}

export const sourceAt = (stored: number): Source => SOURCES[stored] ?? 'sessions'

/** Values that are counted by at a level. Without values it is what exceeds the limit of the level. */
export type AttributesRow = {
  readonly projectId: string
  readonly id: number
  readonly level: Level
  readonly values: Readonly<Partial<Record<Dimension, string>>>
}

export const attributesKey = (projectId: string, id: number): string => `${projectId}/${id}`

/** Known attributes, and whether they were already used on that day. */
export async function findAttributes(
  tx: Tx,
  day: string,
  wanted: readonly AttributesRow[],
): Promise<Map<string, { isUsed: boolean }>> {
  const { rows } = await tx.query<{ project_id: string; id: number; is_used: boolean }>({
    name: 'health-find-attributes',
    text: `select a.project_id, a.id, a.last_used_day >= $3::date as is_used
           from unnest($1::uuid[], $2::bigint[]) k (project_id, id)
           join health_attributes a on a.project_id = k.project_id and a.id = k.id`,
    values: [wanted.map((one) => one.projectId), wanted.map((one) => one.id), day],
  })
  return new Map(rows.map((row) => [attributesKey(row.project_id, row.id), { isUsed: row.is_used }]))
}

/** Inserts attributes, or sets the last day of known ones. */
export async function writeAttributes(tx: Tx, day: string, rows: readonly AttributesRow[]): Promise<void> {
  await tx.query({
    name: 'health-write-attributes',
    text: `insert into health_attributes as a (project_id, id, level, ${DIMENSIONS.join(', ')}, created_day, last_used_day)
           select k.*, $9::date, $9::date
           from unnest($1::uuid[], $2::bigint[], $3::smallint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[]) k
           on conflict (project_id, id) do update set last_used_day = excluded.last_used_day
           where a.last_used_day < excluded.last_used_day`,
    values: [
      rows.map((row) => row.projectId),
      rows.map((row) => row.id),
      rows.map((row) => levelNumber(row.level)),
      ...DIMENSIONS.map((dimension) => rows.map((row) => row.values[dimension] ?? null)),
      day,
    ],
  })
}

export type DayCount = {
  readonly projectId: string
  readonly day: string
  readonly level: Level
  readonly admitted: number
  readonly refused: number
}

/** Values admitted on a day. */
export async function readDays(tx: Tx, day: string, projectIds: readonly string[]): Promise<DayCount[]> {
  const { rows } = await tx.query<{ project_id: string; level: number; admitted: number; refused: number }>({
    name: 'health-read-days',
    text: `select project_id, level, admitted, refused from health_days where day = $1::date and project_id = any($2::uuid[])`,
    values: [day, projectIds],
  })
  return rows.map(({ project_id: projectId, level, admitted, refused }) => ({
    projectId,
    day,
    level: LEVELS[level] ?? 'combination',
    admitted,
    refused,
  }))
}

/** Adds to the counts of days. */
export async function addToDays(tx: Tx, rows: readonly DayCount[]): Promise<void> {
  await tx.query({
    name: 'health-add-days',
    text: `insert into health_days as d (project_id, day, level, admitted, refused)
           select * from unnest($1::uuid[], $2::date[], $3::smallint[], $4::int[], $5::bigint[])
           on conflict (project_id, day, level) do update
           set admitted = d.admitted + excluded.admitted, refused = d.refused + excluded.refused`,
    values: [
      rows.map((row) => row.projectId),
      rows.map((row) => row.day),
      rows.map((row) => levelNumber(row.level)),
      rows.map((row) => row.admitted),
      rows.map((row) => row.refused),
    ],
  })
}

export type RollupKey = {
  readonly projectId: string
  readonly source: Source
  readonly bucketSeconds: number
  readonly attributesId: number
  /** Start of the bucket, in milliseconds. */
  readonly bucket: number
}

const KEY_COLUMNS = 'project_id, source, bucket_seconds, attributes_id, bucket'
const KEY_TYPES = ['uuid', 'smallint', 'int', 'bigint', 'timestamptz']
const SKETCHES = [...USER_SETS, 'durations'] as const
const SET_COUNTS = USER_SETS.map(countColumn)
const unnested = (types: readonly string[]): string =>
  `unnest(${types.map((type, index) => `$${index + 1}::${type}[]`).join(', ')})`
const keyColumns = (rows: readonly RollupKey[]): unknown[] => [
  rows.map((row) => row.projectId),
  rows.map((row) => sourceNumber(row.source)),
  rows.map((row) => row.bucketSeconds),
  rows.map((row) => row.attributesId),
  rows.map((row) => new Date(row.bucket)),
]

/** Sketches of rollups, in the given order; null where there are none yet. */
export async function readSketches(tx: Tx, keys: readonly RollupKey[]): Promise<Sketches[]> {
  const { rows } = await tx.query<Sketches>({
    name: 'health-read-sketches',
    text: `select ${SKETCHES.map((name) => `r.${name}`).join(', ')}
           from ${unnested(KEY_TYPES)} with ordinality k (${KEY_COLUMNS}, place)
           left join health_sketches r using (${KEY_COLUMNS}) order by k.place`,
    values: keyColumns(keys),
  })
  return rows
}

/** Adds counts, and replaces what sketches count where it is given. */
export async function addRollups(
  tx: Tx,
  rows: readonly { readonly key: RollupKey; readonly counts: Counts; readonly sketches: SetCounts }[],
): Promise<void> {
  await tx.query({
    name: 'health-add-rollups',
    text: `insert into health_rollups as r (${KEY_COLUMNS}, ${[...COUNTS, ...SET_COUNTS].join(', ')})
           select * from ${unnested([...KEY_TYPES, ...COUNTS.map(() => 'bigint'), ...SET_COUNTS.map(() => 'int')])}
           on conflict (${KEY_COLUMNS}) do update set ${[
             ...COUNTS.map((name) => `${name} = r.${name} + excluded.${name}`),
             ...SET_COUNTS.map((name) => `${name} = coalesce(excluded.${name}, r.${name})`),
           ].join(', ')}`,
    values: [
      ...keyColumns(rows.map(({ key }) => key)),
      ...COUNTS.map((name) => rows.map(({ counts }) => counts[name])),
      ...SET_COUNTS.map((name) => rows.map(({ sketches }) => sketches[name])),
    ],
  })
}

/** Replaces the sketches that are given. */
export async function saveSketches(
  tx: Tx,
  rows: readonly { readonly key: RollupKey; readonly sketches: Sketches }[],
): Promise<void> {
  if (rows.length === 0) return
  await tx.query({
    name: 'health-save-sketches',
    text: `insert into health_sketches as r (${KEY_COLUMNS}, ${SKETCHES.join(', ')})
           select * from ${unnested([...KEY_TYPES, ...SKETCHES.map(() => 'bytea')])}
           on conflict (${KEY_COLUMNS}) do update
           set ${SKETCHES.map((name) => `${name} = coalesce(excluded.${name}, r.${name})`).join(', ')}`,
    values: [
      ...keyColumns(rows.map(({ key }) => key)),
      ...SKETCHES.map((name) => rows.map(({ sketches }) => sketches[name])),
    ],
  })
}

/** Whether any sketch is to be written. */
export const hasChanged = (changed: Sketches): boolean => SKETCHES.some((name) => changed[name] !== null)

/**
 * Removes a user's hash from their sessions, which stay counted, and forgets their device. Sketches of distinct users identify no user, so
 * they stay unchanged.
 * @param userHash of events/protocol/user.ts
 * @returns number of the user's sessions
 */
export async function removeUserFromSessions(on: Connection, projectId: string, userHash: number): Promise<number> {
  await on.deleteFrom('user_devices').where('project_id', '=', projectId).where('user_hash', '=', userHash).execute()
  const { numUpdatedRows } = await on
    .updateTable('app_sessions')
    .set({ user_hash: null, user_at: null })
    .where('project_id', '=', projectId)
    .where('user_hash', '=', userHash)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

const SESSIONS = ownRows('app_sessions')
const DEVICES = ownRows('user_devices')
const ROLLUPS = ownRows('health_rollups')
const SKETCH_ROWS = ownRows('health_sketches')
const ATTRIBUTES = ownRows('health_attributes')
const DAYS = ownRows('health_days')

/** Sessions and their counts, in the order in which rows move between the tables. */
export const HEALTH_PART = projectPart(
  2_000,
  [SESSIONS, DEVICES, ownRows('health_deltas'), ROLLUPS, SKETCH_ROWS, ATTRIBUTES, DAYS],
  { lock: lockFold },
)

/** Clocks of processes may differ: a row must outlive the last update that could belong to it. */
const MARGIN_MS = HOUR_MS
const KEPT_DAYS = KEPT_MS[86_400] / DAY_MS

/** Sessions after six days, buckets at the end of their time, devices of users after 90 days without events. */
export const AGING_HEALTH: readonly AgingRows[] = [
  { rows: SESSIONS, column: 'started_at', kept: { ms: SESSION_RETENTION_MS + MARGIN_MS } },
  ...BUCKET_SECONDS.flatMap((seconds) =>
    [ROLLUPS, SKETCH_ROWS].map((rows) => ({
      rows,
      column: 'bucket',
      kept: { ms: KEPT_MS[seconds] },
      equal: { bucket_seconds: seconds },
    })),
  ),
  { rows: DEVICES, column: 'seen_day', kept: { days: 90 } },
  { rows: ATTRIBUTES, column: 'last_used_day', kept: { days: KEPT_DAYS + 1 } },
  { rows: DAYS, column: 'day', kept: { days: KEPT_DAYS + 1 } },
]
