import { sql } from 'kysely'
import type { Connection, Tx } from './database.ts'

/** A column whose values are sealed with the master key. The folder that owns the table declares it; see `seal.ts`. */
export type SealedColumn = {
  readonly table: 'orgs' | 'signing_keys' | 'audit_key' | 'totp_factors' | 'outbox_messages' | 'seal_canary'
  readonly column: string
  /** The primary key. */
  readonly key: string
  /** A further column that the place names. */
  readonly also?: string
  /** The text is stored as bytes, and other rows hold other bytes. */
  readonly isBytes?: true
  readonly placeOf: (key: string, also: string) => string
}

export type SealedValue = { readonly key: string; readonly also: string; readonly sealed: string }

const textOf = ({ column, isBytes }: SealedColumn) =>
  isBytes === true ? sql`convert_from(${sql.ref(column)}, 'UTF8')` : sql.ref(column)

/** The value is sealed with another key. Sealed texts begin with `v1.<key id>.`. */
function isOlder(of: SealedColumn, keyId: string) {
  const begin = `v1.${keyId}.`
  const column = sql.ref(of.column)
  return of.isBytes === true
    ? sql`substr(${column}, 1, 3) = 'v1.'::bytea and substr(${column}, 1, ${begin.length}) <> ${Buffer.from(begin)}`
    : sql`not starts_with(${column}, ${begin})`
}

/** Locks values that are not sealed with this key, at most `max`. */
export async function lockOlderValues(tx: Tx, of: SealedColumn, keyId: string, max: number): Promise<SealedValue[]> {
  const { rows } = await sql<SealedValue>`
    select ${sql.ref(of.key)}::text as key, ${sql.ref(of.also ?? of.key)}::text as also, ${textOf(of)} as sealed
    from ${sql.table(of.table)} where ${isOlder(of, keyId)} order by 1 limit ${max} for update`.execute(tx)
  return rows
}

export async function countOlderValues(on: Connection, of: SealedColumn, keyId: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from ${sql.table(of.table)} where ${isOlder(of, keyId)}`.execute(on)
  return rows[0]?.n ?? 0
}

export async function writeSealed(tx: Tx, of: SealedColumn, key: string, sealed: string): Promise<void> {
  const value = of.isBytes === true ? Buffer.from(sealed) : sealed
  await sql`update ${sql.table(of.table)} set ${sql.ref(of.column)} = ${value}
            where ${sql.ref(of.key)}::text = ${key}`.execute(tx)
}
