import { BoundedCache } from '../../platform/kernel/bounded-cache.ts'
import { HyperLogLog } from '../sketch/hyperloglog.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { type Source, USER_SETS, type UserSet, type Dimension } from './dimensions.ts'
import * as sql from './read-health.queries.ts'

/** Rollups have up to 10 kB of each set. */
const ROLLUPS_PER_PAGE = 100

/** Updates of sessions are accepted for five days: older buckets hardly change. */
const SETTLED_AFTER_MS = 5 * 86_400_000

/** Sketches of one rollup, or of several that count together. */
type Sketched = Omit<sql.SketchRow, 'bucket_seconds'> & {
  /** The place of its cells. */
  readonly part: number
  /** Length of the bucket in seconds; of several the first. */
  readonly bucket_seconds: number
}

type Key = sql.SketchKey & { readonly part: number }

/**
 * Sketches of users in rollups of several cells of one source. Those of settled buckets come as one union for each value,
 * which is remembered with the versions of its rows, and united again when any of them changed, came or went.
 * @param dimension the name of each row; null for none
 * @param stepSeconds buckets of this length come one by one
 */
export async function* readSketches(
  db: Connection,
  parts: readonly sql.Cells[],
  sets: readonly UserSet[],
  dimension: Dimension | null,
  stepSeconds: number | null,
): AsyncGenerator<readonly Sketched[]> {
  const [first] = parts
  if (first === undefined || sets.length === 0) return
  const { source, now } = first.query
  const found = await Promise.all(
    parts.map(async (cells, part) => (await sql.sketchKeys(db, cells, dimension)).map((key) => ({ ...key, part }))),
  )
  const isSettled = ({ bucket_seconds: seconds, bucket }: Key): boolean =>
    seconds !== stepSeconds && bucket.getTime() + seconds * 1_000 <= now.getTime() - SETTLED_AFTER_MS
  const runs = runsOf(found.flat().filter(isSettled), source, sets)
  const known = await unchanged(db, source, runs, now.getTime())
  if (known.length > 0) yield known.flatMap(({ run, of }) => rowsOf(run, of))
  const isKnown = new Set(known.flatMap(({ run }) => run.keys))
  const unions = new Map(
    runs.filter(({ keys: [key] }) => key !== undefined && !isKnown.has(key)).map((run) => [run, new Union()]),
  )
  const runOf = new Map([...unions.keys()].flatMap((run) => run.keys.map((key) => [key, run] as const)))
  // The longest buckets first: their sketches are registers, which take up lists faster than lists are united.
  const keys = found
    .flat()
    .filter((key) => !isKnown.has(key))
    .sort((a, b) => b.bucket_seconds - a.bucket_seconds)
  for await (const rows of pages(db, source, keys, sets)) {
    const single: Sketched[] = []
    for (const { key, sketches, version } of rows) {
      const run = runOf.get(key)
      if (run !== undefined) unions.get(run)?.add(run.keys.indexOf(key), sketches, version)
      else single.push({ ...key, t: key.bucket.getTime() / 1_000, sketches })
    }
    yield single
  }
  yield [...unions].flatMap(([run, union]) => {
    const of = union.remembered(now.getTime())
    memoryOf(db, run.projectId).set(run.id, of)
    return rowsOf(run, of)
  })
}

async function* pages(db: Connection, source: Source, keys: readonly Key[], sets: readonly UserSet[]) {
  const read = (at: number) => sql.readSketches(db, source, keys.slice(at, at + ROLLUPS_PER_PAGE), sets)
  // The database reads a page while the one before is merged.
  let next = keys.length > 0 ? read(0) : null
  for (let at = ROLLUPS_PER_PAGE; next !== null; at += ROLLUPS_PER_PAGE) {
    const rows = await next
    next = at < keys.length ? read(at) : null
    // A caller that stops in between does not wait for it.
    next?.catch(() => {})
    yield rows
  }
}

/** Settled buckets of a value in one part, which count together. */
type Run = { readonly projectId: string; readonly id: string; readonly keys: readonly Key[] }

function runsOf(settled: readonly Key[], source: Source, sets: readonly UserSet[]): Run[] {
  const groups = Map.groupBy(settled, (key) => `${key.part} ${key.project_id} ${key.attributes_id}`)
  return [...groups.values()].flatMap((keys) => {
    const [first, second] = keys
    if (first === undefined || second === undefined) return []
    const buckets = keys.map(({ bucket_seconds: seconds, bucket }) => `${seconds}:${bucket.getTime()}`).join(' ')
    return [{ projectId: first.project_id, id: `${source} ${first.attributes_id} ${sets.join()} ${buckets}`, keys }]
  })
}

