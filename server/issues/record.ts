import type pg from 'pg'
import { insertEvents } from '../events/store.ts'
import type { StoredEvent } from '../events/event.ts'
import type { GroupingPart } from '../grouping/grouping.api.ts'
import { newId } from '../kernel/ids.ts'
import type { EventLevel } from '../protocol/event.api.ts'
import { moveOnSighting, severityRank, type Sighting } from './issue.ts'
import type { IssueStatus, Severity } from './issues.api.ts'
import * as sql from './record.queries.ts'
import { searchText } from './search-text.ts'

/** One event on its way into an issue: everything but which issue. */
export type Occurrence = {
  readonly orgId: string
  readonly event: Omit<StoredEvent, 'issueId'>
  readonly fingerprint: { readonly version: number; readonly hash: Buffer; readonly parts: readonly GroupingPart[] }
  readonly title: string
  readonly culprit: string
  readonly errorType: string | null
  readonly errorValue: string | null
  readonly level: EventLevel
  readonly platform: string
  readonly isUnhandled: boolean
  readonly severity: Severity
  /** Texts for the full-text index; only looked at when the issue turns out to be new. */
  readonly searchWords: readonly (string | null)[]
}

export type Recorded = {
  /** Per project: which issues were touched, which of them are new. */
  readonly projects: ReadonlyMap<
    string,
    { orgId: string; issueIds: Set<string>; newIssueIds: Set<string>; eventCount: number }
  >
}

/** An issue as this batch found or made it, and what the batch adds to it. */
type Group = {
  readonly key: string
  readonly projectId: string
  readonly occurrences: Occurrence[]
  issueId: string
  status: IssueStatus
  resolvedAt: Date | null
  isNew: boolean
}

/**
 * Writes a batch of events, none of them stored before, into their issues: finds or makes each issue by fingerprint,
 * counts, moves the status where the pure rule says so, and stores the bodies. Everything on the caller's transaction.
 */
export async function recordOccurrences(
  client: pg.ClientBase,
  now: Date,
  occurrences: readonly Occurrence[],
): Promise<Recorded> {
  const fingerprints = groupByFingerprint(occurrences)
  await findIssues(client, fingerprints)
  await makeIssues(
    client,
    now,
    fingerprints.filter((group) => group.issueId === ''),
  )
  const groups = groupByIssue(fingerprints)
  const newUsers = await countNewUsers(client, groups)
  await sql.addToIssues(
    client,
    groups.map((group) => additionOf(group, newUsers.get(group.issueId) ?? 0)),
  )
  await moveIssues(client, now, groups)
  await countOverTime(client, groups)
  await insertEvents(
    client,
    groups.flatMap((group) => group.occurrences.map((occurrence) => ({ ...occurrence.event, issueId: group.issueId }))),
  )
  return summary(groups)
}

function groupByFingerprint(occurrences: readonly Occurrence[]): Group[] {
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
        status: 'unresolved',
        resolvedAt: null,
        isNew: false,
      })
    else group.occurrences.push(occurrence)
  }
  return [...groups.values()]
}

/** Several fingerprints may lead to one issue; it is counted up once. */
function groupByIssue(fingerprints: readonly Group[]): Group[] {
  const groups = new Map<string, Group>()
  for (const group of fingerprints) {
    const same = groups.get(group.issueId)
    if (same === undefined) groups.set(group.issueId, group)
    else same.occurrences.push(...group.occurrences)
  }
  return [...groups.values()]
}

const fingerprintOf = (group: Group) => firstOf(group).fingerprint

function firstOf(group: Group): Occurrence {
  const [first] = group.occurrences
  if (first === undefined) throw new Error('a group without occurrences')
  return first
}

/** The newest by its own time names the issue. */
function newestOf(group: Group): Occurrence {
  return group.occurrences.reduce((newest, one) => (one.event.occurredAt >= newest.event.occurredAt ? one : newest))
}

async function findIssues(client: pg.ClientBase, groups: readonly Group[]): Promise<void> {
  const found = await sql.lockIssuesByFingerprint(
    client,
    groups.map((group) => ({ projectId: group.projectId, hash: fingerprintOf(group).hash })),
  )
  for (const group of groups) {
    const row = found.get(group.key)
    if (row === undefined) continue
    group.issueId = row.issueId
    group.status = row.status
    group.resolvedAt = row.resolvedAt
  }
}

