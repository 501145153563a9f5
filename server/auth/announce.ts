import { CompiledQuery } from 'kysely'
import { notification } from '../storage/bus.ts'
import type { Tx } from '../storage/pool.ts'

/** Tells every process once the transaction commits, and nobody when it does not. */
export async function announce(tx: Tx, topic: string, payload: unknown): Promise<void> {
  const [text, values] = notification(topic, payload)
  await tx.executeQuery(CompiledQuery.raw(text, values))
}
