import type { Connection, Tx } from '../../platform/storage/database.ts'

type TargetRow = { id: string; org_id: string; user_id: string; provider: string; token_sealed: string }

/** Devices of members who are active. */
export async function selectTargets(db: Connection, deviceIds: readonly string[]): Promise<TargetRow[]> {
  const { rows } = await db.query<TargetRow>({
    name: 'push targets',
    text: `select d.id, d.org_id, d.user_id, d.provider, d.token_sealed
      from push_devices d
      join memberships m on m.user_id = d.user_id and m.org_id = d.org_id and m.disabled_at is null
      join users u on u.id = d.user_id and u.disabled_at is null
      where d.id = any($1::uuid[])`,
    values: [deviceIds],
  })
  return rows
}

type RecipientRow = { id: string; user_id: string; provider: string; token_masked: string }

/** Devices of active members of an organisation. @param userIds whose; undefined for all */
export async function selectRecipients(
  db: Connection,
  orgId: string,
  userIds: readonly string[] | undefined,
): Promise<RecipientRow[]> {
  const { rows } = await db.query<RecipientRow>(
    `select d.id, d.user_id, d.provider, d.token_masked
     from push_devices d
     join memberships m on m.user_id = d.user_id and m.org_id = d.org_id and m.disabled_at is null
     join users u on u.id = d.user_id and u.disabled_at is null
     where d.org_id = $1 and ($2::uuid[] is null or d.user_id = any($2::uuid[]))
     order by d.id`,
    [orgId, userIds ?? null],
  )
  return rows
}

export type PushNote = {
  readonly deviceId: string
  readonly at: Date
  /** Null for a push that the provider took. */
  readonly error: { readonly code: string; readonly text: string } | null
}

/** Notes the newest result of each device, one for each. */
export async function noteResults(tx: Tx, notes: readonly PushNote[]): Promise<void> {
  await tx.query(
    `with noted as (
       select n.*, d.id as device_id
       from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[]) as n (id, at, code, text)
       join push_devices d on d.id = n.id
       order by d.id for update of d
     )
     update push_devices d set
       last_sent_at = case when n.code is null then n.at else d.last_sent_at end,
       last_error_code = n.code,
       last_error_text = n.text,
       last_error_at = case when n.code is null then null else n.at end
     from noted n where d.id = n.device_id`,
    [
      notes.map(({ deviceId }) => deviceId),
      notes.map(({ at }) => at),
      notes.map(({ error }) => error?.code ?? null),
      notes.map(({ error }) => error?.text ?? null),
    ],
  )
}
