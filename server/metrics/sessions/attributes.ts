import { hash as digestOf } from 'node:crypto'
import type { Tx } from '../../storage/database.ts'
import { dayOf } from '../../kernel/day.ts'
import type { SessionAttributes } from '../../protocol/session.ts'
import * as sql from './sessions.queries.ts'

/**
 * New combinations of attributes a project may bring up in a day; whatever comes beyond is counted, under no name of
 * its own. Releases are named by whoever holds the key of an app, which is everybody.
 */
export const MAX_NEW_ATTRIBUTES_PER_DAY = 2_000

/** Stands for attributes beyond the bound. */
export const OTHER_ATTRIBUTES = 1

export type KnownAttributes = {
  readonly projectId: string
  readonly id: number
  readonly attributes: SessionAttributes
}

/** 52 bits of a hash, clear of the two reserved ids: nobody has to be asked for a number. */
export function attributesIdOf({ release, environment, os, device }: SessionAttributes): number {
  const text = JSON.stringify([release, environment, os, device])
  return 2 + Number.parseInt(digestOf('sha256', text, 'hex').slice(0, 13), 16)
}

/**
 * Which ids the attributes of a batch are counted under, by `attributesKey`. Writes down those met for the first time,
 * or for the first time today: two digesters that do so lock rows in the same order.
 */
export async function countedUnder(
  tx: Tx,
  now: Date,
  wanted: ReadonlyMap<string, KnownAttributes>,
): Promise<Map<string, number>> {
  const today = dayOf(now)
  const known = await sql.findAttributes(tx, today, [...wanted.values()])
  const unknown = [...wanted].filter(([key]) => !known.has(key)).map(([, one]) => one)
  const brought =
    unknown.length === 0
      ? new Map<string, number>()
      : await sql.countNewAttributes(tx, today, [...new Set(unknown.map(({ projectId }) => projectId))])
  const ids = new Map<string, number>()
  const writes = new Map<string, sql.AttributesRow>()
  for (const [key, { projectId, id, attributes }] of wanted) {
    let row: sql.AttributesRow = { projectId, id, ...attributes }
    const found = known.get(key)
    if (found === undefined) {
      const already = brought.get(projectId) ?? 0
      brought.set(projectId, already + 1)
      if (already >= MAX_NEW_ATTRIBUTES_PER_DAY) row = { projectId, id: OTHER_ATTRIBUTES, ...NO_NAMES }
    }
    ids.set(key, row.id)
    if (found?.isUsed !== true) writes.set(sql.attributesKey(projectId, row.id), row)
  }
  if (writes.size > 0) {
    const sorted = [...writes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
    await sql.writeAttributes(tx, today, sorted)
  }
  return ids
}

const NO_NAMES = { release: null, environment: null, os: null, device: null }
