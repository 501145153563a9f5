import type { Database } from '../../platform/storage/database.ts'
import type { App } from '../../platform/context/app.ts'
import { KnownReleases, recordSightings, type Sighting } from '../../projects/releases/record-sightings.ts'
import { isDatabaseAway } from '../../platform/storage/pool.ts'
import type { PreparedFact, PreparedItem } from './item.ts'

type Entries = readonly {
  readonly entry: { readonly projectId: string; readonly receivedAtMs: number }
  readonly items: readonly PreparedItem[] | null
}[]

/**
 * Records the releases that a batch names: events, sessions, transactions. Costs a look-up in memory per fact, and a
 * statement when one of them was not recorded within the last minute.
 * @throws the error of an unreachable database; other errors are logged: no event may be lost because of a release
 */
export async function recordBatchSightings(app: App, entries: Entries): Promise<void> {
  const now = app.clock.now()
  const known = knownBy(app)
  try {
    const due = dueOf(entries, known, now)
    if (due.length > 0) await recordSightings(app, known, now, due)
  } catch (error) {
    if (isDatabaseAway(error)) throw error
    app.log.error({ err: error }, 'recording of releases failed; they are recorded with their next event or session')
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
      return item.fact.role === 'segment' ? named(item.fact.dimensions?.release ?? null, 'transaction') : null
    default:
      return null
  }
}

const named = (version: string | null, kind: Sighting['kind']) =>
  version === null || version === '' ? null : { version, kind }

const ofDatabase = new WeakMap<Database, KnownReleases>()

function knownBy({ db }: App): KnownReleases {
  const known = ofDatabase.get(db) ?? new KnownReleases()
  ofDatabase.set(db, known)
  return known
}
