import { countEvents } from '../../telemetry/app-health/record-events.ts'
import { learnDevices } from '../../telemetry/app-health/record-sessions.ts'
import type { FactContext } from '../../platform/context/fact-context.ts'
import { insertEvents, findStored } from '../../events/store/store.queries.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { linkWaitingFeedback } from '../feedback/record-feedback.ts'
import { EVENT_SEVERITY } from '../rules/severity.ts'
import { writeIndexTerms } from '../search/write-index-terms.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import { newId } from '../../platform/kernel/ids.ts'
import {
  ACCEPTED,
  DISCARDED_ISSUE,
  DUPLICATE,
  type FactInContext,
  type ItemOutcome,
} from '../../events/items/recorder.ts'
import { type IssueNumbers, writeIssueNumbers } from '../../projects/registry/recording.queries.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { admitNewIssues } from './admit-new-issues.ts'
import { assignNewIssues } from './assign-new-issues.ts'
import { findDiscardedEvents, findGroups } from './find-groups.ts'
import type { GroupCacheStep } from './group-cache.ts'
import { firstCounts, type FoldedSums, sumGroupedEvents } from './group-sums.ts'
import { type Counting, FOLD_AT_ONCE } from './journal.ts'
import {
  type GroupedEvents,
  type KnownGroup,
  newestOccurrence,
  type Occurrence,
  oldestOccurrence,
  type SameFingerprint,
} from './occurrence.ts'
import * as sql from './record.queries.ts'
import { recordSecurityHours } from './record-security-hours.ts'

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
  const fresh = await withoutDuplicates(tx, now, facts)
  if (fresh.size === 0) return facts.map(() => DUPLICATE)
  const fingerprints = byFingerprint(fresh)
  const cache = await counting.lockRelation(tx, new Set(fingerprints.map(({ projectId }) => projectId)))
  const known = await findGroups(tx, now, fingerprints, cache)
  const unknown = fingerprints.filter(({ key }) => !known.has(key))
  const discarded = new Set(await findDiscardedEvents(tx, unknown))
  const { admitted, overflow, numbers } = await admitNewIssues(
    tx,
    now,
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
    now,
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
  await countHealth(
    tx,
    now,
    grouped.flatMap(({ occurrences }) => occurrences),
  )
  await linkWaitingFeedback(
    tx,
    [...fresh].map(({ event }) => event),
  )
  await recordSecurityHours(tx, grouped)
  await counting.count(
    tx,
    context,
    grouped.map((one) => sumsOfNew.get(one.key) ?? sumGroupedEvents(one)),
    factsOfNew,
  )
  return facts.map(({ fact }) => (fresh.has(fact) ? (discarded.has(fact) ? DISCARDED_ISSUE : ACCEPTED) : DUPLICATE))
}

/** Counts stored events by release, environment and device, and remembers the devices of their users. */
async function countHealth(tx: Tx, now: Date, stored: readonly Occurrence[]): Promise<void> {
  await countEvents(
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
  await learnDevices(
    tx,
    now,
    stored.flatMap(({ event: { projectId, userHash }, device, namesDevice }) =>
      userHash !== null && namesDevice ? [{ projectId, userHash, device }] : [],
    ),
  )
}

async function withoutDuplicates(
  tx: Tx,
  now: Date,
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
    utcDay(now),
  )
  for (const key of stored) first.delete(key)
  return new Set(first.values())
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
  now: Date,
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
  await writeIssueNumbers(
    tx,
    [...numbers.values()].map((row) => ({ ...row, number: last.get(row.id) ?? row.number })),
  )
  await sql.insertIssues(
    tx,
    now,
    rows.map(({ newest: { platform }, ...row }) => ({ ...row, platform })),
  )
  await sql.insertFingerprints(
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
    const { release, eventId } = oldestOccurrence(occurrences).event
    return {
      kind: 'issue.created',
      orgId,
      projectId,
      issueId: id,
      sentence: `First event${release === null ? '' : ` in ${release}`}.`,
      data: { event_id: eventId },
    }
  })
  const sums = new Map(rows.map((row): [string, FoldedSums] => [row.key, { ...row.sums, isNew: true }]))
  return { groups, sums, facts: [...facts, ...assigned] }
}
