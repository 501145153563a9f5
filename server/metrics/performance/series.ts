import { hash as digestOf } from 'node:crypto'
import type { Tx } from '../../storage/database.ts'
import { hyphenate } from '../../kernel/ids.ts'
import type { Place } from './fact.ts'
import * as sql from './series.queries.ts'
import type { Grain, Series } from './series.queries.ts'

/** Names of a project per day of receipt; what is over goes under {@link OTHER}. */
export const MAX_NAMES = 1_000
/** Combinations of name, op, release, environment, system and device class per project and day of receipt. */
export const MAX_SERIES = 10_000
/** Stands for the names beyond the limit. */
export const OTHER = '<other>'
/** Where even combinations are too many. */
const OVERFLOW: Place = { name: OTHER, op: 'default', release: '', environment: '', os: '', deviceClass: '' }

/** The series of a place in a grain; its id follows from what it says. */
export function seriesOf(projectId: string, grain: Grain, full: Place): Series {
  const place = grain === 0 ? full : coarser(full, grain)
  const text = JSON.stringify([
    projectId,
    grain,
    place.name,
    place.op,
    place.release,
    place.environment,
    place.os,
    place.deviceClass,
  ])
  return { id: hyphenate(digestOf('sha256', text, 'hex').slice(0, 32)), projectId, grain, place }
}

const coarser = ({ name, op, environment }: Place, grain: 1 | 2): Place => ({
  ...OVERFLOW,
  name: grain === 1 ? name : '',
  op: grain === 1 ? op : '',
  environment,
})

/**
 * Makes sure the series exist, within the limits of each project and day: answers which series each of them became, by
 * id. Once per series and day more than a look-up.
 */
export async function registerSeries(tx: Tx, today: string, wanted: readonly Series[]): Promise<Map<string, string>> {
  const became = new Map<string, string>()
  const all = new Map(wanted.map((one) => [one.id, one]))
  const known = await sql.findSeries(tx, today, [...all.values()])
  for (const id of known) became.set(id, id)
  const missing = [...all.values()].filter(({ id }) => !known.has(id))
  if (missing.length === 0) return became
  const projects = Map.groupBy(missing, ({ projectId }) => projectId)
  // In a fixed order: each project's counters are locked until the transaction ends.
  for (const projectId of [...projects.keys()].sort())
    await registerOf(tx, today, projectId, projects.get(projectId) ?? [], became)
  return became
}

async function registerOf(
  tx: Tx,
  today: string,
  projectId: string,
  missing: readonly Series[],
  became: Map<string, string>,
): Promise<void> {
  const counts = await sql.lockDay(tx, projectId, today)
  const names = await sql.findNames(tx, projectId, today, [...new Set(missing.map(({ place }) => place.name))])
  const added = new Map<string, Series>()
  // Those that do not fit, and where they go instead; that may be known already.
  const moved = new Map<string, Series>()
  const add = (one: Series): boolean => {
    if (added.has(one.id)) return true
    if (counts.series >= MAX_SERIES) return false
    counts.series++
    added.set(one.id, one)
    return true
  }
  for (const one of missing) {
    const { name } = one.place
    if (!names.has(name) && name !== OTHER) {
      if (counts.names >= MAX_NAMES) {
        moved.set(one.id, seriesOf(projectId, 0, { ...one.place, name: OTHER }))
        continue
      }
      if (counts.series < MAX_SERIES) {
        counts.names++
        names.add(name)
      }
    }
    if (add(one)) became.set(one.id, one.id)
    else moved.set(one.id, seriesOf(projectId, 0, OVERFLOW))
  }
  if (moved.size > 0) {
    const overflow = seriesOf(projectId, 0, OVERFLOW)
    const known = await sql.findSeries(tx, today, [...moved.values(), overflow])
    for (const [id, other] of moved) {
      const fits = known.has(other.id) || add(other)
      const target = fits ? other : overflow
      // The last resort is not counted: it is one.
      if (!fits && !known.has(overflow.id)) added.set(overflow.id, overflow)
      became.set(id, target.id)
    }
  }
  await sql.saveSeries(tx, today, [...added.values()])
  await sql.saveDay(tx, projectId, today, counts)
}
