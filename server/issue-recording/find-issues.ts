import { findDiscarded, linkDiscarded } from '../issue-merging/discards.queries.ts'
import type { Tx } from '../storage/database.ts'
import type { Group, Occurrence } from './occurrence.ts'
import * as sql from './record.queries.ts'

/** From fingerprints to the issues they lead to. */

export const fingerprintOf = (group: Group) => firstOf(group).fingerprint

export function firstOf(group: Group): Occurrence {
  const [first] = group.occurrences
  if (first === undefined) throw new Error('a group without occurrences')
  return first
}

/** A fingerprint is asked for anew as often as somebody merges its issue meanwhile. */
const MAX_LOOKS = 5

/** The issues fingerprints lead to, locked; those that lead to none keep no issue. */
export async function findIssues(tx: Tx, now: Date, groups: readonly Group[]): Promise<void> {
  let due = groups
  for (let look = 0; due.length > 0; look++) {
    if (look === MAX_LOOKS) throw new Error('issues are merged faster than events can be filed')
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
      // Which issue a fingerprint leads to may have changed before its lock was had: asked again under that lock.
      if (row.isHidden || (row.sourceId !== row.issueId && !isSame)) unsure.push(group)
      else if (own === undefined) links.push(group)
    }
    // The project transitions from the version before: from now on the issue is found by the new hash alone.
    if (links.length > 0) await sql.insertFingerprints(tx, now, links.map(fingerprintRow))
    due = unsure
  }
}

const keyText = ({ projectId, hash }: sql.FingerprintKey): string => projectId + hash.toString('base64')

/** Its hash, and while the project transitions to another version those its events would have had before. */
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

/** Events of fingerprints that were discarded since they were prepared, or under the version before. */
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
