import type { App } from '../../platform/context/app.ts'
import { floodGrouping, type FloodGrouping } from '../../issues/grouping/flood-grouping.ts'
import { groupingSettings } from '../../issues/grouping/grouping-settings.ts'
import { intakeSettings } from './intake-settings.ts'
import { limitSettings } from '../limits/limit-settings.ts'
import { writeRegularly } from '../limits/regular-writes.ts'
import { type KeyRow, selectKeys } from './project-keys.queries.ts'
import { updateSeen } from '../../projects/registry/projects.queries.ts'

/** A cached key is read again after this time, so that a change applies even when its message was lost. */
const FRESH_MS = 60_000
/** From this age on, the next use renews the key in the background, so that no request waits for the database. */
const RENEW_MS = 45_000
/** Unknown keys are cached as well, for a short time. */
const UNKNOWN_MS = 10_000
const MAX_UNKNOWN = 10_000
/** One write per key and minute. The first use is written within a second, because onboarding waits for it. */
const SEEN_EVERY_MS = 60_000
const WRITE_EVERY_MS = 1_000

export type ProjectKey = {
  readonly id: string
  readonly publicKey: string
  /** From this time on the key is refused; null for a key that does not expire. */
  readonly expiresAtMs: number | null
  readonly projectId: string
  readonly projectNumber: number
  /** A further number that its DSN may have: the key was taken over from another service. */
  readonly dsnNumber: string | null
  readonly orgId: string
  readonly region: string
  /** The limit of the key, or of its project, per category; null for the default. */
  readonly ratePerMinute: number | null
  /** The organisation's quota of events per day; null for none. */
  readonly eventsPerDay: number | null
  /** Whether flood sampling accepts first events of new problems over the limit. */
  readonly spikeProtection: boolean
  readonly grouping: FloodGrouping
  /** Browser origins that may send; empty allows all. */
  readonly allowedOrigins: readonly string[]
}

export type ProjectKeys = {
  /**
   * Finds the project key of a public key, expired ones included; null when there is none. Returns no promise for a
   * cached key. While the database is unavailable, cached keys of any age are returned.
   * @throws the database's error, by rejection, when the key is not cached
   */
  find(publicKey: string): ProjectKey | null | Promise<ProjectKey | null>
  /** Drops one key from the cache: call it when a key was rotated, switched off or changed. */
  drop(publicKey: string): void
  /** Expires every cached key: call it when messages may have been lost. */
  expireAll(): void
  /** Records that the key was used; written in the background. */
  markSeen(key: ProjectKey): void
  close(): Promise<void>
}

type Known = { key: ProjectKey; loadedAtMs: number }
type Lookup = {
  promise: Promise<ProjectKey | null>
  resolve: (key: ProjectKey | null) => void
  reject: (error: unknown) => void
}

