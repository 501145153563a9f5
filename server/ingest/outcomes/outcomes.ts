import type { Tx } from '../../platform/storage/database.ts'
import { addOutcomes } from './outcomes.queries.ts'
import type { Category } from '../../events/protocol/envelope.ts'
import type { Outcome } from '../../events/items/recorder.ts'
import { HOUR_MS } from '../../platform/kernel/day.ts'

export type OutcomeFact = {
  readonly projectId: string
  readonly keyId: string
  readonly receivedAt: Date
  readonly category: Category
  readonly outcome: Outcome
  /** Machine-readable, such as `too_many_nodes`; empty without one. */
  readonly reason: string
  readonly quantity: number
}

/** Sums facts by hour of receipt, so that a batch writes one row per kind instead of one per item. */
export class OutcomeSums {
  readonly #sums = new Map<string, { fact: OutcomeFact; hour: number; quantity: number }>()

  /** A fact with quantity 0 is counted with another one. */
  add(fact: OutcomeFact): void {
    if (fact.quantity === 0) return
    const hour = Math.floor(fact.receivedAt.getTime() / HOUR_MS) * HOUR_MS
    const key = `${fact.projectId}/${fact.keyId}/${hour}/${fact.category}/${fact.outcome}/${fact.reason}`
    const sum = this.#sums.get(key)
    if (sum === undefined) this.#sums.set(key, { fact, hour, quantity: fact.quantity })
    else sum.quantity += fact.quantity
  }

  get size(): number {
    return this.#sums.size
  }

  /** Writes the sums; they are kept until {@link clear}. */
  async write(tx: Tx): Promise<void> {
    // In a fixed order, so that two writers cannot deadlock.
    const rows = [...this.#sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
    if (rows.length === 0) return
    await addOutcomes(
      tx,
      rows.map(({ fact, hour, quantity }) => ({ ...fact, hour: new Date(hour), quantity })),
    )
  }

  clear(): void {
    this.#sums.clear()
  }
}
