import type { Recorder } from '../../events/items/recorder.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { findMemoryGrowths } from './memory-growth.ts'
import type { PrecursorReport, Sign } from './precursor.ts'
import * as sql from './precursors.queries.ts'
import { MINUTE_MS, DAY_MS } from '../../platform/kernel/day.ts'
import { type AgingRows, purgeTask } from '../../platform/jobs/purge.ts'
import { MEMORY_ROWS, PRECURSOR_ROWS } from './precursors.queries.ts'

const keyOf = ({ projectId, owner }: Pick<PrecursorReport, 'projectId' | 'owner'>): string => `${projectId}/${owner}`

/** Adds the signs of reports. A sign of an owner counts once a minute, so that a repeated report changes nothing. */
export async function recordPrecursors(tx: Tx, reports: readonly PrecursorReport[]): Promise<void> {
  const rows = new Map<string, sql.SignRow>()
  const add = ({ projectId, owner }: PrecursorReport, sign: Sign, atMs: number): void => {
    const minute = Math.floor(atMs / MINUTE_MS) * MINUTE_MS
    rows.set(`${projectId}/${minute}/${owner}/${sign}`, { projectId, minute: new Date(minute), owner, sign })
  }
  for (const report of reports) for (const { sign, atMs } of report.signs) add(report, sign, atMs)
  const withMemory = reports.filter(({ memory }) => memory.length > 0)
  if (withMemory.length > 0) {
    const states = await sql.lockMemory(tx, withMemory)
    for (const report of withMemory.toSorted((a, b) => (a.memory[0]?.atMs ?? 0) - (b.memory[0]?.atMs ?? 0))) {
      const { atMs, state } = findMemoryGrowths(states.get(keyOf(report)) ?? null, report.memory)
      if (state !== null) states.set(keyOf(report), state)
      for (const grownAt of atMs) add(report, 'memory_growth', grownAt)
    }
    await sql.saveMemory(tx, withMemory, states)
  }
  await sql.insertSigns(
    tx,
    [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row),
  )
}

export const precursorRecorder: Recorder<PrecursorReport> = async (tx, _context, facts) => {
  await recordPrecursors(
    tx,
    facts.map(({ fact }) => fact),
  )
  return null
}

/** A dry run looks back seven days, each moment over its window of up to a day. */
const PRECURSOR_RETENTION_DAYS = 8

export const AGING_PRECURSORS: readonly AgingRows[] = [
  { rows: MEMORY_ROWS, column: 'seen_at', kept: { ms: DAY_MS } },
  { rows: PRECURSOR_ROWS, column: 'minute', kept: { ms: PRECURSOR_RETENTION_DAYS * DAY_MS } },
]

export const purgePrecursorsTask = purgeTask('purge-precursors', '37 * * * *', AGING_PRECURSORS)
