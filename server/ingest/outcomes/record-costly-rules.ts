import type { CostlyRule } from '../../events/protocol/rule-budget.ts'
import { addCostlyRules, type CostlyRuleRow } from './costly-rules.queries.ts'
import type { Recorder } from '../../events/items/recorder.ts'
import { HOUR_MS } from '../../platform/kernel/day.ts'

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
