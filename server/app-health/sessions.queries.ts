import type { Tx } from '../storage/database.ts'
import { COUNTS, type RollupChange, USER_SETS, type UserSet } from './rollup.ts'
import type { Session } from './session.ts'

/** SQL of recording sessions: prepared statements that lock rows in the given order. */

export type AttributesRow = {
  readonly projectId: string
  readonly id: number
  readonly release: string | null
  readonly environment: string | null
  readonly os: string | null
  readonly device: string | null
}

type AttributesId = Pick<AttributesRow, 'projectId' | 'id'>

export const attributesKey = (projectId: string, id: number): string => `${projectId}/${id}`

/** Known attributes, and whether they were already used on that day. */
export async function findAttributes(
  tx: Tx,
  day: string,
  wanted: readonly AttributesId[],
): Promise<Map<string, { isUsed: boolean }>> {
  const { rows } = await tx.query<{ project_id: string; id: number; is_used: boolean }>({
    name: 'sessions-find-attributes',
    text: `select a.project_id, a.id, a.last_used_day >= $3::date as is_used
           from unnest($1::uuid[], $2::bigint[]) k (project_id, id)
           join session_attributes a on a.project_id = k.project_id and a.id = k.id`,
    values: [wanted.map((one) => one.projectId), wanted.map((one) => one.id), day],
  })
  return new Map(rows.map((row) => [attributesKey(row.project_id, row.id), { isUsed: row.is_used }]))
}

/** Number of attributes that each project created on a day. The limit on that number bounds the cost. */
export async function countNewAttributes(
  tx: Tx,
  day: string,
  projectIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await tx.query<{ project_id: string; created: number }>({
    name: 'sessions-count-attributes',
    text: `select project_id, count(*) as created from session_attributes
           where project_id = any($1::uuid[]) and created_day = $2::date group by project_id`,
    values: [projectIds, day],
  })
  return new Map(rows.map((row) => [row.project_id, row.created]))
}

/** Inserts attributes, or sets the last day of known ones, in one statement and in the given order. */
export async function writeAttributes(tx: Tx, day: string, rows: readonly AttributesRow[]): Promise<void> {
  await tx.query({
    name: 'sessions-write-attributes',
    text: `insert into session_attributes as a (project_id, id, release, environment, os, device, created_day, last_used_day)
           select k.*, $7::date, $7::date
           from unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[]) k
           on conflict (project_id, id) do update set last_used_day = excluded.last_used_day
           where a.last_used_day < excluded.last_used_day`,
    values: [
      rows.map((row) => row.projectId),
      rows.map((row) => row.id),
      rows.map((row) => row.release),
      rows.map((row) => row.environment),
      rows.map((row) => row.os),
      rows.map((row) => row.device),
      day,
    ],
  })
}

export type SessionKey = Pick<Session, 'projectId' | 'sid'>

export const sessionKey = ({ projectId, sid }: SessionKey): string => `${projectId}/${sid}`

/** Inserts new sessions; waits for transactions that insert the same ones. @returns keys of those inserted */
export async function insertSessions(tx: Tx, sessions: readonly Session[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ project_id: string; sid: string }>({
    name: 'sessions-insert',
    text: `insert into app_sessions (${COLUMNS}) select * from ${unnested(0)}
           on conflict (project_id, sid) do nothing returning project_id, sid`,
    values: columnsOf(sessions),
  })
  return new Set(rows.map((row) => sessionKey({ projectId: row.project_id, sid: row.sid })))
}

/** Reads and locks known sessions. */
export async function lockSessions(tx: Tx, keys: readonly SessionKey[]): Promise<Map<string, Session>> {
  const { rows } = await tx.query<SessionRow>({
    name: 'sessions-lock',
    text: `select s.* from unnest($1::uuid[], $2::uuid[]) k (project_id, sid)
           join app_sessions s on s.project_id = k.project_id and s.sid = k.sid
           order by s.project_id, s.sid for no key update of s`,
    values: [keys.map((key) => key.projectId), keys.map((key) => key.sid)],
  })
  return new Map(rows.map((row) => [`${row.project_id}/${row.sid}`, sessionFromRow(row)]))
}

/** Updates locked sessions. */
export async function updateSessions(tx: Tx, sessions: readonly Session[]): Promise<void> {
  await tx.query({
    name: 'sessions-update',
    text: `update app_sessions s set attributes_id = k.attributes_id, started_at = k.started_at, has_init = k.has_init,
             first_update_at = k.first_update_at, status = k.status, errors = k.errors, duration_ms = k.duration_ms,
             was_unhandled = k.was_unhandled, mechanism = k.mechanism, user_hash = k.user_hash, user_at = k.user_at
           from ${unnested(0)} k (${COLUMNS}) where s.project_id = k.project_id and s.sid = k.sid`,
    values: columnsOf(sessions),
  })
}

type SessionRow = {
  project_id: string
  sid: string
  attributes_id: number
  started_at: Date
  has_init: boolean
  first_update_at: Date
  status: number
  errors: number
  duration_ms: number | null
  was_unhandled: boolean
  mechanism: string | null
  user_hash: number | null
  user_at: Date | null
}

