import { sql, type RawBuilder } from 'kysely'
import type { Connection, Tx } from './database.ts'

type Table =
  | 'orgs'
  | 'signing_keys'
  | 'audit_key'
  | 'totp_factors'
  | 'outbox_messages'
  | 'seal_canary'
  | 'sessions'
  | 'projects'
  | 'erasures'
  | 'sso_configs'
  | 'webhook_endpoints'
  | 'webhook_secrets'
  | 'push_devices'
  | 'alert_actions'
  | 'imports'
  | 'code_hosts'
  | 'tracker_integrations'

/** A column whose values are sealed. The folder that owns the table declares it; see `seal.ts`. */
type Sealed = {
  readonly table: Table
  readonly column: string
  /** Columns that identify a row. */
  readonly keys: readonly [string, ...string[]]
  /** The text is stored as bytes, and other rows hold other bytes. */
  readonly isBytes?: true
}

/** Sealed with the master key. */
export type SealedColumn = Sealed & {
  /** From the values of `keys`. */
  readonly placeOf: (...keys: readonly string[]) => string
}

/** Sealed with the data key of the row's organisation. */
export type OrgSealedColumn = Sealed & {
  readonly placeOf: (orgId: string, ...keys: readonly string[]) => string
  /** The parent row that names the organisation, when the row itself does not. */
  readonly parent?: { readonly table: Table; readonly key: string; readonly by: string }
}

export type SealedValue = { readonly keys: readonly string[]; readonly sealed: string }

const textOf = ({ column, isBytes }: Sealed) =>
  isBytes === true ? sql`convert_from(${sql.ref(column)}, 'UTF8')` : sql.ref(column)

/** The value is sealed with another key. Sealed texts begin with `v1.<key id>.`. */
function isOlder(of: Sealed, keyId: string) {
  const begin = `v1.${keyId}.`
  const column = sql.ref(of.column)
  return of.isBytes === true
    ? sql`substr(${column}, 1, 3) = 'v1.'::bytea and substr(${column}, 1, ${begin.length}) <> ${Buffer.from(begin)}`
    : sql`not starts_with(${column}, ${begin})`
}

/** Rows of one organisation. */
export const rowsOfOrg = ({ parent }: OrgSealedColumn, orgId: string): RawBuilder<unknown> =>
  parent === undefined
    ? sql`org_id = ${orgId}`
    : sql`${sql.ref(parent.by)} in (select ${sql.ref(parent.key)} from ${sql.table(parent.table)} where org_id = ${orgId})`

const ALL_ROWS = sql`true`

/** Locks values that are not sealed with this key, at most `max`. */
export async function lockOlderValues(
  tx: Tx,
  of: Sealed,
  keyId: string,
  max: number,
  rows: RawBuilder<unknown> = ALL_ROWS,
): Promise<SealedValue[]> {
  const keys = sql.join(of.keys.map((key) => sql`${sql.ref(key)}::text`))
  const found = await sql<SealedValue>`
    select array[${keys}] as keys, ${textOf(of)} as sealed
    from ${sql.table(of.table)} where ${isOlder(of, keyId)} and ${rows} order by 1 limit ${max} for update`.execute(tx)
  return found.rows
}

export async function countOlderValues(
  on: Connection,
  of: Sealed,
  keyId: string,
  rows: RawBuilder<unknown> = ALL_ROWS,
): Promise<number> {
  const found = await sql<{ n: number }>`
    select count(*) as n from ${sql.table(of.table)} where ${isOlder(of, keyId)} and ${rows}`.execute(on)
  return found.rows[0]?.n ?? 0
}

export async function writeSealed(tx: Tx, of: Sealed, keys: readonly string[], sealed: string): Promise<void> {
  const value = of.isBytes === true ? Buffer.from(sealed) : sealed
  const row = of.keys.map((key, at) => sql`${sql.ref(key)}::text = ${keys[at]}`)
  await sql`update ${sql.table(of.table)} set ${sql.ref(of.column)} = ${value} where ${sql.join(row, sql` and `)}`.execute(
    tx,
  )
}
