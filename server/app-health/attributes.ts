import { hash as digestOf } from 'node:crypto'
import type { Tx } from '../storage/database.ts'
import { dayOf } from '../kernel/day.ts'
import type { SessionAttributes } from '../protocol/session.ts'
import * as sql from './sessions.queries.ts'

/**
 * New combinations of attributes per project and day. A project key is public, so anyone can make up releases. Sessions
 * of further combinations are counted together.
 */
export const MAX_NEW_ATTRIBUTES_PER_DAY = 2_000

/** The id of all combinations above the limit. */
export const OTHER_ATTRIBUTES = 1

export type KnownAttributes = {
  readonly projectId: string
  readonly id: number
  readonly attributes: SessionAttributes
}

/** 52 bits of a hash, different from the two reserved ids: every process computes the same id. */
export function attributesIdOf({ release, environment, os, device }: SessionAttributes): number {
  const text = JSON.stringify([release, environment, os, device])
  return 2 + Number.parseInt(digestOf('sha256', text, 'hex').slice(0, 13), 16)
}

/**
 * The ids that the attributes of a batch are counted under, by `attributesKey`. Writes those that are new, or new today,
 * in a fixed lock order.
 */
export async function countedUnder(
  tx: Tx,
  now: Date,
  wanted: ReadonlyMap<string, KnownAttributes>,
): Promise<Map<string, number>> {
  const today = dayOf(now)
  const known = await sql.findAttributes(tx, today, [...wanted.values()])
  const unknown = [...wanted].filter(([key]) => !known.has(key)).map(([, one]) => one)
  const newToday =
    unknown.length === 0
      ? new Map<string, number>()
      : await sql.countNewAttributes(tx, today, [...new Set(unknown.map(({ projectId }) => projectId))])
  const ids = new Map<string, number>()
  const writes = new Map<string, sql.AttributesRow>()
  for (const [key, { projectId, id, attributes }] of wanted) {
    let row: sql.AttributesRow = { projectId, id, ...attributes }
    const found = known.get(key)
    if (found === undefined) {
      const already = newToday.get(projectId) ?? 0
      newToday.set(projectId, already + 1)
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