const COLUMNS = `project_id, sid, attributes_id, started_at, has_init, first_update_at, status, errors, duration_ms, was_unhandled, mechanism, user_hash, user_at`
const COLUMN_TYPES = [
  'uuid',
  'uuid',
  'bigint',
  'timestamptz',
  'bool',
  'timestamptz',
  'smallint',
  'int',
  'bigint',
  'bool',
  'text',
  'bigint',
  'timestamptz',
]

/** `unnest($1::uuid[], …)` of columns from parameter `before + 1` on. */
const unnested = (before: number, types: readonly string[] = COLUMN_TYPES): string =>
  `unnest(${types.map((type, index) => `$${before + index + 1}::${type}[]`).join(', ')})`

function columnsOf(sessions: readonly Session[]): unknown[] {
  return [
    sessions.map((one) => one.projectId),
    sessions.map((one) => one.sid),
    sessions.map((one) => one.attributesId),
    sessions.map((one) => new Date(one.startedAt)),
    sessions.map((one) => one.hasInit),
    sessions.map((one) => new Date(one.firstUpdateAt)),
    sessions.map((one) => one.status),
    sessions.map((one) => one.errors),
    sessions.map((one) => one.durationMs),
    sessions.map((one) => one.wasUnhandled),
    sessions.map((one) => one.mechanism),
    sessions.map((one) => one.userHash),
    sessions.map((one) => (one.userAt === null ? null : new Date(one.userAt))),
  ]
}

const sessionFromRow = (row: SessionRow): Session => ({
  projectId: row.project_id,
  sid: row.sid,
  attributesId: row.attributes_id,
  startedAt: row.started_at.getTime(),
  hasInit: row.has_init,
  firstUpdateAt: row.first_update_at.getTime(),
  status: row.status,
  errors: row.errors,
  durationMs: row.duration_ms,
  wasUnhandled: row.was_unhandled,
  mechanism: row.mechanism,
  userHash: row.user_hash,
  userAt: row.user_at?.getTime() ?? null,
})

export type RollupKey = Pick<RollupChange, 'projectId' | 'bucketSeconds' | 'attributesId' | 'bucket'>

const keyColumns = (rows: readonly RollupKey[]): unknown[] => [
  rows.map((row) => row.projectId),
  rows.map((row) => row.bucketSeconds),
  rows.map((row) => row.attributesId),
  rows.map((row) => new Date(row.bucket)),
]
const KEY_TYPES = ['uuid', 'int', 'bigint', 'timestamptz']
const KEY_COLUMNS = 'project_id, bucket_seconds, attributes_id, bucket'
const SAME_KEY = `r.project_id = k.project_id and r.bucket_seconds = k.bucket_seconds and r.attributes_id = k.attributes_id and r.bucket = k.bucket`

/** Adds counts and creates missing rows. All of them stay locked until the transaction ends. */
export async function addCounts(tx: Tx, rows: readonly RollupChange[]): Promise<void> {
  await tx.query({
    name: 'sessions-add-counts',
    text: `insert into session_rollups as r (${KEY_COLUMNS}, ${COUNTS.join(', ')})
           select * from ${unnested(0, [...KEY_TYPES, ...COUNTS.map(() => 'bigint')])}
           on conflict (${KEY_COLUMNS}) do update set ${COUNTS.map((name) => `${name} = r.${name} + excluded.${name}`).join(', ')}`,
    values: [...keyColumns(rows), ...COUNTS.map((name) => rows.map((row) => row.counts[name]))],
  })
}

export type Sketches = Record<UserSet | 'durations', Buffer | null>
const SKETCHES = [...USER_SETS, 'durations'] as const

/** Sketches of rows that {@link addCounts} locked, in the given order. */
export async function readSketches(tx: Tx, rows: readonly RollupKey[]): Promise<Sketches[]> {
  const found = await tx.query<Sketches>({
    name: 'sessions-read-sketches',
    text: `select ${SKETCHES.map((name) => `r.${name}`).join(', ')}
           from ${unnested(0, KEY_TYPES)} with ordinality k (${KEY_COLUMNS}, place)
           join session_rollups r on ${SAME_KEY} order by k.place`,
    values: keyColumns(rows),
  })
  return found.rows
}

/** Writes sketches. Null keeps the stored one. */
export async function writeSketches(
  tx: Tx,
  rows: readonly { readonly key: RollupKey; readonly sketches: Sketches }[],
): Promise<void> {
  await tx.query({
    name: 'sessions-write-sketches',
    text: `update session_rollups r set ${SKETCHES.map((name) => `${name} = coalesce(k.${name}, r.${name})`).join(', ')}
           from ${unnested(0, [...KEY_TYPES, ...SKETCHES.map(() => 'bytea')])} k (${KEY_COLUMNS}, ${SKETCHES.join(', ')})
           where ${SAME_KEY}`,
    values: [
      ...keyColumns(rows.map(({ key }) => key)),
      ...SKETCHES.map((name) => rows.map(({ sketches }) => sketches[name])),
    ],
  })
}
