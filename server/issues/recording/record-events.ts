import { learnDevices, countEvents } from '../../telemetry/app-health/record-sessions.ts'
import type { FactContext } from '../../platform/context/actor.ts'
import { insertEvents, findStored, type ReceivedDays } from '../../events/store/store.queries.ts'
import { UNIQUE_DAYS } from '../../events/store/event.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { linkWaitingFeedback } from '../feedback/record-feedback.ts'
import { EVENT_SEVERITY } from '../rules/impact.ts'
import { writeIndexTerms } from '../search/write-index-terms.ts'
import { dayPlus, utcDay, HOUR_MS } from '../../platform/kernel/day.ts'
import { newId } from '../../platform/kernel/ids.ts'
import {
  ACCEPTED,
  DISCARDED_ISSUE,
  DUPLICATE,
  type FactInContext,
  type ItemOutcome,
} from '../../events/items/recorder.ts'
import { type IssueNumbers, writeIssueNumbers, lockIssueNumbers } from '../../projects/registry/projects.queries.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { type GroupCacheStep, type Counting, FOLD_AT_ONCE } from './journal.ts'
import {
  type GroupedEvents,
  type KnownGroup,
  newestOccurrence,
  type Occurrence,
  oldestOccurrence,
  type SameFingerprint,
  firstCounts,
  type FoldedSums,
  sumGroupedEvents,
} from './occurrence.ts'
import * as sql from './record.queries.ts'
import { createHash } from 'node:crypto'
import { newIssuesAt } from '../../projects/registry/general-settings.ts'
import { setAssignees } from '../rows/issues.queries.ts'
import { lockMembers, type SecurityHour, insertHours } from './record.queries.ts'
import { ruleLabel, type LazyMatches, decidingMatch } from '../ownership/ownership.ts'
import { findDiscarded, linkDiscarded, type FingerprintKey } from '../merging/discards.queries.ts'
import { SECURITY_KINDS } from '#shared/alert-rules.ts'

/**
 * The recorder of events: what a batch does, from top to bottom, in the caller's transaction. An event whose id is in the
 * batch already, or was stored within the last days, is a duplicate.
 * @param counting counts the events now, or appends them to the journal of the shard
 * @param isBehind more events wait: a job will store the bodies in blocks
 */
export async function recordEvents(
  tx: Tx,
  context: FactContext,
  facts: readonly FactInContext<Occurrence>[],
  counting: Counting = FOLD_AT_ONCE,
  isBehind = false,
): Promise<readonly ItemOutcome[]> {
  const now = context.at
  const fresh = await withoutDuplicates(tx, context, facts)
  if (fresh.size === 0) return facts.map(() => DUPLICATE)
  const fingerprints = byFingerprint(fresh)
  const cache = await counting.lockRelation(tx, new Set(fingerprints.map(({ projectId }) => projectId)))
  const known = await findGroups(tx, now, fingerprints, cache)
  const unknown = fingerprints.filter(({ key }) => !known.has(key))
  const discarded = new Set(await findDiscardedEvents(tx, unknown))
  const { admitted, overflow, numbers } = await admitNewIssues(
    tx,
    context,
    unknown.filter(({ first }) => !discarded.has(first)),
  )
  const knownOverflow = await findGroups(tx, now, overflow, cache)
  const newOverflow = overflow.filter(({ key }) => !knownOverflow.has(key))
  const discardedOverflow = await findDiscardedEvents(tx, newOverflow)
  for (const { first, originals } of newOverflow)
    if (discardedOverflow.has(first)) for (const occurrence of originals) discarded.add(occurrence)
  const {
    groups: created,
    sums: sumsOfNew,
    facts: factsOfNew,
  } = await createIssues(
    tx,
    context,
    [...admitted, ...newOverflow.filter(({ first }) => !discardedOverflow.has(first))],
    numbers,
    cache,
  )
  for (const [key, group] of [...knownOverflow, ...created]) known.set(key, group)
  const grouped = [...fingerprints, ...overflow].flatMap((one): GroupedEvents[] => {
    const group = known.get(one.key)
    return group === undefined ? [] : [{ ...one, ...group, isNew: created.has(one.key) }]
  })
  await insertEvents(
    tx,
    grouped.flatMap(({ groupId, occurrences }) =>
      occurrences.map(({ event, device: { os, device }, errorType: exceptionType }) => ({
        ...event,
        issueId: groupId,
        values: { os, device, exceptionType },
      })),
    ),
    { inBlocks: !isBehind },
  )
  await writeIndexTerms(
    tx,
    now,
    grouped.map((one) => ({ ...one, first: one.isNew ? newestOccurrence(one.occurrences) : one.first })),
  )
  // An import brings a few events of each issue: its figures by release and device would mislead.
  if (!context.isQuiet)
    countHealth(
      tx,
      now,
      grouped.flatMap(({ occurrences }) => occurrences),
    )
  await linkWaitingFeedback(
    tx,
    [...fresh].map(({ event }) => event),
  )
  recordSecurityHours(tx, grouped)
  await counting.count(
    tx,
    context,
    grouped.map((one) => sumsOfNew.get(one.key) ?? sumGroupedEvents(one)),
    factsOfNew,
  )
  return facts.map(({ fact }) => (fresh.has(fact) ? (discarded.has(fact) ? DISCARDED_ISSUE : ACCEPTED) : DUPLICATE))
}

