import { DIGESTION, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { type SeenRelease, writeSightings } from './sightings.queries.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'

/** An item that names its release. */
export type Sighting = {
  readonly projectId: string
  readonly version: string
  readonly kind: 'event' | 'session' | 'transaction'
  readonly receivedAt: Date
}

/**
 * Releases that digestion may create in a project in one day. A project key is public, so anyone can name releases.
 * Items of further releases keep the name, which no list shows.
 */
export const MAX_NEW_PER_DAY = 1_000
/** "Last seen" times of a release are written at most this often. */
export const SIGHTING_INTERVAL_MS = 60_000
const MAX_REMEMBERED = 50_000

/** When each release was last recorded, by kind of item. */
export class KnownReleases {
  readonly #recordedAt = new Map<string, number>()

  isDue(of: Pick<Sighting, 'projectId' | 'version' | 'kind'>, now: Date): boolean {
    return now.getTime() - (this.#recordedAt.get(keyOf(of)) ?? Number.NEGATIVE_INFINITY) >= SIGHTING_INTERVAL_MS
  }

  remember(sightings: readonly Sighting[], now: Date): void {
    if (this.#recordedAt.size > MAX_REMEMBERED) this.#recordedAt.clear()
    for (const sighting of sightings) this.#recordedAt.set(keyOf(sighting), now.getTime())
  }
}

const keyOf = ({ projectId, version, kind }: Pick<Sighting, 'projectId' | 'version' | 'kind'>): string =>
  `${projectId}/${kind}/${version}`

/**
 * Creates releases that are seen for the first time and extends when known ones were seen, in one statement, and only
 * those not recorded within the last minute. A planned release becomes open, an archived one stays archived. Runs in a
 * separate transaction before digestion takes a lock, because members create and change releases too.
 * @returns number of releases written
 */
export async function recordSightings(
  app: App,
  known: KnownReleases,
  now: Date,
  sightings: readonly Sighting[],
): Promise<number> {
  const due = sightings.filter((sighting) => known.isDue(sighting, now))
  if (due.length === 0) return 0
  const releases = new Map<string, SeenRelease>()
  for (const { projectId, version, kind, receivedAt } of due) {
    const key = `${projectId}/${version}`
    const one = releases.get(key) ?? { projectId, version, firstAt: receivedAt, lastAt: receivedAt, times: {} }
    releases.set(key, one)
    if (receivedAt < one.firstAt) one.firstAt = receivedAt
    if (receivedAt > one.lastAt) one.lastAt = receivedAt
    const times = (one.times[kind] ??= { first: receivedAt, last: receivedAt })
    if (receivedAt < times.first) times.first = receivedAt
    if (receivedAt > times.last) times.last = receivedAt
  }
  // A fixed order, so that two digesters with the same releases do not deadlock.
  const rows = [...releases].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
  const limit = { max: MAX_NEW_PER_DAY, since: new Date(now.getTime() - DAY_MS) }
  await app.tx(async (tx) => {
    const changes = await writeSightings(tx, now, rows, limit)
    await recordFacts(
      tx,
      factContext(app, DIGESTION, now),
      changes.map(({ version, isNew, ...ids }): Fact =>
        isNew
          ? { kind: 'release.created', ...ids, data: { version, automatic: true } }
          : { kind: 'release.seen', ...ids, data: {} },
      ),
    )
  })
  known.remember(due, now)
  return rows.length
}