/** A value without stored rows has no sketches either. */
const rowsOf = ({ keys: [first] }: Run, { versions, unions }: Remembered): Sketched[] =>
  first === undefined || versions === '' ? [] : [{ ...first, t: first.bucket.getTime() / 1_000, sketches: unions }]

/** The unions of the rows of a run, in these versions. */
type Remembered = {
  readonly versions: string
  readonly unions: sql.SketchRow['sketches']
  readonly at: number
}

class Union {
  readonly #sets = new Map<UserSet, HyperLogLog>()
  readonly #versions = new Map<number, string>()

  add(place: number, sketches: sql.SketchRow['sketches'], version: string): void {
    this.#versions.set(place, version)
    for (const [set, bytes] of entriesOf(sketches)) {
      let union = this.#sets.get(set)
      if (union === undefined) this.#sets.set(set, (union = new HyperLogLog()))
      union.mergeBytes(bytes)
    }
  }

  remembered(at: number): Remembered {
    const unions: Partial<Record<UserSet, Buffer>> = {}
    for (const [set, union] of this.#sets) unions[set] = copyOf(union.toBytes())
    return { versions: textOf(this.#versions), unions, at }
  }
}

/** Small buffers share memory, of which a remembered one would keep all. */
function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}

const textOf = (versions: ReadonlyMap<number, string>): string =>
  [...versions]
    .sort(([a], [b]) => a - b)
    .map(([place, version]) => `${place}:${version}`)
    .join()

function entriesOf(sketches: sql.SketchRow['sketches']): [UserSet, Buffer][] {
  return USER_SETS.flatMap((set): [UserSet, Buffer][] => {
    const bytes = sketches[set] ?? null
    return bytes === null ? [] : [[set, bytes]]
  })
}

/** Numbers of transactions come again after some billions: what was remembered is not asked for as long. */
const MAX_AGE_MS = 3_600_000

/** Remembered runs of which no row changed. */
async function unchanged(
  db: Connection,
  source: Source,
  runs: readonly Run[],
  now: number,
): Promise<{ readonly run: Run; readonly of: Remembered }[]> {
  const remembered = runs.flatMap((run) => {
    const of = memoryOf(db, run.projectId).get(run.id)
    return of === undefined || Math.abs(now - of.at) > MAX_AGE_MS ? [] : [{ run, of }]
  })
  if (remembered.length === 0) return []
  const versions = await sql.versionsOfSketches(
    db,
    source,
    remembered.flatMap(({ run }) => run.keys),
  )
  let at = 0
  return remembered.filter(({ run, of }) => {
    const places = run.keys.flatMap((_, place) => {
      const version = versions.get(at + place)
      return version === undefined ? [] : [[place, version] as const]
    })
    at += run.keys.length
    return textOf(new Map(places)) === of.versions
  })
}

/** Each project has its own memory: none pushes out what another asked for, unless more are asked about than fit. */
const MAX_PROJECTS = 8
const MAX_BYTES_OF_PROJECT = 6 * 2 ** 20
/** Bytes of an entry beside its sketches and versions. */
const BYTES_BESIDE = 1_000

type Memory = BoundedCache<string, Remembered>
const memories = new WeakMap<Connection, Map<string, Memory>>()

function memoryOf(db: Connection, projectId: string): Memory {
  let projects = memories.get(db)
  if (projects === undefined) memories.set(db, (projects = new Map<string, Memory>()))
  const memory =
    projects.get(projectId) ??
    new BoundedCache<string, Remembered>({
      maxEntries: 5_000,
      maxBytes: MAX_BYTES_OF_PROJECT,
      // The id names each bucket, as the versions do.
      bytesOf: ({ unions, versions }) =>
        entriesOf(unions).reduce((sum, [, { length }]) => sum + length, BYTES_BESIDE + 2 * versions.length),
    })
  // The one asked for last is the last in order.
  projects.delete(projectId)
  projects.set(projectId, memory)
  const [oldest] = projects.keys()
  if (projects.size > MAX_PROJECTS && oldest !== undefined) projects.delete(oldest)
  return memory
}