/** Counts stored events by release, environment and device, and remembers the devices of their users. */
function countHealth(tx: Tx, now: Date, stored: readonly Occurrence[]): void {
  countEvents(
    tx,
    stored.map(({ event: { projectId, occurredAt, release, environment, userHash }, device, ...one }) => ({
      projectId,
      occurredAt,
      release,
      environment,
      userHash,
      device,
      isUnhandled: one.isUnhandled,
      isCritical: one.eventSeverity === EVENT_SEVERITY.crash,
      anr: one.anr,
    })),
  )
  learnDevices(
    tx,
    now,
    stored.flatMap(({ event: { projectId, userHash }, device, namesDevice }) =>
      userHash !== null && namesDevice ? [{ projectId, userHash, device }] : [],
    ),
  )
}

async function withoutDuplicates(
  tx: Tx,
  { at, isQuiet }: FactContext,
  facts: readonly FactInContext<Occurrence>[],
): Promise<Set<Occurrence>> {
  const first = new Map<string, Occurrence>()
  for (const { fact } of facts) {
    const key = `${fact.event.projectId}/${fact.event.eventId}`
    if (!first.has(key)) first.set(key, fact)
  }
  const stored = await findStored(
    tx,
    [...first.values()].map(({ event }) => event),
    isQuiet ? receivedDays([...first.values()]) : daysBefore(utcDay(at)),
  )
  for (const key of stored) first.delete(key)
  return new Set(first.values())
}

const daysBefore = (today: string): ReceivedDays => ({ after: dayPlus(today, -UNIQUE_DAYS), until: dayPlus(today, 1) })

/** Events of an import have old days of receipt, which stay the same when it begins again. */
function receivedDays(occurrences: readonly Occurrence[]): ReceivedDays {
  const days = occurrences.map(({ event }) => utcDay(event.receivedAt)).sort()
  return { after: dayPlus(days[0] ?? '', -2), until: dayPlus(days.at(-1) ?? '', 1) }
}

function byFingerprint(occurrences: Iterable<Occurrence>): SameFingerprint[] {
  const same = new Map<string, SameFingerprint>()
  for (const occurrence of occurrences) {
    const { projectId } = occurrence.event
    const key = projectId + occurrence.fingerprint.hash.toString('base64')
    const one = same.get(key)
    if (one !== undefined) one.occurrences.push(occurrence)
    else same.set(key, { key, projectId, orgId: occurrence.orgId, first: occurrence, occurrences: [occurrence] })
  }
  return [...same.values()]
}

