import { hash as digestOf } from 'node:crypto'
import type { Tx } from '../../platform/storage/database.ts'
import { hyphenate } from '../../platform/kernel/ids.ts'
import type { Dimensions } from './fact.ts'
import * as sql from './record.queries.ts'
import type { Grain, Series } from './record.queries.ts'

/** Names of a project per day of receipt. Further ones are counted under {@link OTHER}. */
export const MAX_NAMES = 1_000
/** Combinations of all attributes per project and day of receipt. */
const MAX_SERIES = 10_000
/** The name for all names above the limit. */
export const OTHER = '<other>'
/** Devices (with release and environment) per project and day. Further ones are counted under {@link OTHER}. */
export const MAX_DEVICES = 10_000

const NOTHING: Dimensions = { name: '', op: '', release: '', environment: '', os: '', deviceClass: '', device: '' }
/** The dimensions of everything above the limit of series. */
const OVERFLOW: Dimensions = { ...NOTHING, name: OTHER, op: 'default' }

/** The attributes of a series by grain. */
export const GRAINS: { readonly [G in Grain]: readonly (keyof Dimensions)[] } = {
  0: ['name', 'op', 'release', 'environment', 'os', 'deviceClass'],
  1: ['name', 'op', 'environment'],
  2: ['environment'],
  3: ['release', 'environment', 'os', 'deviceClass'],
  4: ['release', 'environment', 'device'],
}

/** The series of dimensions in a grain. Its id is a hash of them. */
export function deriveSeries(projectId: string, grain: Grain, full: Dimensions): Series {
  const dimensions: Dimensions = {
    ...NOTHING,
    ...Object.fromEntries(GRAINS[grain].map((attribute) => [attribute, full[attribute]])),
  }
  const text = JSON.stringify([
    projectId,
    grain,
    dimensions.name,
    dimensions.op,
    dimensions.release,
    dimensions.environment,
    dimensions.os,
    dimensions.deviceClass,
    dimensions.device,
  ])
  return { id: hyphenate(digestOf('sha256', text, 'hex').slice(0, 32)), projectId, grain, dimensions }
}

/** The series of a project for everything above the limit of series. */
export const overflowSeries = (projectId: string): Series => deriveSeries(projectId, 0, OVERFLOW)

/**
 * Creates missing series within the limits of each project and day. Known series cost one look-up.
 * @returns for each wanted id the id of the series to use
 */
export async function registerSeries(tx: Tx, today: string, wanted: readonly Series[]): Promise<Map<string, string>> {
  const assigned = new Map<string, string>()
  const all = new Map(wanted.map((one) => [one.id, one]))
  const known = await sql.findSeries(tx, today, [...all.values()])
  for (const id of known) assigned.set(id, id)
  const missing = [...all.values()].filter(({ id }) => !known.has(id))
  if (missing.length === 0) return assigned
  const projects = Map.groupBy(missing, ({ projectId }) => projectId)
  // A fixed order: each project's counters are locked until the transaction ends.
  for (const projectId of [...projects.keys()].sort())
    await registerOf(tx, today, projectId, projects.get(projectId) ?? [], assigned)
  return assigned
}

async function registerOf(
  tx: Tx,
  today: string,
  projectId: string,
  missing: readonly Series[],
  assigned: Map<string, string>,
): Promise<void> {
  const counts = await sql.lockDay(tx, projectId, today)
  const names = await sql.findNames(tx, projectId, today, [
    ...new Set(missing.map(({ dimensions }) => dimensions.name)),
  ])
  const added = new Map<string, Series>()
  // Series above the limits, with the series to use instead, which may exist.
  const moved = new Map<string, Series>()
  const add = (one: Series): boolean => {
    if (added.has(one.id)) return true
    if (counts.series >= MAX_SERIES) return false
    counts.series++
    added.set(one.id, one)
    return true
  }
  for (const one of missing) {
    const { name } = one.dimensions
    if (!names.has(name) && name !== OTHER) {
      if (counts.names >= MAX_NAMES) {
        moved.set(one.id, deriveSeries(projectId, 0, { ...one.dimensions, name: OTHER }))
        continue
      }
      if (counts.series < MAX_SERIES) {
        counts.names++
        names.add(name)
      }
    }
    if (add(one)) assigned.set(one.id, one.id)
    else moved.set(one.id, overflowSeries(projectId))
  }
  if (moved.size > 0) {
    const overflow = overflowSeries(projectId)
    const known = await sql.findSeries(tx, today, [...moved.values(), overflow])
    for (const [id, other] of moved) {
      const fits = known.has(other.id) || add(other)
      const target = fits ? other : overflow
      // The overflow series does not count towards the limit.
      if (!fits && !known.has(overflow.id)) added.set(overflow.id, overflow)
      assigned.set(id, target.id)
    }
  }
  await sql.saveSeries(tx, today, [...added.values()])
  await sql.saveDay(tx, projectId, today, counts)
}

/**
 * The series of devices for wanted ones: themselves, or those of {@link OTHER} above the limit of the day.
 * @returns by wanted id
 */
export async function admitDevices(tx: Tx, today: string, wanted: readonly Series[]): Promise<Map<string, Series>> {
  const all = new Map(wanted.map((one) => [one.id, one]))
  const known = await sql.findSeries(tx, today, [...all.values()])
  const projects = Map.groupBy(all.values(), ({ projectId }) => projectId)
  const admitted = new Map<string, Series>()
  for (const projectId of [...projects.keys()].sort()) {
    const devices = projects.get(projectId) ?? []
    const isNew = devices.some(({ id }) => !known.has(id))
    const counts = isNew ? await sql.lockDay(tx, projectId, today) : null
    for (const one of devices) {
      const fits = known.has(one.id) || counts === null || counts.devices++ < MAX_DEVICES
      admitted.set(one.id, fits ? one : deriveSeries(projectId, 4, { ...one.dimensions, device: OTHER }))
    }
    if (counts !== null)
      await sql.saveDay(tx, projectId, today, { ...counts, devices: Math.min(counts.devices, MAX_DEVICES) })
  }
  return admitted
}
