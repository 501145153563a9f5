import { SESSION_STATUSES } from '../../events/protocol/session.ts'
import { hashUser } from '../../events/protocol/user.ts'
import { BUCKET_SECONDS, KEPT_MS } from './buckets.ts'
import {
  type Attributes,
  type Level,
  LEVEL_DIMENSIONS,
  LEVELS,
  COUNTS,
  type Counts,
  noCounts,
  USER_SETS,
  type UserSet,
} from './dimensions.ts'
import type { ReceivedSession } from './record-sessions.ts'

/** Counts everything again from the raw items, slowly and obviously. */

export type Cell = {
  readonly counts: Counts
  readonly users: Record<UserSet, Set<number>>
  readonly durations: number[]
}

/** One session, or one count of the SDK, as it must be counted. */
export type Counted = {
  readonly at: number
  readonly attributes: Attributes
  readonly counts: Counts
  readonly sets: readonly UserSet[]
  readonly user: number | null
  readonly duration: number | null
}

/** @param deviceOf what is known of a user's device */
export function countedOnce(
  facts: readonly ReceivedSession[],
  deviceOf: (did: string) => Partial<Attributes> | undefined,
): Counted[] {
  const counted: Counted[] = []
  const bySid = Map.groupBy(
    facts.flatMap(({ projectId, fact }) => ('update' in fact ? [{ projectId, ...fact.update }] : [])),
    ({ sid }) => sid,
  )
  for (const updates of bySid.values()) {
    const [one] = updates
    if (one === undefined) continue
    const has = (status: string): boolean => updates.some((update) => update.status === status)
    const kind = has('crashed')
      ? 'crashed'
      : has('abnormal')
        ? 'abnormal'
        : has('unhandled')
          ? 'unhandled'
          : has('errored') || updates.some(({ errors }) => errors > 0)
            ? 'errored'
            : null
    const hangs = (where: string): boolean => updates.some(({ mechanism }) => mechanism === `anr_${where}`)
    const hang = hangs('foreground') ? 'foreground' : hangs('background') ? 'background' : null
    const anr = kind === 'abnormal' ? hang : null
    const counts = { ...noCounts(), total: 1 }
    if (kind !== null) counts[kind] = 1
    if (anr !== null) counts[`anr_${anr}`] = 1
    const sets: UserSet[] = ['users']
    if (has('crashed')) sets.push('crashed_users')
    if (has('unhandled')) sets.push('unhandled_users')
    if (hang !== null) sets.push('anr_users')
    if (hang === 'foreground') sets.push('anr_foreground_users')
    const durations = updates.flatMap(({ durationMs }) => durationMs ?? [])
    const hasEnded = updates.some(({ status }) => SESSION_STATUSES.indexOf(status) > 0)
    counted.push({
      at: one.startedAt,
      attributes: attributesOf(one.attributes, one.did, deviceOf),
      counts,
      sets,
      user: one.did === null ? null : hashUser(one.projectId, one.did),
      duration: hasEnded && durations.length > 0 ? Math.max(...durations) : null,
    })
  }
  for (const { projectId, fact } of facts) {
    if (!('aggregates' in fact)) continue
    for (const { startedAt, did, exited, ...bad } of fact.aggregates.counts) {
      const total = exited + bad.errored + bad.unhandled + bad.abnormal + bad.crashed
      const sets: UserSet[] = ['users']
      if (bad.crashed > 0) sets.push('crashed_users')
      if (bad.unhandled > 0) sets.push('unhandled_users')
      counted.push({
        at: startedAt,
        attributes: attributesOf(fact.aggregates.attributes, did, deviceOf),
        counts: { ...noCounts(), ...bad, total },
        sets,
        user: did === null ? null : hashUser(projectId, did),
        duration: null,
      })
    }
  }
  return counted
}

function attributesOf(
  {
    release,
    environment,
    os,
    device,
  }: { release: string; environment: string; os: string | null; device: string | null },
  did: string | null,
  deviceOf: (did: string) => Partial<Attributes> | undefined,
): Attributes {
  const known = did === null || os !== null || device !== null ? undefined : deviceOf(did)
  return { release, environment, os: os ?? '', device: device ?? '', device_class: '', ...known }
}

/** The name of a cell: level, its values, bucket size and start of the bucket. */
export const cellKey = (level: Level, values: readonly string[], seconds: number, bucketMs: number): string =>
  JSON.stringify([level, ...values, seconds, new Date(bucketMs).toISOString()])

/** Sums by cell. */
export function sumCells(counted: Iterable<Counted>, keysOf: (one: Counted) => readonly string[]): Map<string, Cell> {
  const cells = new Map<string, Cell>()
  for (const one of counted) {
    for (const key of keysOf(one)) {
      let cell = cells.get(key)
      if (cell === undefined) {
        cell = {
          counts: noCounts(),
          users: {
            users: new Set(),
            unhandled_users: new Set(),
            crashed_users: new Set(),
            anr_users: new Set(),
            anr_foreground_users: new Set(),
          },
          durations: [],
        }
        cells.set(key, cell)
      }
      for (const name of COUNTS) cell.counts[name] += one.counts[name]
      if (one.user !== null) for (const set of one.sets) cell.users[set].add(one.user)
      if (one.duration !== null) cell.durations.push(one.duration)
    }
  }
  return cells
}

/** Every cell of every level and bucket size that is still kept. */
export const allCells = (counted: readonly Counted[], now: number): Map<string, Cell> =>
  sumCells(counted, ({ at, attributes }) =>
    LEVELS.flatMap((level) =>
      BUCKET_SECONDS.filter((seconds) => now - Math.floor(at / 60_000) * 60_000 <= KEPT_MS[seconds]).map((seconds) =>
        cellKey(
          level,
          LEVEL_DIMENSIONS[level].map((dimension) => attributes[dimension]),
          seconds,
          Math.floor(at / (seconds * 1000)) * seconds * 1000,
        ),
      ),
    ),
  )

/** Figures of a cell as readers give them. */
export function figuresOf(cell: Cell | undefined): Counts & Record<UserSet, number> {
  const users = { users: 0, unhandled_users: 0, crashed_users: 0, anr_users: 0, anr_foreground_users: 0 }
  for (const set of USER_SETS) users[set] = cell?.users[set].size ?? 0
  return { ...(cell?.counts ?? noCounts()), ...users }
}
