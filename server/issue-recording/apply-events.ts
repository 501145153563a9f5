import type { Tx } from '../storage/database.ts'
import { DIGESTION } from '../context/actor.ts'
import { hourlyLimit, hourOf } from '../issue-rules/escalating.ts'
import {
  countHour,
  mayEscalate,
  onEvents,
  type Entry,
  type Life,
  type LifeFact,
  type ArrivedEvent,
  type ArrivedEvents,
  type Transition,
} from '../issue-rules/life-cycle.ts'
import { writeEntries, writeLives, type MovedIssue } from '../issue-rows/life.queries.ts'
import type { BusyHour, FoundIssue } from './record.queries.ts'
import { hourHistories, keepLimits, releaseFacts, type ReleaseKey } from './apply-events.queries.ts'
import { versionsIn } from '../issue-rules/resolution.ts'

/** An issue of a batch before and after its events, for alerts. */
export type IssueTransition = {
  readonly issueId: string
  readonly projectId: string
  readonly fact: LifeFact
  /** Why it moved; a new issue did not. */
  readonly sentence?: string | undefined
}

/** What a batch brings to one issue. */
export type Arrival = {
  readonly issueId: string
  readonly projectId: string
  /** When it acts: now, or a moment later where a decision came first. */
  readonly at: Date
  readonly life: Life
  readonly limit: FoundIssue['limit']
  readonly events: readonly ArrivedEvent[]
  readonly newUsers: ArrivedEvents['newUsers']
  /** The oldest of the events, by the time it is filed under. */
  readonly firstSeen: Date
}

export type AppliedEvents = {
  /** Where it differs from what arrived. */
  readonly lives: ReadonlyMap<string, Life>
  readonly entries: readonly (Entry & { readonly issueId: string; readonly at: Date })[]
  readonly transitions: readonly IssueTransition[]
}

/** Hours of the hour before are judged so long after it ended: events are digested a moment after they happened. */
const GRACE_MS = 5 * 60_000

/** The oldest hour that can still make an issue escalate. */
export const oldestHourToJudge = (now: Date): Date => hourOf(new Date(now.getTime() - GRACE_MS))

/** Lets the events of a batch act on the lives of its issues; writes nothing but limits that were worked out. */
export async function applyEvents(
  tx: Tx,
  arrivals: readonly Arrival[],
  busyHours: readonly BusyHour[],
): Promise<AppliedEvents> {
  const books = await releasesFor(tx, arrivals)
  const lives = new Map<string, Life>()
  const entries: (Entry & { issueId: string; at: Date })[] = []
  const transitions: IssueTransition[] = []
  const take = ({ issueId, projectId, at, life }: Arrival, step: Transition): void => {
    if (step.life !== life) lives.set(issueId, step.life)
    for (const entry of step.entries) entries.push({ ...entry, issueId, at })
    for (const fact of step.facts) transitions.push({ issueId, projectId, fact, sentence: step.entries[0]?.sentence })
  }
  for (const arrival of arrivals) {
    const releases = books.get(arrival.projectId) ?? NO_RELEASES
    take(arrival, onEvents(arrival.life, { events: arrival.events, newUsers: arrival.newUsers, releases }, arrival.at))
  }
  const byId = new Map(arrivals.map((arrival) => [arrival.issueId, arrival]))
  const candidates = busyHours.flatMap((hour) => {
    const arrival = byId.get(hour.id)
    if (arrival === undefined) return []
    return mayEscalate(lives.get(hour.id) ?? arrival.life, arrival.at) ? [{ ...hour, arrival }] : []
  })
  for (const { arrival, events, limit } of await limitsOf(tx, candidates)) {
    const life = lives.get(arrival.issueId) ?? arrival.life
    take({ ...arrival, life }, countHour(life, { events, limit }, arrival.at))
  }
  return { lives, entries, transitions }
}

const NO_RELEASES: ArrivedEvents['releases'] = new Map()

/** Facts of the releases that decide, asked for only where an issue is resolved in one. */
async function releasesFor(tx: Tx, arrivals: readonly Arrival[]) {
  const keys = new Map<string, ReleaseKey>()
  for (const { life, projectId, events } of arrivals) {
    const { resolved } = life
    if (resolved === null || resolved.fix.kind === 'now' || resolved.fix.kind === 'commit') continue
    const met = events.flatMap(({ release }) => (release === null ? [] : [release]))
    for (const version of [...versionsIn(resolved.fix), ...met]) {
      keys.set(`${projectId}/${version}`, { projectId, version })
    }
  }
  return keys.size === 0 ? new Map<string, ArrivedEvents['releases']>() : releaseFacts(tx, [...keys.values()])
}

type Candidate = BusyHour & { readonly arrival: Arrival }

/** With the limit of each hour: as kept on the issue, or worked out now and kept for the rest of the hour. */
async function limitsOf(tx: Tx, hours: readonly Candidate[]) {
  const kept = (hour: Candidate): number | null =>
    hour.arrival.limit?.hour.getTime() === hour.at.getTime() ? hour.arrival.limit.events : null
  const arrivals = new Map(hours.map(({ id, arrival }) => [id, arrival]))
  const unknown = hours.filter((hour) => kept(hour) === null)
  const found = unknown.length === 0 ? [] : await hourHistories(tx, unknown)
  const limits = new Map(
    found.map(({ id, at, history, rules }) => {
      // The row does not know this batch yet.
      const inBatch = arrivals.get(id)?.firstSeen ?? history.firstSeen
      const firstSeen = inBatch < history.firstSeen ? inBatch : history.firstSeen
      return [`${id} ${at.getTime()}`, hourlyLimit({ ...history, firstSeen }, rules)]
    }),
  )
  // Of two hours of an issue the later one is worth keeping.
  const newest = new Map<string, { id: string; at: Date; limit: number }>()
  for (const { id, at } of found) {
    const limit = limits.get(`${id} ${at.getTime()}`)
    const before = newest.get(id)
    if (limit !== undefined && (before === undefined || before.at < at)) newest.set(id, { id, at, limit })
  }
  if (newest.size > 0) await keepLimits(tx, [...newest.values()])
  return hours.flatMap((hour) => {
    const limit = kept(hour) ?? limits.get(`${hour.id} ${hour.at.getTime()}`)
    return limit === undefined ? [] : [{ arrival: hour.arrival, events: hour.events, limit }]
  })
}

/** Writes what {@link applyEvents} decided. */
export async function writeTransitions(
  tx: Tx,
  now: Date,
  issues: readonly MovedIssue[],
  entries: AppliedEvents['entries'],
): Promise<void> {
  await writeLives(tx, issues)
  await writeEntries(tx, now, DIGESTION, entries)
}
