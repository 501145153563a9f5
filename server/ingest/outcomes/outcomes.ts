import type { Tx } from '../../platform/storage/database.ts'
import { addOutcomes, addLosses, addCostlyRules, type CostlyRuleRow } from './outcomes.queries.ts'
import type { Category } from '../../events/protocol/envelope.ts'
import type { Outcome, Recorder } from '../../events/items/recorder.ts'
import { HOUR_MS } from '../../platform/kernel/day.ts'
import type { ClientLoss } from '../../events/protocol/client-report.ts'
import type { CostlyRule } from '../../events/protocol/rule-budget.ts'

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
  write(tx: Tx): void {
    // In a fixed order, so that two writers cannot deadlock.
    const rows = [...this.#sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
    if (rows.length === 0) return
    addOutcomes(
      tx,
      rows.map(({ fact, hour, quantity }) => ({ ...fact, hour: new Date(hour), quantity })),
    )
  }

  clear(): void {
    this.#sums.clear()
  }
}

/** Sums by hour of receipt: the client's clock is not reliable. */
export const recordClientLosses: Recorder<readonly ClientLoss[]> = async (client, _context, facts) => {
  await addLosses(
    client,
    facts.flatMap(({ fact, context: { projectId, receivedAt } }) => {
      const hour = new Date(Math.floor(receivedAt.getTime() / HOUR_MS) * HOUR_MS)
      return fact.map((loss) => ({ ...loss, projectId, hour }))
    }),
  )
  return null
}

/** Notes on requests of which a scrubbing rule replaced texts unsearched, by hour of receipt. */
export const recordCostlyRules: Recorder<readonly CostlyRule[]> = async (tx, { at }, facts) => {
  const sums = new Map<string, CostlyRuleRow>()
  for (const { fact, context } of facts) {
    const hour = new Date(Math.floor(context.receivedAt.getTime() / HOUR_MS) * HOUR_MS)
    for (const { path, regex, texts } of fact) {
      const key = JSON.stringify([context.projectId, hour, path, regex])
      const sum = sums.get(key)
      if (sum === undefined)
        sums.set(key, { projectId: context.projectId, hour, path, regex, requests: 1, texts, lastAt: at })
      else {
        sum.requests++
        sum.texts += texts
      }
    }
  }
  // In a fixed order, so that two writers cannot deadlock.
  await addCostlyRules(
    tx,
    [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row),
  )
  return null
}