/** A cache of project keys; concurrent look-ups share one query. */
export function createProjectKeys(app: App): ProjectKeys {
  const known = new Map<string, Known>()
  /** In the order of arrival: the oldest are dropped first. */
  const unknown = new Map<string, number>()
  let wanted = new Map<string, Lookup>()
  const running = new Map<string, Lookup>()
  const seen = new Map<string, { key: ProjectKey; atMs: number }>()
  const writtenAtMs = new Map<string, number>()

  const load = (publicKey: string): Promise<ProjectKey | null> => {
    const under = wanted.get(publicKey) ?? running.get(publicKey)
    if (under !== undefined) return under.promise
    const lookup = { ...Promise.withResolvers<ProjectKey | null>() }
    if (wanted.size === 0) setImmediate(() => void runLookups())
    wanted.set(publicKey, lookup)
    return lookup.promise
  }

  const runLookups = async (): Promise<void> => {
    const batch = wanted
    wanted = new Map()
    for (const [publicKey, lookup] of batch) running.set(publicKey, lookup)
    try {
      const rows = new Map((await selectKeys(app.db, [...batch.keys()])).map((row) => [row.publicKey, row]))
      for (const [publicKey, lookup] of batch) {
        // If the key was dropped meanwhile, its row may be outdated: only the waiting requests get it.
        const isCurrent = running.get(publicKey) === lookup
        lookup.resolve(isCurrent ? remember(publicKey, rows.get(publicKey)) : keyOf(publicKey, rows.get(publicKey)))
      }
    } catch (error) {
      for (const lookup of batch.values()) lookup.reject(error)
    } finally {
      for (const [publicKey, lookup] of batch) if (running.get(publicKey) === lookup) running.delete(publicKey)
    }
  }

  const remember = (publicKey: string, row: KeyRow | undefined): ProjectKey | null => {
    const nowMs = app.clock.monotonicMs()
    const key = keyOf(publicKey, row)
    unknown.delete(publicKey)
    if (key !== null) {
      known.set(publicKey, { key, loadedAtMs: nowMs })
      return key
    }
    known.delete(publicKey)
    unknown.set(publicKey, nowMs)
    for (const oldest of unknown.keys()) {
      if (unknown.size <= MAX_UNKNOWN) break
      unknown.delete(oldest)
    }
    return null
  }

  const writeSeen = async (): Promise<void> => {
    const nowMs = app.clock.monotonicMs()
    const due = [...seen.values()].filter(
      ({ key }) => nowMs - (writtenAtMs.get(key.id) ?? Number.NEGATIVE_INFINITY) >= SEEN_EVERY_MS,
    )
    if (due.length === 0) return
    for (const { key } of due) seen.delete(key.id)
    try {
      await updateSeen(
        app.db,
        due.map(({ key, atMs }) => ({ keyId: key.id, projectId: key.projectId, at: new Date(atMs) })),
      )
      for (const { key } of due) writtenAtMs.set(key.id, nowMs)
    } catch (error) {
      // Retried at the next interval, unless a later use replaced it.
      for (const one of due) if (!seen.has(one.key.id)) seen.set(one.key.id, one)
      throw error
    }
  }

  const failed = 'last use of project keys not written'
  const writes = writeRegularly(app, { everyMs: WRITE_EVERY_MS, failed, write: writeSeen })

  return {
    find(publicKey) {
      const entry = known.get(publicKey)
      const nowMs = app.clock.monotonicMs()
      if (entry !== undefined) {
        const ageMs = nowMs - entry.loadedAtMs
        if (ageMs < RENEW_MS) return entry.key
        const renewed = load(publicKey)
        if (ageMs < FRESH_MS) {
          renewed.catch(() => {})
          return entry.key
        }
        return renewed.catch(() => entry.key)
      }
      const missedAtMs = unknown.get(publicKey)
      if (missedAtMs !== undefined && nowMs - missedAtMs < UNKNOWN_MS) return null
      return load(publicKey)
    },
    drop(publicKey) {
      known.delete(publicKey)
      unknown.delete(publicKey)
      running.delete(publicKey)
    },
    expireAll() {
      for (const entry of known.values()) entry.loadedAtMs = Number.NEGATIVE_INFINITY
      unknown.clear()
      running.clear()
    },
    markSeen(key) {
      const entry = seen.get(key.id)
      const atMs = app.clock.now().getTime()
      if (entry === undefined) seen.set(key.id, { key, atMs })
      else entry.atMs = atMs
    },
    async close() {
      await writes.flush()
      // A restart must not lose the uses of this minute.
      writtenAtMs.clear()
      await writes.close()
    },
  }
}

function keyOf(publicKey: string, row: KeyRow | undefined): ProjectKey | null {
  if (row === undefined) return null
  const limits = limitSettings(row.settings)
  return {
    id: row.id,
    publicKey,
    expiresAtMs: endOf(row),
    projectId: row.projectId,
    projectNumber: row.projectNumber,
    dsnNumber: row.dsnNumber,
    orgId: row.orgId,
    region: row.region,
    ratePerMinute: row.ratePerMinute ?? limits.rate_limit_per_minute,
    eventsPerDay: row.eventsPerDay,
    spikeProtection: limits.spike_protection,
    grouping: floodGrouping(groupingSettings(row.settings)),
    allowedOrigins: intakeSettings(row.settings).allowed_origins,
  }
}

/** From when on the key is refused: it was replaced, removed or disabled. */
function endOf({ expiresAt, disabledAt }: KeyRow): number | null {
  const ends = [expiresAt, disabledAt].filter((end) => end !== null).map((end) => end.getTime())
  return ends.length === 0 ? null : Math.min(...ends)
}
