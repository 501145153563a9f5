import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { coarsen } from './coarsen.ts'
import { ratio, RENDER, requestFigures, toHistogram, toQuantiles } from './figures.ts'
import { measureMinutes, prepareQuestion, type Filters } from './question.ts'
import {
  readMetricsSeries,
  readPerformanceBy,
  readPerformanceTotals,
  readTotalsOfBoth,
  spreadIn,
  type NamedPerformance,
} from './read-performance.ts'
import { readUsers } from './read.queries.ts'

const METRICS = ['duration'] as const
const MAX_PARTS = 25

/** A transaction as a call asks for it. */
export type TransactionInput = Omit<Filters, 'device'> & { readonly name: string; readonly op?: string | undefined }

/**
 * The figures of one transaction: over time, their spread, and by the attributes that are counted.
 * @throws AppError not_found where it did not run in the range, or for another organisation's project
 */
export async function readTransactionFigures(app: App, actor: OrgActor, input: TransactionInput) {
  const question = await prepareQuestion(app, actor, input)
  const { time, now, before } = question
  const ops = input.op === undefined ? undefined : [input.op]
  const named = await readPerformanceBy(app.db, { ...now, filter: { ...now.filter, ops }, metrics: METRICS }, 'name')
  const [found] = named.toSorted((a, b) => durationsOf(b).count - durationsOf(a).count)
  if (found === undefined || durationsOf(found).count === 0) throw notFound('Transaction')
  const { name: _, ...filters } = now.filter
  const filter = { ...filters, names: [found] }
  const own = { ...now, filter, metrics: METRICS }
  const [[totals, earlier], [users = null, usersBefore = null], all, series, byRelease, byEnvironment, byOs, byClass] =
    await Promise.all([
      readTotalsOfBoth(app.db, own, before),
      readUsers(app.db, own, [before]),
      readPerformanceTotals(app.db, { ...now, filter: filters, metrics: METRICS }),
      readMetricsSeries(app.db, { ...own, intervalMs: time.stepSeconds * 1_000 }),
      readPerformanceBy(app.db, own, 'release'),
      readPerformanceBy(app.db, own, 'environment'),
      readPerformanceBy(app.db, own, 'os'),
      readPerformanceBy(app.db, own, 'device_class'),
    ])
  const durations = spreadIn(totals, 'duration')
  const coarse = coarsen(series.map(({ metrics }) => spreadIn(metrics, 'duration')))
  return {
    name: found.name,
    op: found.op,
    range: input.range,
    from: now.from,
    to: now.to,
    interval_seconds: time.stepSeconds,
    percentile_seconds: coarse.factor * time.stepSeconds,
    ...requestFigures(durations, spreadIn(earlier, 'duration'), measureMinutes(app.clock.now(), question)),
    users,
    previous_users: usersBefore,
    share_of_time: ratio(durations.sum, spreadIn(all, 'duration').sum),
    spread: toHistogram(durations.sketch, { binMs: binFor(durations.p95), bins: RENDER.bins }),
    series: series.map(({ t, metrics }, index) => {
      const { count, failures } = spreadIn(metrics, 'duration')
      return {
        t: t.toISOString(),
        ...toQuantiles(coarse.points[index] ?? spreadIn(metrics, 'duration')),
        failure_rate: ratio(failures, count),
        ...(index === series.length - 1 && { incomplete: true as const }),
      }
    }),
    by_release: partsOf(byRelease),
    by_environment: partsOf(byEnvironment),
    by_os: partsOf(byOs),
    by_device_class: partsOf(byClass),
  }
}

const durationsOf = ({ metrics }: NamedPerformance) => spreadIn(metrics, 'duration')

/** Bins of 1, 2 or 5 with zeros, so that the histogram ends above the P95. */
function binFor(p95: number | null): number {
  const wanted = ((p95 ?? 0) * 1.2) / RENDER.bins
  const power = 10 ** Math.floor(Math.log10(Math.max(wanted, 1)))
  return [1, 2, 5, 10].map((factor) => factor * power).find((bin) => bin >= wanted) ?? 1
}

/** Most requests first. */
const partsOf = (found: readonly NamedPerformance[]) =>
  found
    .map((one) => {
      const { count, failures } = durationsOf(one)
      return { name: one.name, ...toQuantiles(durationsOf(one)), failures, failure_rate: ratio(failures, count) }
    })
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_PARTS)
