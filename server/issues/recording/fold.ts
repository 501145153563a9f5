import type { FactContext } from '../../platform/context/actor.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { utcDay, MINUTE_MS, HOUR_MS } from '../../platform/kernel/day.ts'
import { eventSeveritySentence, impactSentence, type IssueImpact, newImpact, rated, reach } from '../rules/impact.ts'
import { severityName } from '#shared/issue-values.ts'
import { SLOT_MS, toSlot } from '../rules/count-window.ts'
import { sumGroups } from '../rows/groups.queries.ts'
import { writeLives } from '../rows/issues.queries.ts'
import { addMinutes, touchProjects } from '../../projects/registry/projects.queries.ts'
import type { Tx } from '../../platform/storage/database.ts'
import * as sql from './fold.queries.ts'
import { type FoldedSums, HAPPENED_AT, IS_FATAL, isWorse, OCCURRED_AT, USER_HASH } from './occurrence.ts'
import { countedWord } from '../../platform/kernel/value-text.ts'
import {
  countHour,
  mayEscalate,
  newIssue,
  onEvents,
  type Life,
  type ArrivedEvent,
  type ArrivedEvents,
  type Transition,
  MIN_LIMIT,
  hourlyLimit,
  floorToHour,
} from '../rules/life-cycle.ts'
import {
  type CountedHour,
  type HourlyLimit,
  hourHistories,
  releaseFacts,
  type ReleaseKey,
  storeLimits,
} from './fold.queries.ts'
import { versionsIn } from '../rules/resolution.ts'

/** Folding: what recorded events add is counted in groups, issues, hours and users, and decides their life cycles. */

/** An issue, and what is folded into its groups. */
type FoldedIssue = sql.LockedIssue & {
  /** Inserted by this transaction, with the counts and the impact of these events. */
  readonly isNew: boolean
  readonly projectId: string
  readonly orgId: string
  /** One entry per group. */
  readonly groups: readonly FoldedSums[]
}

/**
 * Folds sums, one per group, and records what happened to their issues. A group that was deleted meanwhile is skipped.
 * The caller holds the lock of the relation of the projects (`lockRelation`).
 * @param facts of the batch so far, which are recorded with those of the fold
 */
export async function foldSums(
  tx: Tx,
  context: FactContext,
  sums: readonly FoldedSums[],
  facts: readonly Fact[] = [],
): Promise<void> {
  if (sums.length === 0) return
  const now = context.at
  const issues = await lockIssues(tx, sums)
  const [users, busyHours] = await Promise.all([countUsers(tx, now, issues), countHours(tx, now, issues)])
  const applied = context.isQuiet ? NO_TRANSITIONS : await decideTransitions(tx, now, issues, users, busyHours)
  const impacts = impactsOf(now, issues, users, applied)
  await writeCounts(tx, issues, users, impacts)
  await writeLives(
    tx,
    [...applied.lives].map(([id, life]) => ({ id, life, severity: null })),
  )
  if (!context.isQuiet) {
    countMinutes(tx, sums)
    touchProjects(
      tx,
      [...new Set(issues.map(({ projectId }) => projectId))].map((id) => ({ id, at: now })),
    )
  }
  await recordFacts(tx, context, [
    ...facts,
    ...issues.map(receivedEvents),
    ...applied.facts,
    ...issues.flatMap(securityEvents),
    ...rises(now, issues, impacts, applied),
  ])
}

/** Old events of an import change no status. */
const NO_TRANSITIONS: AppliedEvents = { lives: new Map(), facts: [] }

const aboutFolded = ({ orgId, projectId, issueId }: FoldedIssue) => ({ orgId, projectId, issueId })

const receivedEvents = (issue: FoldedIssue): Fact => ({
  kind: 'issue.events_received',
  ...aboutFolded(issue),
  data: {
    events: issue.groups.reduce((sum, { events }) => sum + events.length, 0),
    minutes: minutesOf(issue),
  },
})

