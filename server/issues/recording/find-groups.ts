import { findDiscarded, linkDiscarded, type FingerprintKey } from '../merging/discards.queries.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { GroupCacheStep } from './group-cache.ts'
import type { KnownGroup, Occurrence, SameFingerprint } from './occurrence.ts'
import * as sql from './record.queries.ts'

/** Finds the groups of fingerprints. The caller holds the lock of the relation of their projects. */

/**
 * Returns the groups of fingerprints, by key; a fingerprint without a group is missing. Reads those that the cache lacks.
 * While a project changes its grouping version, links new fingerprints to the groups of the former ones.
 */
export async function findGroups(
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
  await sql.insertFingerprints(tx, now, links)
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
export async function findDiscardedEvents(
  tx: Tx,
  fingerprints: readonly SameFingerprint[],
): Promise<ReadonlySet<Occurrence>> {
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
