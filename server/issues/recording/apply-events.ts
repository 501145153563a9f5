import type { Tx } from '../../platform/storage/database.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { hourlyLimit, floorToHour } from '../rules/escalating.ts'
import {
  countHour,
  mayEscalate,
  onEvents,
  type Life,
  type ArrivedEvent,
  type ArrivedEvents,
  type Transition,
} from '../rules/life-cycle.ts'
import type { CountedHour, HourlyLimit } from './fold.queries.ts'
import { hourHistories, releaseFacts, type ReleaseKey, storeLimits } from './apply-events.queries.ts'
import { versionsIn } from '../rules/resolution.ts'

/** Events that are folded into one issue. */
export type IssueEvents = {
  readonly issueId: string
  readonly projectId: string
  readonly orgId: string
  /** The time of the transitions: now, or slightly later, after a member's change. */
  readonly at: Date
  readonly life: Life
  readonly limit: HourlyLimit | null
  readonly events: readonly ArrivedEvent[]
  readonly newUsers: ArrivedEvents['newUsers']
  /** When the oldest of the events occurred. */
  readonly firstSeen: Date
}

export type AppliedEvents = {
  /** By issue id; only of issues that changed. */
  readonly lives: ReadonlyMap<string, Life>
  readonly facts: readonly Fact[]
}

/** An hour can make its issue escalate until this time after its end: events are digested a moment after they occur. */
const GRACE_MS = 5 * 60_000

/** The oldest hour that can still make an issue escalate. */
export const oldestHourToJudge = (now: Date): Date => floorToHour(new Date(now.getTime() - GRACE_MS))

/** Applies folded events to the life cycles of their issues. Writes only new hourly limits. */
export async function applyEvents(
  tx: Tx,
  batch: readonly IssueEvents[],
  busyHours: readonly CountedHour[],
): Promise<AppliedEvents> {
  const releasesOf = await releasesFor(tx, batch)
  const lives = new Map<string, Life>()
  const facts: Fact[] = []
  const add = ({ issueId, projectId, orgId, at, life }: IssueEvents, transition: Transition): void => {
    if (transition.life !== life) lives.set(issueId, transition.life)
    for (const fact of transition.facts) facts.push({ orgId, projectId, issueId, at, ...fact })
  }
  for (const issue of batch) {
    const releases = releasesOf.get(issue.projectId) ?? NO_RELEASES
    add(issue, onEvents(issue.life, { events: issue.events, newUsers: issue.newUsers, releases }, issue.at))
  }
  const byId = new Map(batch.map((issue) => [issue.issueId, issue]))
  const candidates = busyHours.flatMap((hour) => {
    const issue = byId.get(hour.id)
    if (issue === undefined) return []
    return mayEscalate(lives.get(hour.id) ?? issue.life, issue.at) ? [{ ...hour, issue }] : []
  })
  for (const { issue, events, limit } of await limitsOf(tx, candidates)) {
    const life = lives.get(issue.issueId) ?? issue.life
    add({ ...issue, life }, countHour(life, { events, limit }, issue.at))
  }
  return { lives, facts }
}

const NO_RELEASES: ArrivedEvents['releases'] = new Map()

/** Facts of the releases that decide whether a resolved issue regresses; reads nothing for other issues. */
async function releasesFor(tx: Tx, batch: readonly IssueEvents[]) {
  const keys = new Map<string, ReleaseKey>()
  for (const { life, projectId, events } of batch) {
    const { resolved } = life
    if (resolved === null || resolved.fix.kind === 'now' || resolved.fix.kind === 'commit') continue
    const seen = events.flatMap(({ release }) => (release === null ? [] : [release]))
    for (const version of [...versionsIn(resolved.fix), ...seen]) {
      keys.set(`${projectId}/${version}`, { projectId, version })
    }
  }
  return keys.size === 0 ? new Map<string, ArrivedEvents['releases']>() : releaseFacts(tx, [...keys.values()])
}

type Candidate = CountedHour & { readonly issue: IssueEvents }

/** Hours with their limits: the stored one, or one that is computed now and stored for the rest of the hour. */
async function limitsOf(tx: Tx, hours: readonly Candidate[]) {
  const stored = (hour: Candidate): number | null =>
    hour.issue.limit?.hour.getTime() === hour.at.getTime() ? hour.issue.limit.events : null
  const issues = new Map(hours.map(({ id, issue }) => [id, issue]))
  const unknown = hours.filter((hour) => stored(hour) === null)
  const found = unknown.length === 0 ? [] : await hourHistories(tx, unknown)
  const limits = new Map(
    found.map(({ id, at, history, rules }) => {
      // The row does not include these events yet.
      const inFold = issues.get(id)?.firstSeen ?? history.firstSeen
      const firstSeen = inFold < history.firstSeen ? inFold : history.firstSeen
      return [`${id} ${at.getTime()}`, hourlyLimit({ ...history, firstSeen }, rules)]
    }),
  )
  // When an issue has two hours here, only the limit of the later hour is stored.
  const newest = new Map<string, { id: string; at: Date; limit: number }>()
  for (const { id, at } of found) {
    const limit = limits.get(`${id} ${at.getTime()}`)
    const before = newest.get(id)
    if (limit !== undefined && (before === undefined || before.at < at)) newest.set(id, { id, at, limit })
  }
  if (newest.size > 0) await storeLimits(tx, [...newest.values()])
  return hours.flatMap((hour) => {
    const limit = stored(hour) ?? limits.get(`${hour.id} ${hour.at.getTime()}`)
    return limit === undefined ? [] : [{ issue: hour.issue, events: hour.events, limit }]
  })
}
