import { findDiscarded, linkDiscarded } from '../issue-merging/discards.queries.ts'
import type { Tx } from '../storage/database.ts'
import type { Group, Occurrence } from './occurrence.ts'
import * as sql from './record.queries.ts'

/** Finds the issues of fingerprints. */

export const fingerprintOf = (group: Group) => firstOf(group).fingerprint

export function firstOf(group: Group): Occurrence {
  const [first] = group.occurrences
  if (first === undefined) throw new Error('a group without occurrences')
  return first
}

/** A fingerprint is looked up again when its issue is merged before it is locked. */
const MAX_ATTEMPTS = 5

/** Finds and locks the issues of fingerprints. A group without an issue keeps an empty `issueId`. */
export async function findIssues(tx: Tx, now: Date, groups: readonly Group[]): Promise<void> {
  let due = groups
  for (let attempt = 0; due.length > 0; attempt++) {
    if (attempt === MAX_ATTEMPTS) throw new Error('issues are merged faster than events can be recorded')
    const found = await sql.lockIssuesByFingerprint(tx, due.flatMap(keysOf))
    const links: Group[] = []
    const unsure: Group[] = []
    for (const group of due) {
      const own = found.get(group.key)
      const row = own ?? formerKeysOf(group).flatMap((key) => found.get(keyText(key)) ?? [])[0]
      const isSame = group.issueId === row?.issueId && group.sourceId === row.sourceId
      group.issueId = row?.issueId ?? ''
      group.sourceId = row?.sourceId ?? ''
      if (row === undefined) continue
      group.isMerged = row.isMerged
      group.life = row.life
      group.impact = row.impact
      group.limit = row.limit
      // The issue of the fingerprint may have changed before it was locked: look it up again under that lock.
      if (row.isHidden || (row.sourceId !== row.issueId && !isSame)) unsure.push(group)
      else if (own === undefined) links.push(group)
    }
    // The project changes its grouping version: from now on the new hash leads to the issue.
    if (links.length > 0) await sql.insertFingerprints(tx, now, links.map(fingerprintRow))
    due = unsure
  }
}

const keyText = ({ projectId, hash }: sql.FingerprintKey): string => projectId + hash.toString('base64')

/** The hash of a group, and while the project changes its grouping version, the former hashes of its events. */
const keysOf = (group: Group): sql.FingerprintKey[] => [
  { projectId: group.projectId, hash: fingerprintOf(group).hash },
  ...formerKeysOf(group),
]

function formerKeysOf({ projectId, occurrences }: Group): sql.FingerprintKey[] {
  const hashes = new Map<string, Buffer>()
  for (const { formerHash } of occurrences)
    if (formerHash !== null) hashes.set(formerHash.toString('base64'), formerHash)
  return [...hashes.values()].map((hash) => ({ projectId, hash }))
}

export const fingerprintRow = (group: Group) => ({
  projectId: group.projectId,
  issueId: group.issueId,
  sourceId: group.sourceId,
  ...fingerprintOf(group),
})

/** Events whose fingerprint was discarded after they were prepared, or under the previous grouping version. */
export async function dropDiscarded(tx: Tx, groups: readonly Group[]): Promise<ReadonlySet<Occurrence>> {
  const dropped = new Set<Occurrence>()
  if (groups.length === 0) return dropped
  const found = await findDiscarded(tx, groups.flatMap(keysOf))
  if (found.size === 0) return dropped
  const links: Parameters<typeof linkDiscarded>[1][number][] = []
  for (const group of groups) {
    const discardId = keysOf(group).flatMap((key) => found.get(keyText(key)) ?? [])[0]
    if (discardId === undefined) continue
    for (const one of group.occurrences) dropped.add(one)
    if (!found.has(group.key)) links.push({ projectId: group.projectId, discardId, ...fingerprintOf(group) })
  }
  await linkDiscarded(tx, links)
  return dropped
}
