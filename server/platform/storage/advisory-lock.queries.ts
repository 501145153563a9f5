import type { Tx } from './database.ts'

/** Waits until no other transaction holds the lock, and holds it until this one ends. */
export async function lockUntilEnd(tx: Tx, lock: number): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [lock])
}

/** As {@link lockUntilEnd}, but together with others who share it. */
export async function shareLockUntilEnd(tx: Tx, lock: number): Promise<void> {
  await tx.query('select pg_advisory_xact_lock_shared($1)', [lock])
}