/**
 * Creates an issue with one group for each fingerprint, and assigns it by the ownership rules.
 * @param numbers the counters of their projects, locked
 * @returns the groups and their first sums by key, and facts to record
 */
async function createIssues(
  tx: Tx,
  { at: now, isQuiet }: FactContext,
  fingerprints: readonly SameFingerprint[],
  numbers: ReadonlyMap<string, IssueNumbers>,
  cache: GroupCacheStep,
): Promise<{ groups: Map<string, KnownGroup>; sums: Map<string, FoldedSums>; facts: Fact[] }> {
  const groups = new Map<string, KnownGroup>()
  if (fingerprints.length === 0) return { groups, sums: new Map(), facts: [] }
  const last = new Map([...numbers].map(([projectId, { number }]) => [projectId, number]))
  const rows = fingerprints.map((one) => {
    const number = (last.get(one.projectId) ?? 0) + 1
    last.set(one.projectId, number)
    const id = newId()
    const group = { groupId: id, issueId: id, isMerged: false }
    groups.set(one.key, group)
    cache.add(one, group)
    const sums = sumGroupedEvents({ ...one, ...group, isNew: true })
    return { ...one, ...firstCounts(sums, now), id, number, sums, newest: newestOccurrence(one.occurrences) }
  })
  writeIssueNumbers(
    tx,
    [...numbers.values()].map((row) => ({ ...row, number: last.get(row.id) ?? row.number })),
  )
  sql.insertIssues(
    tx,
    now,
    rows.map(({ newest: { platform }, ...row }) => ({ ...row, platform })),
  )
  sql.insertFingerprints(
    tx,
    now,
    rows.map(({ id, projectId, first: { fingerprint } }) => ({ projectId, groupId: id, ...fingerprint })),
  )
  const assigned = await assignNewIssues(
    tx,
    rows.map(({ id, projectId, orgId, newest: { ownershipMatches } }) => ({
      issueId: id,
      projectId,
      orgId,
      ownershipMatches,
    })),
  )
  const facts = rows.map(({ id, projectId, orgId, occurrences }): Fact => {
    const { release, eventId, occurredAt } = oldestOccurrence(occurrences).event
    return {
      kind: 'issue.created',
      orgId,
      projectId,
      issueId: id,
      sentence: `First event${release === null ? '' : ` in ${release}`}.`,
      data: { event_id: eventId },
      ...(isQuiet ? { at: occurredAt } : {}),
    }
  })
  const sums = new Map(
    rows.map((row): [string, FoldedSums] => [row.key, { ...row.sums, created: { at: now, impact: row.impact } }]),
  )
  return { groups, sums, facts: [...facts, ...assigned] }
}

/** Events of further fingerprints of a project, as events of one fingerprint. */
type Overflow = SameFingerprint & { readonly originals: readonly Occurrence[] }

/** Which fingerprints create an issue, and the number after which theirs begin. */
type Admission = {
  readonly admitted: readonly SameFingerprint[]
  readonly overflow: readonly Overflow[]
  readonly numbers: ReadonlyMap<string, IssueNumbers>
}

/**
 * Divides unknown fingerprints by the budget of their projects, in the order of the batch: an app whose every event has
 * another fingerprint must not fill the list and the database with issues. What is beyond the budget goes to one issue of
 * the project, where it is counted; such a fingerprint is unknown again at its next event. Issues of an import are outside
 * of the budget: someone chose them.
 */
