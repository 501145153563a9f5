import type { Recorder } from '../../events/items/recorder.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { findMemoryGrowths } from './memory-growth.ts'
import type { PrecursorReport, Sign } from './precursor.ts'
import * as sql from './precursors.queries.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'

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