/** After the transitions: whether the issue is open decides whether they fire alerts. */
function securityEvents(issue: FoldedIssue): Fact[] {
  const byKind = new Map(
    issue.groups.flatMap(({ security = [] }) => security.toReversed().map((one) => [one.kind, one] as const)),
  )
  return [...byKind.values()].map(({ kind, eventId, environment }) => ({
    kind: 'issue.security_event',
    ...aboutFolded(issue),
    data: { kind, event_id: eventId, environment },
  }))
}

function minutesOf({ groups }: FoldedIssue): [minute: number, events: number][] {
  const minutes = new Map<number, number>()
  for (const { events } of groups)
    for (const event of events) {
      const minute = event[OCCURRED_AT] - (event[OCCURRED_AT] % MINUTE_MS)
      minutes.set(minute, (minutes.get(minute) ?? 0) + 1)
    }
  return [...minutes]
}

/** A new issue as it was inserted. Its group has its id. */
const createdIssue = (issueId: string, { at, impact }: NonNullable<FoldedSums['created']>): sql.LockedIssue => ({
  issueId,
  isMerged: false,
  life: newIssue(at).life,
  impact,
  limit: null,
})

async function lockIssues(tx: Tx, sums: readonly FoldedSums[]): Promise<FoldedIssue[]> {
  // Issues of this transaction are not visible to others.
  const found = await sql.lockIssuesOfGroups(
    tx,
    sums.flatMap(({ created, groupId }) => (created === undefined ? [groupId] : [])),
  )
  const issues = new Map<string, FoldedIssue & { groups: FoldedSums[] }>()
  for (const one of sums) {
    const issue = one.created === undefined ? found.get(one.groupId) : createdIssue(one.groupId, one.created)
    if (issue === undefined) continue
    const before = issues.get(issue.issueId)
    if (before === undefined)
      issues.set(issue.issueId, {
        ...issue,
        isNew: one.created !== undefined,
        projectId: one.projectId,
        orgId: one.orgId,
        groups: [one],
      })
    else before.groups.push(one)
  }
  return [...issues.values()]
}

/** Users that a fold adds to an issue. */
type UsersOfIssue = {
  readonly added: number
  /** Users counted today for the first time. */
  readonly today: number
  /** When the events first affected each new user; only of issues that are ignored until a number of users. */
  readonly newUsersSeen: readonly Date[]
}

type CountedUsers = { readonly ofIssues: Map<string, UsersOfIssue>; readonly ofGroups: Map<string, sql.NewUsers> }

/** Counts users of groups; a user of several groups of an issue counts once for the issue. */
async function countUsers(tx: Tx, now: Date, issues: readonly FoldedIssue[]): Promise<CountedUsers> {
  const startOfToday = toSlot(Date.parse(utcDay(now)))
  const users = usersOf(issues, toSlot(now.getTime()))
  const isAwaited = ({ life }: FoldedIssue): boolean => life.ignored?.until?.users !== undefined
  const named = issues.filter((issue) => issue.isMerged || isAwaited(issue))
  const counted = await sql.addUsers(
    tx,
    [...users.values()].flatMap(bySlot),
    startOfToday,
    named.flatMap(({ groups }) => groups.map(({ groupId }) => groupId)),
  )
  const ofGroups = new Map(counted.map((one) => [one.groupId, one]))
  const ofMerged = await newUsersOfMerged(
    tx,
    issues.filter(({ isMerged }) => isMerged),
    ofGroups,
    startOfToday,
  )
  const ofIssues = new Map(
    issues.map((issue): [string, UsersOfIssue] => {
      const [group] = issue.groups
      const own = group === undefined ? undefined : ofGroups.get(group.groupId)
      const { added, today: addedToday } = ofMerged.get(issue.issueId) ?? {
        added: { count: own?.added ?? 0, hashes: own?.addedHashes ?? [] },
        today: own?.today ?? 0,
      }
      const seenOf = (hash: number): number[] =>
        issue.groups.flatMap(({ groupId }) => users.get(groupId + hash)?.happenedAt ?? [])
      const newUsersSeen = isAwaited(issue) ? added.hashes.map((hash) => new Date(Math.min(...seenOf(hash)))) : []
      return [issue.issueId, { added: added.count, today: addedToday, newUsersSeen }]
    }),
  )
  return { ofIssues, ofGroups }
}

