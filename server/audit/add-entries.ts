import type { Tx } from '../storage/database.ts'
import { insertEntries, lockHeads } from './append.queries.ts'
import { chained, NO_HASH, type ChainedEntry, type NewEntry } from './entry.ts'

/**
 * Adds entries to the chains of their organisations when the transaction commits. The chains are locked then, and
 * briefly: no other work waits for a lock while this transaction holds one of them.
 */
export function addEntries(tx: Tx, entries: readonly NewEntry[]): void {
  tx.defer(chainEntries, entries)
}

async function chainEntries(tx: Tx, entries: readonly NewEntry[]): Promise<void> {
  const orgIds = [...new Set(entries.map((entry) => entry.org_id))].sort()
  const heads = new Map((await lockHeads(tx, orgIds, NO_HASH)).map((head) => [head.org_id, head]))
  const added = entries.map((entry): ChainedEntry => {
    const head = heads.get(entry.org_id)
    if (head === undefined) throw new Error('An audit chain has no head although it was just locked.')
    const next = chained(entry, head)
    heads.set(entry.org_id, next)
    return next
  })
  await insertEntries(tx, added, [...heads.values()])
}
