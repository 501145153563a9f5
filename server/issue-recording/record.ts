import { addMinutes, takeIssueNumbers } from '../projects/recording.queries.ts'
import type { Tx } from '../storage/database.ts'
import { DIGESTION } from '../context/actor.ts'
import { insertEvents } from '../events/store.queries.ts'
import { newId } from '../kernel/ids.ts'
import { MIN_LIMIT } from '../issue-rules/escalating.ts'
import {
  eventSeveritySentence,
  type IssueImpact,
  newImpact,
  rated,
  reach,
  impactSentence,
} from '../issue-rules/impact.ts'
import { plural } from '../issue-rules/ignoring.ts'
import { severityName } from '../issue-rules/issue.ts'
import { newIssue } from '../issue-rules/life-cycle.ts'
import { writeEntries } from '../issue-rows/life.queries.ts'
import {
  type IssueTransition,
  oldestHourToJudge,
  applyEvents,
  type AppliedEvents,
  writeTransitions,
} from './apply-events.ts'
import type { Group, Occurrence } from './occurrence.ts'
import { dropDiscarded, fingerprintRow, findIssues, firstOf } from './find-issues.ts'
import { recordMergedIssues } from './record-merged-issues.ts'
import { assignNewIssues, notificationKind, notifySubscribers, type SubscribedTransition } from './assign-and-notify.ts'
import * as sql from './record.queries.ts'
import { countUsers, arrivedEventOf } from './record-users.ts'
import { writeIndexTerms } from '../issue-search/write-index-terms.ts'

export type Recorded = {
  /** By project: the issues with events in this batch, and the new ones among them. */
  readonly projects: ReadonlyMap<
    string,
    { orgId: string; issueIds: Set<string>; newIssueIds: Set<string>; eventCount: number }
  >
  /** New, regressed and escalated issues, for alerts. */
  readonly transitions: readonly IssueTransition[]
  /** Events of discarded issues, which are not stored. */
  readonly discarded: ReadonlySet<Occurrence>
}

/**
 * Records events that are not stored yet: finds or creates their issues by fingerprint, counts, applies transitions, and
 * stores the bodies, in blocks while digestion is not behind, all in the caller's transaction.
 */
export async function recordOccurrences(
  tx: Tx,
  now: Date,
  occurrences: readonly Occurrence[],
  isBehind = false,
): Promise<Recorded> {
  const all = groupByFingerprint(occurrences, now)
  await findIssues(tx, now, all)
  const discarded = await dropDiscarded(
    tx,
    all.filter((group) => group.issueId === ''),
  )
  const fingerprints = discarded.size === 0 ? all : all.filter((group) => !discarded.has(firstOf(group)))
  await createIssues(
    tx,
    now,
    fingerprints.filter((group) => group.issueId === ''),
  )
  // Must run before groupByIssue, which adds the events of one group to another.
  const merged = fingerprints
    .filter((group) => group.isMerged)
    .map((group) => ({ sourceId: group.sourceId, occurrences: [...group.occurrences] }))
  const sources = new Map(merged.flatMap(({ sourceId, occurrences }) => occurrences.map((one) => [one, sourceId])))
  const groups = groupByIssue(fingerprints)
  await writeIndexTerms(
    tx,
    now,
    groups.map((group) => ({ ...group, orgId: firstOf(group).orgId, first: newestOf(group) })),
  )
  const users = await countUsers(tx, now, groups)
  const busyHours = await countOverTime(tx, now, groups)
  const applied = await applyEvents(
    tx,
    groups.map((group) => ({
      ...group,
      at: afterDecision(now, group),
      events: group.occurrences.map(arrivedEventOf),
      newUsers: users.get(group.issueId)?.newUsersSeen ?? [],
      firstSeen: oldestOf(group).event.occurredAt,
    })),
    busyHours,
  )
  await addUp(tx, now, groups, users, applied)
  await notifySubscribers(tx, now, DIGESTION, subscribedTransitions(groups, applied))
  await recordMergedIssues(tx, now, merged)
  await insertEvents(
    tx,
    groups.flatMap((group) =>
      group.occurrences.map((one) => ({ ...one.event, issueId: sources.get(one) ?? group.issueId })),
    ),
    { inBlocks: !isBehind },
  )
  return { ...summary(groups, applied), discarded }
}

