import type { Database } from '../storage/database.ts'
import type { App } from '../context/app.ts'
import { KnownReleases, noteReleases, type Sighting } from '../releases/note-releases.ts'
import { ReleaseTeller } from '../releases/release-news.ts'
import { isDatabaseAway } from '../storage/pool.ts'
import type { PreparedFact, PreparedItem } from './item.ts'

type Entries = readonly {
  readonly entry: { readonly projectId: string; readonly receivedAtMs: number }
  readonly items: readonly PreparedItem[] | null
}[]

/**
 * Records the releases that a batch names: events, sessions, transactions. Costs a look-up in memory per fact, and a
 * statement when one of them was not noted within the last minute. New ones are published to dashboards.
 * @throws the error of an unreachable database; other errors are logged: no event may be lost because of a release
 */
export async function noteReleasesOf(app: App, entries: Entries): Promise<void> {
  const now = app.clock.now()
  const { known, teller } = ofApp(app)
  try {
    const due = dueOf(entries, known, now)
    if (due.length > 0) await noteReleases(app.db, known, now, due, (news) => teller.add(news))
  } catch (error) {
    if (isDatabaseAway(error)) throw error
    app.log.error({ err: error }, 'releases cannot be noted')
  }
}

function dueOf(entries: Entries, known: KnownReleases, now: Date): Sighting[] {
  const due: Sighting[] = []
  for (const { entry, items } of entries) {
    for (const item of items ?? []) {
      if ('outcome' in item) continue
      const found = releaseOf(item)
      if (found === null) continue
      const of = { projectId: entry.projectId, ...found }
      if (known.isDue(of, now)) due.push({ ...of, receivedAt: new Date(entry.receivedAtMs) })
    }
  }
  return due
}

/** The release of a fact; null without one, or for kinds that have no release. */
function releaseOf(item: PreparedFact): Pick<Sighting, 'version' | 'kind'> | null {
  switch (item.kind) {
    case 'event':
      return named(item.fact.event.release, 'event')
    case 'session': {
      const { attributes } = 'update' in item.fact ? item.fact.update : item.fact.aggregates
      return named(attributes.release, 'session')
    }
    case 'performance':
      return item.fact.role === 'segment' ? named(item.fact.place?.release ?? null, 'transaction') : null
    default:
      return null
  }
}

const named = (version: string | null, kind: Sighting['kind']) =>
  version === null || version === '' ? null : { version, kind }

type Held = { readonly known: KnownReleases; readonly teller: ReleaseTeller }

const ofDatabase = new WeakMap<Database, Held>()

function ofApp({ db }: App): Held {
  const held = ofDatabase.get(db) ?? { known: new KnownReleases(), teller: new ReleaseTeller(db) }
  ofDatabase.set(db, held)
  return held
}