type UserOfGroup = {
  readonly groupId: string
  readonly userHash: number
  slot: number
  /** Further slots; null for most. */
  others: Set<number> | null
  /** When the first of the events happened. */
  happenedAt: number
}

/** By group and user. @param maxSlot a client's clock may be slightly ahead */
function usersOf(issues: readonly FoldedIssue[], maxSlot: number): Map<string, UserOfGroup> {
  const users = new Map<string, UserOfGroup>()
  for (const { groups } of issues)
    for (const { groupId, events } of groups)
      for (const event of events) {
        const userHash = event[USER_HASH]
        if (userHash === null) continue
        const key = groupId + userHash
        const happenedAt = event[HAPPENED_AT]
        const slot = Math.min(toSlot(event[OCCURRED_AT]), maxSlot)
        const known = users.get(key)
        if (known === undefined) users.set(key, { groupId, userHash, slot, others: null, happenedAt })
        else {
          if (slot !== known.slot) (known.others ??= new Set()).add(slot)
          if (happenedAt < known.happenedAt) known.happenedAt = happenedAt
        }
      }
  return users
}

function bySlot({ groupId, userHash, slot, others }: UserOfGroup): sql.SeenUser[] {
  if (others === null) return [{ groupId, userHash, slot, previous: null, isLast: true }]
  const slots = [slot, ...others].toSorted((a, b) => a - b)
  return slots.map((one, index) => ({
    groupId,
    userHash,
    slot: one,
    previous: slots[index - 1] ?? null,
    isLast: index === slots.length - 1,
  }))
}

type NewUsersOfMerged = { added: { count: number; hashes: number[] }; today: number }

/** A user is new to an issue if each of its groups that has the user got it in this fold. */
async function newUsersOfMerged(
  tx: Tx,
  merged: readonly FoldedIssue[],
  ofGroups: ReadonlyMap<string, sql.NewUsers>,
  startOfToday: number,
): Promise<Map<string, NewUsersOfMerged>> {
  const gained = new Map<string, { issueId: string; userHash: number; added: number; today: number }>()
  for (const { issueId, groups } of merged) {
    const of = (userHash: number) => {
      const key = issueId + userHash
      const one = gained.get(key) ?? { issueId, userHash, added: 0, today: 0 }
      gained.set(key, one)
      return one
    }
    for (const { groupId } of groups) {
      for (const hash of ofGroups.get(groupId)?.addedHashes ?? []) of(hash).added++
      for (const hash of ofGroups.get(groupId)?.todayHashes ?? []) of(hash).today++
    }
  }
  const result = new Map<string, NewUsersOfMerged>(
    merged.map(({ issueId }) => [issueId, { added: { count: 0, hashes: [] }, today: 0 }]),
  )
  if (gained.size === 0) return result
  for (const { issueId, userHash, groups, today: todayGroups } of await sql.groupsOfUsers(
    tx,
    [...gained.values()],
    startOfToday,
  )) {
    const [one, sum] = [gained.get(issueId + userHash), result.get(issueId)]
    if (one === undefined || sum === undefined) continue
    if (one.added === groups) sum.added.count = sum.added.hashes.push(userHash)
    if (one.today > 0 && one.today === todayGroups) sum.today++
  }
  return result
}

