import type { AuditKey } from '../../platform/context/audit-key.ts'
import type { Deferred, Tx } from '../../platform/storage/database.ts'
import { insertEntries, lockHeads, selectNewest, type Head, type LockedHead } from './append.queries.ts'
import { hashEntry, NO_HASH, type ChainedEntry, type NewEntry } from './entry.ts'

/**
 * Adds entries to the chains of their organisations when the transaction commits. The chains are locked then, and
 * briefly: no other work waits for a lock while this transaction holds one of them.
 */
export function addEntries(tx: Tx, key: AuditKey, entries: readonly NewEntry[]): void {
  const work = works.get(key) ?? chainWith(key)
  works.set(key, work)
  tx.defer(work, entries)
}

/** One function per key: what a transaction defers to the same function runs once. */
const works = new WeakMap<AuditKey, Deferred<NewEntry>>()

const chainWith =
  (key: AuditKey): Deferred<NewEntry> =>
  async (tx, entries) => {
    const orgIds = [...new Set(entries.map((entry) => entry.org_id))].sort()
    const empty = orgIds.map((orgId) => headAt(key, { org_id: orgId, seq: 0, hash: NO_HASH }, true))
    const chains = new Map<string, Chain>()
    for (const head of await lockHeads(tx, empty)) chains.set(head.org_id, await chainOf(tx, key, head))
    const added = entries.map((entry): ChainedEntry => {
      const chain = chains.get(entry.org_id)
      if (chain === undefined) throw new Error('An audit chain has no head although it was just locked.')
      const placed = { ...entry, seq: chain.head.seq + 1, prev_hash: chain.head.hash }
      const hash = hashEntry(placed)
      chain.head = headAt(key, { org_id: entry.org_id, seq: placed.seq, hash }, chain.isWhole)
      return { ...placed, hash, mac: chain.isWhole ? entryMac(key, hash) : NO_MAC }
    })
    await insertEntries(
      tx,
      added,
      [...chains.values()].map(({ head }) => head),
    )
  }

type Chain = { head: Head; readonly isWhole: boolean }

/**
 * Where a chain continues. When its head was removed or changed in the database, that is behind its newest entry:
 * members can still work, and verification finds the place, because what follows is not whole.
 */
async function chainOf(tx: Tx, key: AuditKey, { newest_seq, ...head }: LockedHead): Promise<Chain> {
  if (headMac(key, head).equals(head.mac) && (newest_seq ?? 0) <= head.seq) return { head, isWhole: true }
  const newest = (await selectNewest(tx, head.org_id)) ?? { seq: 0, hash: NO_HASH }
  return { head: headAt(key, { org_id: head.org_id, ...newest }, false), isWhole: false }
}

/**
 * The code of an entry behind a head that was changed in the database. With a valid one the next entry would heal the
 * chain, and the removal of the newest entries would not be found.
 */
const NO_MAC: Buffer = Buffer.alloc(32)

export const entryMac = (key: AuditKey, hash: Buffer): Buffer => key.mac('entry', hash)

export const headMac = (key: AuditKey, { org_id, seq, hash }: Omit<Head, 'mac'>): Buffer =>
  key.mac('head', org_id, String(seq), hash)

const headAt = (key: AuditKey, head: Omit<Head, 'mac'>, isWhole: boolean): Head => ({
  ...head,
  mac: isWhole ? headMac(key, head) : NO_MAC,
})
