import { hash as digestOf } from 'node:crypto'
import type { Tx } from '../../platform/storage/database.ts'
import { hyphenate } from '../../platform/kernel/ids.ts'
import type { CountedSpans, Dimensions, Operations } from './fact.ts'
import { KIND_OPS, operationKind } from './operation-name.ts'
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
/** Operations of transactions, and parts of their time, per project and day. Further ones are counted under {@link OTHER}. */
export const MAX_SPANS = { operations: 4_000, parts: 2_000 } as const
/** Environments of what exceeds them; the rest has none. */
const MAX_OTHERS = 100

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
  // Operations of a transaction, and the parts of its time.
  5: ['name', 'op', 'environment'],
  6: ['name', 'environment'],
}

/** The series of dimensions in a grain. Its id is a hash of them. */
export function deriveSeries(projectId: string, grain: Grain, full: Dimensions, span?: string): Series {
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
    ...(span === undefined ? [] : [span]),
  ])
  const id = hyphenate(digestOf('sha256', text, 'hex').slice(0, 32))
  return { id, projectId, grain, dimensions, ...(span !== undefined && { span }) }
}

/** The series of an operation of a transaction. */
export const operationSeries = (
  projectId: string,
  { transaction, environment }: Pick<CountedSpans, 'transaction' | 'environment'>,
  { op, name }: Pick<Operations, 'op' | 'name'>,
): Series => deriveSeries(projectId, 5, { ...NOTHING, name: transaction, environment, op }, name)

/** The series of a part of a transaction's time. */
export const partSeries = (
  projectId: string,
  { transaction, environment }: Pick<CountedSpans, 'transaction' | 'environment'>,
  part: string,
): Series => deriveSeries(projectId, 6, { ...NOTHING, name: transaction, environment }, part)

/** The series to use for one above the limit of spans. */
function otherSpans({ projectId, grain, dimensions }: Series, environment: string): Series {
  const transaction = { transaction: OTHER, environment }
  const kind = operationKind(dimensions.op)
  return grain === 6
    ? partSeries(projectId, transaction, OTHER)
    : operationSeries(projectId, transaction, { op: kind === null ? '' : KIND_OPS[kind], name: OTHER })
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
    ...new Set(missing.flatMap(({ grain, dimensions }) => (grain === 0 ? [dimensions.name] : []))),
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
    if (one.grain !== 0) continue
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
  for (const one of await admitSpans(tx, today, missing, counts, assigned)) added.set(one.id, one)
  await sql.saveSeries(tx, today, [...added.values()])
  await sql.saveDay(tx, projectId, today, counts)
}

/** Assigns the series of spans, and counts them. @returns series to save */
async function admitSpans(
  tx: Tx,
  today: string,
  missing: readonly Series[],
  counts: sql.DayCounts,
  assigned: Map<string, string>,
): Promise<Series[]> {
  const added: Series[] = []
  const above: Series[] = []
  for (const one of missing) {
    if (one.grain === 0) continue
    const counter = counterFor(one)
    if (counts[counter] >= MAX_SPANS[counter]) above.push(one)
    else {
      counts[counter]++
      added.push(one)
      assigned.set(one.id, one.id)
    }
  }
  if (above.length === 0) return added
  const others = above.map((one) => otherSpans(one, one.dimensions.environment))
  const known = await sql.findSeries(tx, today, others)
  for (const [index, one] of above.entries()) {
    const counter = counterFor(one)
    let other = others[index] ?? one
    if (!known.has(other.id)) {
      if (counts[counter] < MAX_SPANS[counter] + MAX_OTHERS) counts[counter]++
      else other = otherSpans(one, '')
      known.add(other.id)
      added.push(other)
    }
    assigned.set(one.id, other.id)
  }
  return added
}

const counterFor = ({ grain }: Series): keyof typeof MAX_SPANS => (grain === 6 ? 'parts' : 'operations')

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
