import type { Tx } from '../../platform/storage/database.ts'
import { DIMENSIONS } from './dimensions.ts'
import type { Session } from './session.ts'
import type { Device } from '../../events/protocol/device.ts'

/** SQL of recording sessions: prepared statements that lock rows in the given order. */

type SessionKey = Pick<Session, 'projectId' | 'sid'>

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

/** The device of a user. */
export type SeenDevice = {
  readonly projectId: string
  /** 52 bits; see events/protocol/user.ts. */
  readonly userHash: number
  readonly device: Device
}

type User = Pick<SeenDevice, 'projectId' | 'userHash'>

export const userKey = ({ projectId, userHash }: User): string => `${projectId}/${userHash}`

/** A device is written again after this many days, so that it outlives the purge while it is used. */
const REFRESH_DAYS = 7

/** Inserts or changes devices in the given order. Rows that say the same stay unchanged. */
export function saveDevices(tx: Tx, day: string, rows: readonly SeenDevice[]): void {
  tx.send({
    name: 'user-devices-save',
    text: `insert into user_devices as u (project_id, user_hash, os, device, device_class, seen_day)
           select k.*, $6::date from unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::text[])
             k (project_id, user_hash, os, device, device_class)
           where not exists (select from user_devices o where o.project_id = k.project_id and o.user_hash = k.user_hash
             and o.os = k.os and o.device = k.device and o.device_class = k.device_class
             and o.seen_day > $6::date - ${REFRESH_DAYS})
           on conflict (project_id, user_hash) do update set os = excluded.os, device = excluded.device,
             device_class = excluded.device_class, seen_day = excluded.seen_day`,
    values: [
      rows.map((row) => row.projectId),
      rows.map((row) => row.userHash),
      rows.map(({ device }) => device.os),
      rows.map(({ device }) => device.device),
      rows.map(({ device }) => device.device_class),
      day,
    ],
  })
}

/** Known devices, by {@link userKey}. */
export async function findDevices(tx: Tx, users: readonly User[]): Promise<Map<string, SeenDevice['device']>> {
  const { rows } = await tx.query<SeenDevice['device'] & { project_id: string; user_hash: number }>({
    name: 'user-devices-find',
    text: `select u.project_id, u.user_hash, u.os, u.device, u.device_class
           from unnest($1::uuid[], $2::bigint[]) k (project_id, user_hash)
           join user_devices u on u.project_id = k.project_id and u.user_hash = k.user_hash`,
    values: [users.map((user) => user.projectId), users.map((user) => user.userHash)],
  })
  return new Map(
    rows.map(({ project_id: projectId, user_hash: userHash, ...device }) => [userKey({ projectId, userHash }), device]),
  )
}
