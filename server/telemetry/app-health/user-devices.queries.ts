import type { Tx } from '../../platform/storage/database.ts'
import type { Device } from '../../events/protocol/device.ts'

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
export async function saveDevices(tx: Tx, day: string, rows: readonly SeenDevice[]): Promise<void> {
  await tx.query({
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