function groupByFingerprint(occurrences: readonly Occurrence[], now: Date): Group[] {
  const groups = new Map<string, Group>()
  for (const occurrence of occurrences) {
    const { projectId } = occurrence.event
    const key = projectId + occurrence.fingerprint.hash.toString('base64')
    const group = groups.get(key)
    if (group === undefined)
      groups.set(key, {
        key,
        projectId,
        occurrences: [occurrence],
        issueId: '',
        sourceId: '',
        isMerged: false,
        life: newIssue(now).life,
        impact: newImpact(occurrence.eventSeverity),
        limit: null,
        isNew: false,
      })
    else group.occurrences.push(occurrence)
  }
  return [...groups.values()]
}

/** No batch waits longer for a lock: a change that is further ahead comes from a clock that is ahead. */
const MAX_LOCK_WAIT_MS = 60_000

/**
 * Now, or the time of the issue's last change if that happened while this batch waited for the lock: the activity must
 * list the transitions after that change.
 */
const afterDecision = (now: Date, { life: { changedAt } }: Group): Date =>
  changedAt > now && changedAt.getTime() - now.getTime() <= MAX_LOCK_WAIT_MS ? changedAt : now

/** Several fingerprints may lead to one issue, which must be updated once. */
function groupByIssue(fingerprints: readonly Group[]): Group[] {
  const groups = new Map<string, Group>()
  for (const group of fingerprints) {
    const same = groups.get(group.issueId)
    if (same === undefined) groups.set(group.issueId, group)
    else same.occurrences.push(...group.occurrences)
  }
  return [...groups.values()]
}

/** By time of occurrence. The newest event gives the issue its title. */
function newestOf(group: Group): Occurrence {
  return group.occurrences.reduce((newest, one) => (one.event.occurredAt >= newest.event.occurredAt ? one : newest))
}

async function createIssues(tx: Tx, now: Date, groups: readonly Group[]): Promise<void> {
  if (groups.length === 0) return
  const perProject = new Map<string, number>()
  for (const group of groups) perProject.set(group.projectId, (perProject.get(group.projectId) ?? 0) + 1)
  const next = await takeIssueNumbers(tx, perProject)
  const rows = groups.map((group) => {
    const number = (next.get(group.projectId) ?? 0) + 1
    next.set(group.projectId, number)
    group.issueId = newId()
    group.sourceId = group.issueId
    group.isNew = true
    const newest = newestOf(group)
    return {
      id: group.issueId,
      number,
      occurrence: newest,
      firstRelease: oldestOf(group).event.release,
      severity: group.impact.severity,
    }
  })
  await sql.insertIssues(tx, now, rows)
  await sql.insertFingerprints(tx, now, groups.map(fingerprintRow))
  await sql.insertActivity(
    tx,
    groups.map((group) => ({
      id: newId(),
      issueId: group.issueId,
      kind: 'created',
      sentence: `First event${oldestOf(group).event.release === null ? '' : ` in ${oldestOf(group).event.release}`}.`,
      data: { event_id: oldestOf(group).event.eventId },
      createdAt: now,
    })),
  )
  await assignNewIssues(
    tx,
    now,
    groups.map((group) => {
      const { orgId, ownershipMatches } = newestOf(group)
      return { issueId: group.issueId, orgId, ownershipMatches }
    }),
  )
}

function oldestOf(group: Group): Occurrence {
  return group.occurrences.reduce((oldest, one) => (one.event.occurredAt < oldest.event.occurredAt ? one : oldest))
}

/** The most severe event; the oldest of equal ones. */
function severestOf(group: Group): Occurrence {
  return group.occurrences.reduce((chosen, one) =>
    one.eventSeverity > chosen.eventSeverity ||
    (one.eventSeverity === chosen.eventSeverity && one.event.occurredAt < chosen.event.occurredAt)
      ? one
      : chosen,
  )
}

/** Adds the events to their issues, updates severities, and writes the transitions. */
async function addUp(
  tx: Tx,
  now: Date,
  groups: readonly Group[],
  users: ReadonlyMap<string, sql.CountedUsers>,
  { lives, entries }: AppliedEvents,
): Promise<void> {
  const rises: AppliedEvents['entries'][number][] = []
  const additions = groups.map((group) => {
    const status = (lives.get(group.issueId) ?? group.life).status
    const reached = {
      eventSeverity: severestOf(group).eventSeverity,
      users: users.get(group.issueId)?.today ?? 0,
      manyUsers: firstOf(group).manyUsers,
    }
    const impact = reach(group.impact, reached, status, now)
    const before = rated(group.impact, status, now).severity
    const hasHigherImpact = impact.highImpactDay !== group.impact.highImpactDay
    // The first entry of a new issue stands for its events.
    if (impact.severity > before && (hasHigherImpact || !group.isNew))
      rises.push({ ...riseOf(group, before, impact, hasHigherImpact), at: afterDecision(now, group) })
    return additionOf(group, users.get(group.issueId)?.added ?? 0, impact)
  })
  await sql.addToIssues(tx, additions)
  await writeTransitions(
    tx,
    now,
    [...lives].map(([id, life]) => ({ id, life, severity: null })),
    entries,
  )
  await writeEntries(tx, now, DIGESTION, rises)
}