/** Counts events by hour. Returns the hours in which an issue may have escalated. */
async function countHours(tx: Tx, now: Date, issues: readonly FoldedIssue[]): Promise<sql.CountedHour[]> {
  const hours = new Map<string, sql.HourSums>()
  for (const { groupId, events } of issues.flatMap(({ groups }) => groups))
    for (const event of events) {
      const isFatal = event[IS_FATAL]
      const inHour = event[OCCURRED_AT] % HOUR_MS
      const at = event[OCCURRED_AT] - inHour
      const key = groupId + at
      let hour = hours.get(key)
      if (hour === undefined)
        hours.set(key, (hour = { id: groupId, at, events: 0, quarters: [], fatal: 0, fatalQuarters: [] }))
      const quarter = Math.floor(inHour / SLOT_MS)
      hour.events++
      if (isFatal) hour.fatal++
      hour.quarters[quarter] = (hour.quarters[quarter] ?? 0) + 1
      if (isFatal) hour.fatalQuarters[quarter] = (hour.fatalQuarters[quarter] ?? 0) + 1
    }
  const merged = new Map(
    issues.flatMap(({ isMerged, issueId, groups }) =>
      isMerged ? groups.map(({ groupId }) => [groupId, issueId] as const) : [],
    ),
  )
  const counted = await sql.addHours(tx, [...hours.values()], oldestHourToJudge(now), MIN_LIMIT, [...merged.keys()])
  const ofMerged = counted.flatMap(({ id, at }) => {
    const issueId = merged.get(id)
    return issueId === undefined ? [] : [{ id: issueId, at }]
  })
  const alone = counted.filter(({ id }) => !merged.has(id))
  return ofMerged.length === 0 ? alone : [...alone, ...(await sql.sumHours(tx, ofMerged))]
}

/** No fold waits longer for a lock: a change that is further ahead comes from a clock that is ahead. */
const MAX_LOCK_WAIT_MS = 60_000

/**
 * Now, or the time of the issue's last change if that happened while this fold waited for the lock: the activity must list
 * the transitions after that change.
 */
const afterDecision = (now: Date, { life: { changedAt } }: FoldedIssue): Date =>
  changedAt > now && changedAt.getTime() - now.getTime() <= MAX_LOCK_WAIT_MS ? changedAt : now

function decideTransitions(
  tx: Tx,
  now: Date,
  issues: readonly FoldedIssue[],
  { ofIssues }: CountedUsers,
  busyHours: readonly sql.CountedHour[],
): Promise<AppliedEvents> {
  return applyEvents(
    tx,
    issues.map((issue) => ({
      issueId: issue.issueId,
      projectId: issue.projectId,
      orgId: issue.orgId,
      life: issue.life,
      limit: issue.limit,
      at: afterDecision(now, issue),
      // No events change the status of other issues.
      events: issue.life.resolved === null && issue.life.ignored === null ? [] : arrivedEventsOf(issue),
      newUsers: ofIssues.get(issue.issueId)?.newUsersSeen ?? [],
      firstSeen: new Date(Math.min(...issue.groups.map(({ oldest }) => oldest.at))),
    })),
    busyHours,
  )
}

const arrivedEventsOf = ({ groups }: FoldedIssue) =>
  groups.flatMap(({ events }) =>
    events.map(([eventId, occurredAt, happenedAt, release]) => ({
      eventId,
      release,
      occurredAt: new Date(occurredAt),
      happenedAt: new Date(happenedAt),
    })),
  )

/** By issue id, the impact after the fold. */
function impactsOf(
  now: Date,
  issues: readonly FoldedIssue[],
  { ofIssues }: CountedUsers,
  { lives }: AppliedEvents,
): Map<string, IssueImpact> {
  return new Map(
    issues.map((issue) => {
      const status = statusOf(issue, lives)
      if (issue.isNew) return [issue.issueId, rated(issue.impact, status, now)]
      const reached = {
        eventSeverity: worstOf(issue).severity,
        users: ofIssues.get(issue.issueId)?.today ?? 0,
        manyUsers: issue.groups.at(-1)?.manyUsers ?? 0,
      }
      return [issue.issueId, reach(issue.impact, reached, status, now)]
    }),
  )
}

const statusOf = (issue: FoldedIssue, lives: AppliedEvents['lives']) => (lives.get(issue.issueId) ?? issue.life).status

/** The most severe event; the oldest of equal ones. */
const worstOf = ({ groups }: FoldedIssue): FoldedSums['worst'] =>
  groups.map(({ worst }) => worst).reduce((worst, one) => (isWorse(one, worst) ? one : worst))