async function admitNewIssues(
  tx: Tx,
  { at: now, isQuiet }: FactContext,
  unknown: readonly SameFingerprint[],
): Promise<Admission> {
  const byProject = Map.groupBy(unknown, ({ projectId }) => projectId)
  const numbers = new Map<string, IssueNumbers>()
  if (unknown.length === 0) return { admitted: [], overflow: [], numbers }
  const admitted: SameFingerprint[] = []
  const overflow: Overflow[] = []
  for (const row of await lockIssueNumbers(tx, [...byProject.keys()].sort())) {
    const ofProject = byProject.get(row.id) ?? []
    const known = newIssuesAt(row, now)
    if (isQuiet) {
      admitted.push(...ofProject)
      numbers.set(row.id, known)
      continue
    }
    const { perHour, perDay } = ofProject[0]?.first.newIssueBudget ?? { perHour: 0, perDay: 0 }
    const free = Math.max(0, Math.min(left(perHour, known.inHour), left(perDay, known.inDay)))
    const taken = Math.min(free, ofProject.length)
    admitted.push(...ofProject.slice(0, taken))
    const others = ofProject.slice(taken)
    if (others.length > 0) overflow.push(overflowOf(others))
    numbers.set(row.id, { ...known, inHour: known.inHour + taken, inDay: known.inDay + taken })
  }
  return { admitted, overflow, numbers }
}

const left = (budget: number, used: number): number => (budget === 0 ? Infinity : budget - used)

export const OVERFLOW_TITLE = 'Too many new issues'
const OVERFLOW_CULPRIT = 'events of unknown kinds, beyond the budget of new issues'
const OVERFLOW_HASH = createHash('sha256').update('faultline: events beyond the budget of new issues').digest()

/** Events of several fingerprints as those of the one that collects them. */
function overflowOf(fingerprints: readonly SameFingerprint[]): Overflow {
  const originals = fingerprints.flatMap((one) => one.occurrences)
  const occurrences = originals.map(collected)
  const [first] = occurrences
  if (first === undefined) throw new Error('no events of a fingerprint')
  const { projectId } = first.event
  return {
    key: projectId + OVERFLOW_HASH.toString('base64'),
    projectId,
    orgId: first.orgId,
    first,
    occurrences,
    originals,
  }
}

const collected = (one: Occurrence): Occurrence => ({
  ...one,
  fingerprint: {
    version: one.fingerprint.version,
    hash: OVERFLOW_HASH,
    parts: [{ variant: 'new_issue_budget', values: [] }],
  },
  formerHash: null,
  title: OVERFLOW_TITLE,
  culprit: OVERFLOW_CULPRIT,
  errorType: null,
  errorValue: null,
  ownershipMatches: null,
})

type NewIssueToAssign = {
  readonly issueId: string
  readonly projectId: string
  readonly orgId: string
  readonly ownershipMatches: LazyMatches | null
}

/**
 * Assigns new issues by the ownership rules of their projects: two statements for each batch, none without rules. Returns
 * the facts.
 */
async function assignNewIssues(tx: Tx, issues: readonly NewIssueToAssign[]): Promise<Fact[]> {
  const asked = issues.flatMap(({ ownershipMatches, ...issue }) => {
    const candidates = ownershipMatches?.() ?? []
    return candidates.length === 0 ? [] : [{ ...issue, candidates }]
  })
  if (asked.length === 0) return []
  const named = new Set(asked.flatMap(({ candidates }) => candidates.flatMap(({ rule }) => rule.user_id ?? [])))
  const members = await lockMembers(tx, [...named].sort())
  const owned = asked.flatMap(({ issueId, projectId, orgId, candidates }) => {
    const decided = decidingMatch(candidates, members.get(orgId) ?? new Map())
    if (decided === null) return []
    const { user_id: userId, team } = decided.rule
    const name = userId === null ? `the team ${team}` : (members.get(orgId)?.get(userId) ?? '')
    return [{ issueId, projectId, orgId, userId, team, name, decided }]
  })
  if (owned.length === 0) return []
  await setAssignees(tx, owned)
  return owned.map(({ issueId, projectId, orgId, userId, team, name, decided }): Fact => {
    const rule = `by the ownership rule ${ruleLabel(decided.rule)}.`
    return {
      kind: 'issue.assigned',
      orgId,
      projectId,
      issueId,
      userIds: userId === null ? [] : [userId],
      sentence: `Assigned to ${name} ${rule}`,
      notice: `A new issue was assigned to you ${rule}`,
      // Without the matched text, which may be personal data: it would survive an erasure.
      data: { from: null, to: userId, team, automatic: true },
    }
  })
}

