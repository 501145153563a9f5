import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { ratio } from './figures.ts'
import type { ListInput } from './list-screens.ts'
import type { Transaction } from './performance.api.ts'
import { measureMinutes, prepareQuestion, type Question } from './question.ts'
import { nameAndOpKey, readPerformanceBy, spreadIn, type NamedPerformance } from './read-performance.ts'
import { pageOfRows, sortRows } from './sort-rows.ts'

const METRICS = ['duration'] as const

/** A page of the transactions and segments of a project. @throws AppError not_found */
export async function listTransactions(app: App, actor: OrgActor, input: ListInput) {
  const question = await prepareQuestion(app, actor, input)
  const found = await readPerformanceBy(app.db, { ...question.now, metrics: METRICS }, 'name')
  const sorted = sortRows(found, input.sort, ({ name, op, metrics }) => {
    const { p50, p75, p95, count, sum: total, failures } = spreadIn(metrics, 'duration')
    return { name, op, p50, p75, p95, count, total, failures }
  })
  const page = pageOfRows(sorted, input)
  return { ...page, items: await describeTransactions(app, question, page.items), range: input.range }
}

/** Transactions as the API returns them, compared with the range before. */
export async function describeTransactions(
  app: App,
  question: Question,
  found: readonly NamedPerformance[],
): Promise<Transaction[]> {
  if (found.length === 0) return []
  const { before } = question
  const filter = { ...before.filter, names: found }
  const earlier = await readPerformanceBy(app.db, { ...before, filter, metrics: METRICS }, 'name')
  const byName = new Map(earlier.map((one) => [nameAndOpKey(one), one.metrics]))
  const { now: minutes } = measureMinutes(app.clock.now(), question)
  return found.map((one) => {
    const { p50, p75, p95, count, sum, failures } = spreadIn(one.metrics, 'duration')
    const previous = spreadIn(byName.get(nameAndOpKey(one)), 'duration')
    return {
      name: one.name,
      op: one.op,
      count,
      p50,
      p75,
      p95,
      total_ms: sum,
      throughput: count / minutes,
      failures,
      failure_rate: ratio(failures, count),
      previous_p75: previous.p75,
      previous_count: previous.count,
    }
  })
}