function riseOf(
  group: Group,
  before: number,
  impact: IssueImpact,
  hasHigherImpact: boolean,
): Omit<AppliedEvents['entries'][number], 'at'> {
  const { eventId } = severestOf(group).event
  return {
    issueId: group.issueId,
    id: newId(),
    kind: 'severity_changed',
    sentence: hasHigherImpact
      ? impactSentence(impact, plural(impact.usersToday, 'user'))
      : eventSeveritySentence(impact, eventId),
    data: {
      from: severityName(before),
      to: severityName(impact.severity),
      ...(hasHigherImpact ? { users: impact.usersToday, day: impact.highImpactDay } : { event_id: eventId }),
    },
  }
}

function additionOf(group: Group, newUsers: number, impact: IssueImpact): sql.IssueAddition {
  const newest = newestOf(group)
  return {
    id: group.issueId,
    events: group.occurrences.length,
    newUsers,
    firstSeen: oldestOf(group).event.occurredAt,
    firstRelease: oldestOf(group).event.release,
    lastSeen: newest.event.occurredAt,
    title: newest.title,
    culprit: newest.culprit,
    errorType: newest.errorType,
    errorValue: newest.errorValue,
    level: newest.level,
    release: newest.event.release,
    isUnhandled: group.occurrences.some((one) => one.isUnhandled),
    impact,
    eventId: newest.event.eventId,
    isMerged: group.isMerged,
  }
}

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

/** Counts the events by hour and minute. Returns the hours in which an issue may have escalated. */
async function countOverTime(tx: Tx, now: Date, groups: readonly Group[]): Promise<sql.BusyHour[]> {
  const hours = new Map<string, { id: string; at: number; events: number }>()
  const minutes = new Map<string, { id: string; at: number; events: number; fatal: number }>()
  for (const group of groups) {
    for (const { event, isUnhandled, level } of group.occurrences) {
      const time = event.occurredAt.getTime()
      const hour = Math.floor(time / HOUR_MS) * HOUR_MS
      const minute = Math.floor(time / MINUTE_MS) * MINUTE_MS
      const inHour = hours.get(group.issueId + hour) ?? { id: group.issueId, at: hour, events: 0 }
      inHour.events++
      hours.set(group.issueId + hour, inHour)
      const inMinute = minutes.get(group.projectId + minute) ?? { id: group.projectId, at: minute, events: 0, fatal: 0 }
      inMinute.events++
      if (isUnhandled || level === 'fatal') inMinute.fatal++
      minutes.set(group.projectId + minute, inMinute)
    }
  }
  const busyHours = await sql.addHours(tx, [...hours.values()], oldestHourToJudge(now), MIN_LIMIT)
  await addMinutes(tx, [...minutes.values()])
  return busyHours
}

/** Transitions that subscribers of the issue are notified of. */
function subscribedTransitions(groups: readonly Group[], { entries }: AppliedEvents): SubscribedTransition[] {
  const byId = new Map(groups.map((group) => [group.issueId, group]))
  return entries.flatMap(({ issueId, ...entry }) => {
    const [group, kind] = [byId.get(issueId), notificationKind(entry)]
    return group === undefined || kind === null
      ? []
      : [{ issueId, orgId: firstOf(group).orgId, kind, sentence: entry.sentence }]
  })
}

function summary(groups: readonly Group[], applied: AppliedEvents): Omit<Recorded, 'discarded'> {
  const projects = new Map<
    string,
    { orgId: string; issueIds: Set<string>; newIssueIds: Set<string>; eventCount: number }
  >()
  for (const group of groups) {
    const project = projects.get(group.projectId) ?? {
      orgId: firstOf(group).orgId,
      issueIds: new Set(),
      newIssueIds: new Set(),
      eventCount: 0,
    }
    project.issueIds.add(group.issueId)
    if (group.isNew) project.newIssueIds.add(group.issueId)
    project.eventCount += group.occurrences.length
    projects.set(group.projectId, project)
  }
  const added = groups
    .filter((group) => group.isNew)
    .map(({ issueId, projectId }): IssueTransition => ({ issueId, projectId, fact: 'new_issue' }))
  return { projects, transitions: [...added, ...applied.transitions] }
}