async function makeIssues(client: pg.ClientBase, now: Date, groups: readonly Group[]): Promise<void> {
  if (groups.length === 0) return
  const perProject = new Map<string, number>()
  for (const group of groups) perProject.set(group.projectId, (perProject.get(group.projectId) ?? 0) + 1)
  const next = await sql.takeIssueNumbers(client, perProject)
  const rows = groups.map((group) => {
    const number = (next.get(group.projectId) ?? 0) + 1
    next.set(group.projectId, number)
    group.issueId = newId()
    group.isNew = true
    const newest = newestOf(group)
    return {
      id: group.issueId,
      number,
      occurrence: newest,
      firstRelease: oldestOf(group).event.release,
      severity: severityRank(newest.severity),
      searchText: searchText(newest.searchWords),
    }
  })
  await sql.insertIssues(client, now, rows)
  await sql.insertFingerprints(
    client,
    now,
    groups.map((group) => ({ projectId: group.projectId, issueId: group.issueId, ...fingerprintOf(group) })),
  )
  await sql.insertActivity(
    client,
    groups.map((group) => ({
      id: newId(),
      issueId: group.issueId,
      kind: 'created',
      sentence: `First event${oldestOf(group).event.release === null ? '' : ` in ${oldestOf(group).event.release}`}.`,
      data: { event_id: oldestOf(group).event.eventId },
      createdAt: now,
    })),
  )
}

function oldestOf(group: Group): Occurrence {
  return group.occurrences.reduce((oldest, one) => (one.event.occurredAt < oldest.event.occurredAt ? one : oldest))
}

/** Users seen on an issue for the first time, per issue. */
async function countNewUsers(client: pg.ClientBase, groups: readonly Group[]): Promise<Map<string, number>> {
  const pairs = new Map<string, { issueId: string; userHash: number }>()
  for (const group of groups) {
    for (const { event } of group.occurrences) {
      if (event.userHash !== null)
        pairs.set(`${group.issueId}${event.userHash}`, { issueId: group.issueId, userHash: event.userHash })
    }
  }
  return sql.insertUsers(client, [...pairs.values()])
}

function additionOf(group: Group, newUsers: number): sql.IssueAddition {
  const newest = newestOf(group)
  return {
    id: group.issueId,
    events: group.occurrences.length,
    newUsers,
    firstSeen: oldestOf(group).event.occurredAt,
    lastSeen: newest.event.occurredAt,
    title: newest.title,
    culprit: newest.culprit,
    errorType: newest.errorType,
    errorValue: newest.errorValue,
    level: newest.level,
    release: newest.event.release,
    isUnhandled: group.occurrences.some((one) => one.isUnhandled),
    severity: Math.max(...group.occurrences.map((one) => severityRank(one.severity))),
    eventId: newest.event.eventId,
  }
}

async function moveIssues(client: pg.ClientBase, now: Date, groups: readonly Group[]): Promise<void> {
  const moves = groups.flatMap((group) => {
    const newest = newestOf(group).event
    const sighting: Sighting = { eventId: newest.eventId, occurredAt: newest.occurredAt, release: newest.release }
    const move = moveOnSighting(group.status, group.resolvedAt, sighting)
    return move === null ? [] : [{ group, move }]
  })
  if (moves.length === 0) return
  await sql.moveIssues(
    client,
    now,
    moves.map(({ group, move }) => ({ id: group.issueId, status: move.to, reason: move.sentence })),
  )
  await sql.insertActivity(
    client,
    moves.map(({ group, move }) => ({
      id: newId(),
      issueId: group.issueId,
      kind: 'status_changed',
      sentence: move.sentence,
      data: { from: group.status, to: move.to, event_id: newestOf(group).event.eventId },
      createdAt: now,
    })),
  )
}

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

async function countOverTime(client: pg.ClientBase, groups: readonly Group[]): Promise<void> {
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
  await sql.addHours(client, [...hours.values()])
  await sql.addMinutes(client, [...minutes.values()])
}

function summary(groups: readonly Group[]): Recorded {
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
  return { projects }
}
