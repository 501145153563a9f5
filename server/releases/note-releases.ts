import type { Connection } from '../storage/database.ts'
import { newId } from '../kernel/ids.ts'
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

type Noted = {
  readonly projectId: string
  readonly version: string
  firstAt: Date
  lastAt: Date
  readonly times: Partial<Record<Sighting['kind'], { first: Date; last: Date }>>
}

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
  const written = await on.query<{ id: string; project_id: string; org_id: string }>({
    name: 'releases-note',
    text: `with k as (
             select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[], $8::timestamptz[], $9::timestamptz[])
               with ordinality k (id, project_id, version, first_at, last_at, first_event, last_event, first_session, last_session, place)),
           before as (select r.id, r.state, r.first_event_at, r.first_session_at from k join releases r using (project_id, version)),
           written as (
           insert into releases as r (id, project_id, version, state, created_at, first_seen_at, last_seen_at,
             first_event_at, last_event_at, first_session_at, last_session_at)
           select k.id, k.project_id, k.version, 'open', $10::timestamptz, k.first_at, k.last_at, k.first_event, k.last_event, k.first_session, k.last_session
           from k
           join projects p on p.id = k.project_id
           where exists (select from releases o where o.project_id = k.project_id and o.version = k.version)
             or (select count(*) from releases o where o.project_id = k.project_id and o.created_at >= $11::timestamptz) < $12
           order by k.place
           on conflict (project_id, version) do update set
             state = case when r.state = 'planned' then 'open' else r.state end,
             first_seen_at = least(r.first_seen_at, excluded.first_seen_at),
             last_seen_at = greatest(r.last_seen_at, excluded.last_seen_at),
             first_event_at = least(r.first_event_at, excluded.first_event_at),
             last_event_at = greatest(r.last_event_at, excluded.last_event_at),
             first_session_at = least(r.first_session_at, excluded.first_session_at),
             last_session_at = greatest(r.last_session_at, excluded.last_session_at)
           returning r.id, r.project_id, r.state, r.first_event_at, r.first_session_at)
           select w.id, w.project_id, p.org_id from written w
           join projects p on p.id = w.project_id
           left join before b on b.id = w.id
           where b.id is null or b.state <> w.state or (b.first_event_at is null and w.first_event_at is not null)
             or (b.first_session_at is null and w.first_session_at is not null)`,
    values: [
      rows.map(() => newId()),
      rows.map((one) => one.projectId),
      rows.map((one) => one.version),
      rows.map((one) => one.firstAt),
      rows.map((one) => one.lastAt),
      rows.map((one) => one.times.event?.first ?? null),
      rows.map((one) => one.times.event?.last ?? null),
      rows.map((one) => one.times.session?.first ?? null),
      rows.map((one) => one.times.session?.last ?? null),
      now,
      new Date(now.getTime() - DAY_MS),
      MAX_NEW_PER_DAY,
    ],
  })
  known.remember(due, now)
  if (written.rows.length > 0)
    tell(written.rows.map((row) => ({ orgId: row.org_id, projectId: row.project_id, releaseId: row.id })))
  return rows.length
}
