import type { Tx } from '../../platform/storage/database.ts'
import { DIMENSIONS } from './dimensions.ts'
import type { Session } from './session.ts'

/** SQL of recording sessions: prepared statements that lock rows in the given order. */

export type SessionKey = Pick<Session, 'projectId' | 'sid'>

export const sessionKey = ({ projectId, sid }: SessionKey): string => `${projectId}/${sid}`

/** Inserts new sessions; waits for transactions that insert the same ones. @returns keys of those inserted */
export async function insertSessions(tx: Tx, sessions: readonly Session[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ project_id: string; sid: string }>({
    name: 'sessions-insert',
    text: `insert into app_sessions (${COLUMNS}) select * from ${UNNESTED}
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
    text: `update app_sessions s set release = k.release, environment = k.environment,
             os = k.os, device = k.device, device_class = k.device_class, started_at = k.started_at, has_init = k.has_init,
             first_update_at = k.first_update_at, status = k.status, errors = k.errors, duration_ms = k.duration_ms,
             was_unhandled = k.was_unhandled, mechanism = k.mechanism, user_hash = k.user_hash, user_at = k.user_at
           from ${UNNESTED} k (${COLUMNS}) where s.project_id = k.project_id and s.sid = k.sid`,
    values: columnsOf(sessions),
  })
}

type SessionRow = {
  project_id: string
  sid: string
  release: string
  environment: string
  os: string
  device: string
  device_class: string
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

const COLUMNS = `project_id, sid, release, environment, os, device, device_class, started_at, has_init, first_update_at, status, errors, duration_ms, was_unhandled, mechanism, user_hash, user_at`
const COLUMN_TYPES = [
  'uuid',
  'uuid',
  'text',
  'text',
  'text',
  'text',
  'text',
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

const UNNESTED = `unnest(${COLUMN_TYPES.map((type, index) => `$${index + 1}::${type}[]`).join(', ')})`

function columnsOf(sessions: readonly Session[]): unknown[] {
  return [
    sessions.map((one) => one.projectId),
    sessions.map((one) => one.sid),
    ...DIMENSIONS.map((dimension) => sessions.map((one) => one.attributes[dimension])),
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
  attributes: {
    release: row.release,
    environment: row.environment,
    os: row.os,
    device: row.device,
    device_class: row.device_class,
  },
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