async function writeCounts(
  tx: Tx,
  issues: readonly FoldedIssue[],
  { ofIssues, ofGroups }: CountedUsers,
  impacts: ReadonlyMap<string, IssueImpact>,
): Promise<void> {
  const known = issues.filter(({ isNew }) => !isNew)
  sql.addToGroups(
    tx,
    known.flatMap(({ issueId, impact, groups }) =>
      groups.map((group) => ({
        groupId: group.groupId,
        events: group.events.length,
        newUsers: ofGroups.get(group.groupId)?.added ?? 0,
        firstSeen: new Date(group.oldest.at),
        firstRelease: group.oldest.release,
        isUnhandled: group.isUnhandled,
        eventSeverity: group.worst.severity,
        lastSeen: new Date(group.newest.at),
        newest: group.newest,
        impact: impacts.get(issueId) ?? impact,
      })),
    ),
  )
  const merged = known.filter(({ isMerged }) => isMerged)
  await sumGroups(
    tx,
    merged.map(({ issueId }) => issueId),
  )
  // A new issue may have escalated.
  const escalated = issues.filter(
    ({ isNew, issueId, impact }) => isNew && impacts.get(issueId)?.severity !== impact.severity,
  )
  sql.addToImpacts(
    tx,
    [...merged, ...escalated].map(({ issueId, impact, isNew }) => ({
      issueId,
      newUsers: isNew ? 0 : (ofIssues.get(issueId)?.added ?? 0),
      impact: impacts.get(issueId) ?? impact,
    })),
  )
}

/** Rises of severity. */
function rises(
  now: Date,
  issues: readonly FoldedIssue[],
  impacts: ReadonlyMap<string, IssueImpact>,
  { lives }: AppliedEvents,
): Fact[] {
  return issues.flatMap((issue) => {
    const impact = impacts.get(issue.issueId) ?? issue.impact
    const impactBefore = issue.isNew ? newImpact(0) : issue.impact
    const before = rated(impactBefore, statusOf(issue, lives), now).severity
    const hasHigherImpact = impact.highImpactDay !== impactBefore.highImpactDay
    // The first entry of a new issue stands for its events.
    if (impact.severity <= before || (issue.isNew && !hasHigherImpact)) return []
    return [{ ...riseOf(issue, before, impact, hasHigherImpact), at: afterDecision(now, issue) }]
  })
}

function riseOf(issue: FoldedIssue, before: number, impact: IssueImpact, hasHigherImpact: boolean): Fact {
  const { eventId } = worstOf(issue)
  return {
    kind: 'issue.severity_changed',
    ...aboutFolded(issue),
    sentence: hasHigherImpact
      ? impactSentence(impact, countedWord(impact.usersToday, 'user'))
      : eventSeveritySentence(impact, eventId),
    data: {
      from: severityName(before),
      to: severityName(impact.severity),
      ...(hasHigherImpact ? { users: impact.usersToday, day: impact.highImpactDay } : { event_id: eventId }),
    },
  }
}

/** Counts events by minute of their project. */
function countMinutes(tx: Tx, sums: readonly FoldedSums[]): void {
  const minutes = new Map<string, { id: string; at: number; events: number; fatal: number }>()
  for (const { projectId, events } of sums)
    for (const event of events) {
      const at = event[OCCURRED_AT] - (event[OCCURRED_AT] % MINUTE_MS)
      const key = projectId + at
      const minute = minutes.get(key) ?? { id: projectId, at, events: 0, fatal: 0 }
      minutes.set(key, minute)
      minute.events++
      if (event[IS_FATAL]) minute.fatal++
    }
  addMinutes(tx, [...minutes.values()])
}

/** Events that are folded into one issue. */
type IssueEvents = {
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

type AppliedEvents = {
  /** By issue id; only of issues that changed. */
  readonly lives: ReadonlyMap<string, Life>
  readonly facts: readonly Fact[]
}

/** An hour can make its issue escalate until this time after its end: events are digested a moment after they occur. */
const GRACE_MS = 5 * 60_000

/** The oldest hour that can still make an issue escalate. */
const oldestHourToJudge = (now: Date): Date => floorToHour(new Date(now.getTime() - GRACE_MS))

/** Applies folded events to the life cycles of their issues. Writes only new hourly limits. */
async function applyEvents(
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