/** Finds the groups of fingerprints. The caller holds the lock of the relation of their projects. */

/**
 * Returns the groups of fingerprints, by key; a fingerprint without a group is missing. Reads those that the cache lacks.
 * While a project changes its grouping version, links new fingerprints to the groups of the former ones.
 */
async function findGroups(
  tx: Tx,
  now: Date,
  fingerprints: readonly SameFingerprint[],
  cache: GroupCacheStep,
): Promise<Map<string, KnownGroup>> {
  const groups = new Map<string, KnownGroup>()
  const unknown: SameFingerprint[] = []
  for (const one of fingerprints) {
    const group = cache.get(one)
    if (group === undefined) unknown.push(one)
    else groups.set(one.key, group)
  }
  if (unknown.length === 0) return groups
  const found = await sql.groupsByFingerprint(tx, unknown.flatMap(keysOf))
  const links: (sql.NewFingerprint & KnownGroup)[] = []
  for (const one of unknown) {
    const own = found.get(one.key)
    const group = own ?? formerKeysOf(one).flatMap((key) => found.get(keyText(key)) ?? [])[0]
    if (group === undefined) continue
    groups.set(one.key, group)
    cache.add(one, group)
    if (own === undefined) links.push({ projectId: one.projectId, ...one.first.fingerprint, ...group })
  }
  sql.insertFingerprints(tx, now, links)
  return groups
}

const keyText = ({ projectId, hash }: FingerprintKey): string => projectId + hash.toString('base64')

/** The fingerprint, and while the project changes its grouping version, the former fingerprints of its events. */
const keysOf = (one: SameFingerprint): FingerprintKey[] => [
  { projectId: one.projectId, hash: one.first.fingerprint.hash },
  ...formerKeysOf(one),
]

function formerKeysOf({ projectId, occurrences }: SameFingerprint): FingerprintKey[] {
  const hashes = new Map<string, Buffer>()
  for (const { formerHash } of occurrences)
    if (formerHash !== null) hashes.set(formerHash.toString('base64'), formerHash)
  return [...hashes.values()].map((hash) => ({ projectId, hash }))
}

/** Returns events whose fingerprint was discarded after they were prepared, or under the previous grouping version. */
async function findDiscardedEvents(tx: Tx, fingerprints: readonly SameFingerprint[]): Promise<ReadonlySet<Occurrence>> {
  const discarded = new Set<Occurrence>()
  if (fingerprints.length === 0) return discarded
  const found = await findDiscarded(tx, fingerprints.flatMap(keysOf))
  if (found.size === 0) return discarded
  const links: Parameters<typeof linkDiscarded>[1][number][] = []
  for (const one of fingerprints) {
    const discardId = keysOf(one).flatMap((key) => found.get(keyText(key)) ?? [])[0]
    if (discardId === undefined) continue
    for (const occurrence of one.occurrences) discarded.add(occurrence)
    if (!found.has(one.key)) links.push({ projectId: one.projectId, discardId, ...one.first.fingerprint })
  }
  await linkDiscarded(tx, links)
  return discarded
}

/** Records the hours with security events of a batch. Their facts are recorded by the fold. */
function recordSecurityHours(tx: Tx, grouped: readonly GroupedEvents[]): void {
  const hours = new Map<string, SecurityHour>()
  for (const group of grouped)
    for (const { securityKind: kind, event } of group.occurrences) {
      if (kind === null) continue
      const hour = Math.floor(event.occurredAt.getTime() / HOUR_MS) * HOUR_MS
      hours.set(`${group.projectId}/${hour}/${group.groupId}/${SECURITY_KINDS.indexOf(kind)}`, {
        projectId: group.projectId,
        groupId: group.groupId,
        kind,
        hour: new Date(hour),
        at: event.occurredAt,
      })
    }
  if (hours.size === 0) return
  insertHours(
    tx,
    [...hours].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row),
  )
}
