import type { Connection } from '../storage/database.ts'
import { type Noted, writeSightings } from './noting.queries.ts'
import type { ReleaseNews } from './release-news.ts'

/** What came from a release. */
export type Sighting = {
  readonly projectId: string
  readonly version: string
  readonly kind: 'event' | 'session' | 'transaction'
  readonly receivedAt: Date
}

/**
 * Releases that may make themselves in a project in one day. Whoever holds the key of an app can name releases, and
 * that is everybody; what comes beyond keeps its name and is listed nowhere.
 */
export const MAX_NEW_PER_DAY = 1_000
/** How exactly it is known when something came from a release last. */
export const NOTED_FOR_MS = 60_000
const MAX_REMEMBERED = 50_000
const DAY_MS = 86_400_000

/** When each kind of thing from a release was written down last. */
export class KnownReleases {
  readonly #notedAt = new Map<string, number>()

  isDue(of: Pick<Sighting, 'projectId' | 'version' | 'kind'>, now: Date): boolean {
    return now.getTime() - (this.#notedAt.get(keyOf(of)) ?? Number.NEGATIVE_INFINITY) >= NOTED_FOR_MS
  }

  remember(sightings: readonly Sighting[], now: Date): void {
    if (this.#notedAt.size > MAX_REMEMBERED) this.#notedAt.clear()
    for (const sighting of sightings) this.#notedAt.set(keyOf(sighting), now.getTime())
  }
}

const keyOf = ({ projectId, version, kind }: Pick<Sighting, 'projectId' | 'version' | 'kind'>): string =>
  `${projectId}/${kind}/${version}`

/**
 * Makes releases that are met for the first time and widens when they were seen, in one statement and only for those
 * nobody noted within the last minute. A planned release is open from now on, an archived one stays so. In a transaction
 * of its own, before digestion takes a lock: people make and change releases, too.
 * @param tell what of it is news to whoever looks at releases; that they were seen again is not
 * @returns how many were written
 */
export async function noteReleases(
  on: Connection,
  known: KnownReleases,
  now: Date,
  sightings: readonly Sighting[],
  tell: (news: readonly ReleaseNews[]) => void = () => undefined,
): Promise<number> {
  const due = sightings.filter((sighting) => known.isDue(sighting, now))
  if (due.length === 0) return 0
  const releases = new Map<string, Noted>()
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
  // Always in the same order: two digesters that note the same releases wait for each other instead of both.
  const rows = [...releases].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
  const written = await writeSightings(on, now, rows, {
    max: MAX_NEW_PER_DAY,
    since: new Date(now.getTime() - DAY_MS),
  })
  known.remember(due, now)
  if (written.length > 0) tell(written)
  return rows.length
}
