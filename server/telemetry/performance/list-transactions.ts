import { MIN_VALUES } from '#shared/rate-words.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { growth, ratio } from './figures.ts'
import type { ListInput } from './list-screens.ts'
import type { Transaction } from './performance.api.ts'
import { measureMinutes, prepareQuestion, type Question } from './question.ts'
import { comparedReleases, type ComparedReleases } from './rate-screens.ts'
import {
  nameAndOpKey,
  readNamesOfReleases,
  readPerformanceBy,
  spreadIn,
  type MetricSpread,
  type NamedPerformance,
} from './read-performance.ts'
import { pageOfRows, sortRows } from './sort-rows.ts'

const METRICS = ['duration'] as const

/** A page of the transactions and segments of a project. @throws AppError not_found */
export async function listTransactions(app: App, actor: OrgActor, input: ListInput) {
  const question = await prepareQuestion(app, actor, input)
  const [found, releases] = await Promise.all([
    readPerformanceBy(app.db, { ...question.now, metrics: METRICS }, 'name'),
    comparedReleases(app, question),
  ])
  const sorted = sortRows(found, input.sort, ({ name, op, metrics }) => {
    const { p50, p75, p95, count, sum: total, failures } = spreadIn(metrics, 'duration')
    return { name, op, p50, p75, p95, count, total, failures }
  })
  const page = pageOfRows(sorted, input)
  const items = await describeTransactions(app, question, page.items, releases)
  return { ...page, items, range: input.range, releases }
}

/** Transactions as the API returns them, compared with the range before, and with the release before. */
export async function describeTransactions(
  app: App,
  question: Question,
  found: readonly NamedPerformance[],
  releases: ComparedReleases | null,
): Promise<Transaction[]> {
  if (found.length === 0) return []
  const { now, before } = question
  const filter = { ...before.filter, names: found }
  const ofReleases = async () => {
    if (releases === null) return new Map<string, NamedPerformance[]>()
    const release = [releases.release, releases.previous]
    return readNamesOfReleases(app.db, { ...now, filter: { ...filter, release }, metrics: METRICS })
  }
  const [earlier, compared] = await Promise.all([
    readPerformanceBy(app.db, { ...before, filter, metrics: METRICS }, 'name'),
    ofReleases(),
  ])
  const durationsByName = (some: readonly NamedPerformance[] = []) =>
    new Map(some.map((one) => [nameAndOpKey(one), spreadIn(one.metrics, 'duration')]))
  const earlierOf = durationsByName(earlier)
  const ofRelease = durationsByName(compared.get(releases?.release ?? ''))
  const ofPrevious = durationsByName(compared.get(releases?.previous ?? ''))
  const { now: minutes } = measureMinutes(app.clock.now(), question)
  return found.map((one) => {
    const { p50, p75, p95, count, sum, failures } = spreadIn(one.metrics, 'duration')
    const key = nameAndOpKey(one)
    const previous = earlierOf.get(key)
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
      previous_p75: previous?.p75 ?? null,
      previous_count: previous?.count ?? 0,
      compared: releases === null ? null : compare(ofRelease.get(key), ofPrevious.get(key)),
    }
  })
}

function compare(
  release: MetricSpread | undefined,
  previous: MetricSpread | undefined,
): NonNullable<Transaction['compared']> {
  const figuresOf = (spread: MetricSpread | undefined) => ({
    p95: spread?.p95 ?? null,
    rate: ratio(spread?.failures ?? 0, spread?.count ?? 0),
    count: spread?.count ?? 0,
  })
  const [now, was] = [figuresOf(release), figuresOf(previous)]
  const isEnough = Math.min(now.count, was.count) >= MIN_VALUES
  return {
    release_p95_ms: now.p95,
    release_failure_rate: now.rate,
    release_count: now.count,
    previous_p95_ms: was.p95,
    previous_failure_rate: was.rate,
    previous_count: was.count,
    p95_change: isEnough ? growth(was.p95, now.p95) : null,
    failure_rate_change: isEnough && now.rate !== null && was.rate !== null ? now.rate - was.rate : null,
  }
}
