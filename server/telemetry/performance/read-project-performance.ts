import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Metric } from '../../events/protocol/span-values.ts'
import {
  COLD,
  drainFigures,
  toQuantiles,
  ratio,
  requestFigures,
  startFigures,
  vitalFigures,
  wakeLockFigures,
  WARM,
  wholeSum,
} from './figures.ts'
import { coarsen, type Coarse } from './coarsen.ts'
import { describeTransactions } from './list-transactions.ts'
import { judgeRequests, NO_LIMITS, readRequestLimits } from './judge-requests.ts'
import { sortScreens } from './list-screens.ts'
import type { Performance, Point, Vital } from './performance.api.ts'
import { measureMinutes, prepareQuestion, type Filters, type Question } from './question.ts'
import {
  describeScreens,
  framesIn,
  rateScreens,
  RENDER_METRICS,
  SCREEN_OPS,
  comparedReleases,
  type ComparedReleases,
} from './rate-screens.ts'
import {
  chooseGrain,
  readMetricsSeries,
  readPerformanceBy,
  readPerformanceByName,
  readTotalsOfBoth,
  spreadIn,
  type Metrics,
  type NamedPerformance,
} from './read-performance.ts'
import { topNames, type SplitKey, issuesOfFingerprints, type LinkedIssue } from './read.queries.ts'
import type { Connection } from '../../platform/storage/database.ts'

const IN_TOTALS = [
  'duration',
  'app_start_cold',
  'app_start_warm',
  'ttid',
  'ttfd',
  'frames_total',
  'frames_slow',
  'frames_frozen',
  'stall_count',
  'stall_total_time',
  'stall_longest_time',
  'stall_duration',
  'lcp',
  'inp',
  'cls',
  'fcp',
  'ttfb',
  'anr',
  'battery_drain',
  'low_memory',
  'thermal_serious',
  'thermal_critical',
  'wake_lock',
] as const satisfies readonly Metric[]
const NOT_IN_SERIES: ReadonlySet<Metric> = new Set([
  'stall_count',
  'stall_total_time',
  'stall_longest_time',
  'stall_duration',
  'wake_lock',
])
const IN_SERIES = IN_TOTALS.filter((metric) => !NOT_IN_SERIES.has(metric))

/** Rows of each short table. */
const MAX_ROWS = 10
/** Screens among which the slowest are chosen: percentiles of all would have to be computed. */
const MAX_CANDIDATES = 200

/** Reads the ANR rates by users of a range and the one before. @throws AppError not_found, invalid */
export type ReadAnrRates = (
  app: App,
  actor: OrgActor,
  filters: Omit<Filters, 'name'>,
) => Promise<Pick<Performance, 'anr_rate' | 'previous_anr_rate'>>

/** Everything about a project's performance in a range. @throws AppError not_found, invalid */
export async function readProjectPerformance(
  app: App,
  actor: OrgActor,
  input: Filters,
  readAnrRates: ReadAnrRates,
): Promise<Performance> {
  const question = await prepareQuestion(app, actor, input)
  const { time, now, before } = question
  const hasNames = now.filter.device === undefined
  const compared = hasNames ? comparedReleases(app, question) : null
  const reading = readTotalsOfBoth(app.db, { ...now, metrics: IN_TOTALS }, before)
  const isMeasured = async (metric: Metric) => spreadIn((await reading)[0], metric).count > 0
  const [[totals, earlier], releases, series, screens, transactions, causes, battery, rates, limits] =
    await Promise.all([
      reading,
      compared,
      readMetricsSeries(app.db, { ...now, metrics: IN_SERIES, intervalMs: time.stepSeconds * 1_000 }),
      hasNames ? slowestScreens(app, question, compared) : null,
      hasNames ? busiestTransactions(app, question, compared) : null,
      hasNames ? isMeasured('anr').then((is) => (is ? readAnrCauses(app.db, now, MAX_ROWS) : [])) : null,
      isMeasured('battery_drain').then((is) => batterySources(app, question, is)),
      anrRates(app, actor, input, readAnrRates),
      // Limits are of all requests: a single transaction may be slower by its nature.
      input.name === undefined ? readRequestLimits(app, actor, input.projectId) : NO_LIMITS,
    ])
  const of = (metric: Metric) => spreadIn(totals, metric)
  const was = (metric: Metric) => spreadIn(earlier, metric)
  const displayOf = (metric: Metric) => ({
    ...toQuantiles(of(metric)),
    previous: toQuantiles(was(metric)),
    left_out: of(metric).leftOut,
  })
  const vitalOf = (metric: Vital) => vitalFigures(metric, of(metric), was(metric))
  return {
    range: input.range,
    interval_seconds: time.stepSeconds,
    from: now.from.toISOString(),
    to: now.to.toISOString(),
    releases,
    cold_start: startFigures(of('app_start_cold'), was('app_start_cold'), COLD),
    warm_start: startFigures(of('app_start_warm'), was('app_start_warm'), WARM),
    ttid: displayOf('ttid'),
    ttfd: displayOf('ttfd'),
    frames: {
      ...framesIn(totals),
      total: wholeSum(of('frames_total')),
      slow: wholeSum(of('frames_slow')),
      frozen: wholeSum(of('frames_frozen')),
      previous: framesIn(earlier),
    },
    stalls: { ...stallsOf(totals), previous: stallsOf(earlier) },
    web_vitals: {
      lcp: vitalOf('lcp'),
      inp: vitalOf('inp'),
      cls: vitalOf('cls'),
      fcp: vitalOf('fcp'),
      ttfb: vitalOf('ttfb'),
    },
    requests: requestFigures(of('duration'), was('duration'), measureMinutes(app.clock.now(), question)),
    limits: judgeRequests(of('duration'), limits),
    screens,
    transactions,
    ...rates,
    anrs: { count: of('anr').count, previous: was('anr').count },
    anr_causes: causes,
    battery: { ...drainFigures(of('battery_drain')), previous: drainFigures(was('battery_drain')), ...battery },
    memory: { warnings: of('low_memory').count, previous: was('low_memory').count },
    thermal: { ...thermalOf(totals), previous: thermalOf(earlier) },
    wake_locks: wakeLockFigures(of('wake_lock'), was('wake_lock')),
    ...seriesOf(series, time.stepSeconds),
  }
}

/** The rates by users, as the metrics have them: sessions have no names of screens. */
async function anrRates(app: App, actor: OrgActor, { name, ...filters }: Filters, readAnrRates: ReadAnrRates) {
  return name === undefined ? readAnrRates(app, actor, filters) : { anr_rate: null, previous_anr_rate: null }
}

function stallsOf(metrics: Metrics) {
  const longest = spreadIn(metrics, 'stall_longest_time')
  const stalled = spreadIn(metrics, 'stall_total_time').sum
  return {
    count: wholeSum(spreadIn(metrics, 'stall_count')),
    total_ms: stalled,
    ratio: ratio(stalled, spreadIn(metrics, 'stall_duration').sum),
    longest_p95_ms: longest.p95,
    longest_ms: longest.max,
  }
}

const thermalOf = (metrics: Metrics) => ({
  serious: spreadIn(metrics, 'thermal_serious').count,
  critical: spreadIn(metrics, 'thermal_critical').count,
})

/** Metrics that the charts show as percentiles. */
const QUANTIFIED = [
  'duration',
  'app_start_cold',
  'app_start_warm',
  'ttid',
  'ttfd',
  'lcp',
  'inp',
  'cls',
  'fcp',
  'ttfb',
] as const satisfies readonly Metric[]
type Quantified = (typeof QUANTIFIED)[number]
type CoarseMetrics = ReadonlyMap<Quantified, Coarse>

/** The points of the chart, and how long the intervals of their percentiles are. */
function seriesOf(
  series: readonly { readonly t: Date; readonly metrics: Metrics }[],
  stepSeconds: number,
): Pick<Performance, 'series' | 'percentile_seconds'> {
  const coarse: CoarseMetrics = new Map(
    QUANTIFIED.map((metric) => [metric, coarsen(series.map(({ metrics }) => spreadIn(metrics, metric)))]),
  )
  const secondsOf = (metric: Quantified): number => (coarse.get(metric)?.factor ?? 1) * stepSeconds
  return {
    percentile_seconds: {
      cold_start: secondsOf('app_start_cold'),
      warm_start: secondsOf('app_start_warm'),
      ttid: secondsOf('ttid'),
      ttfd: secondsOf('ttfd'),
      transactions: secondsOf('duration'),
      lcp: secondsOf('lcp'),
      inp: secondsOf('inp'),
      cls: secondsOf('cls'),
      fcp: secondsOf('fcp'),
      ttfb: secondsOf('ttfb'),
    },
    series: series.map(({ t, metrics }, index) => pointOf(t, metrics, coarse, index, index === series.length - 1)),
  }
}

function pointOf(t: Date, metrics: Metrics, coarse: CoarseMetrics, index: number, isNewest: boolean): Point {
  const of = (metric: Metric) => spreadIn(metrics, metric)
  const around = (metric: Quantified) => coarse.get(metric)?.points[index] ?? of(metric)
  const transactions = of('duration')
  return {
    t: t.toISOString(),
    ...(isNewest && { incomplete: true }),
    cold_start: toQuantiles(around('app_start_cold')),
    warm_start: toQuantiles(around('app_start_warm')),
    ttid: toQuantiles(around('ttid')),
    ttfd: toQuantiles(around('ttfd')),
    ...framesIn(metrics),
    lcp: around('lcp').p75,
    inp: around('inp').p75,
    cls: around('cls').p75,
    fcp: around('fcp').p75,
    ttfb: around('ttfb').p75,
    transactions: {
      ...toQuantiles(around('duration')),
      failure_rate: ratio(transactions.failures, transactions.count),
    },
    anrs: of('anr').count,
    battery_drain: of('battery_drain').p50,
    low_memory: of('low_memory').count,
    thermal_serious: of('thermal_serious').count,
    thermal_critical: of('thermal_critical').count,
  }
}

async function slowestScreens(app: App, question: Question, releases: Promise<ComparedReleases | null> | null) {
  const filter = { ...question.now.filter, ops: SCREEN_OPS }
  const scope = { ...question.now, filter, metrics: RENDER_METRICS }
  const names = await topNames(app.db, scope, chooseGrain(filter, 'name'), MAX_CANDIDATES)
  const screens = await rateScreens(app, { ...question.now, filter: { ...filter, names } })
  return describeScreens(app, question, sortScreens(screens, '-p95').slice(0, MAX_ROWS), await releases)
}

async function busiestTransactions(app: App, question: Question, releases: Promise<ComparedReleases | null> | null) {
  const found = await readPerformanceByName(app.db, { ...question.now, metrics: ['duration'] }, MAX_ROWS)
  return describeTransactions(app, question, found, await releases)
}

/** Where batteries drain, by screen, release and device, as far as the filters allow. */
async function batterySources(app: App, { now }: Question, isMeasured: boolean) {
  const { name, os, deviceClass, device } = now.filter
  const by = async (split: SplitKey) => {
    if (!isMeasured) return []
    const found = await readPerformanceBy(app.db, { ...now, metrics: ['battery_drain'] }, split)
    return found.map(drainSource).sort(byReadings).slice(0, MAX_ROWS)
  }
  const [screens, releases, devices] = await Promise.all([
    device === undefined ? by('name') : null,
    by('release'),
    name === undefined && os === undefined && deviceClass === undefined ? by('device') : null,
  ])
  return { screens, releases, devices }
}

const drainSource = ({ name, metrics }: NamedPerformance) => ({
  name,
  ...drainFigures(spreadIn(metrics, 'battery_drain')),
})
const byReadings = (a: { name: string; count: number }, b: { name: string; count: number }): number =>
  b.count - a.count || (a.name < b.name ? -1 : 1)

type Cause = NonNullable<Performance['anr_causes']>[number]

/**
 * Reads the calls that blocked the main thread, most frequent first. An ANR is counted under its blocking call as name
 * and its fingerprint as op (anr-fact.ts).
 */
async function readAnrCauses(db: Connection, now: Question['now'], max: number): Promise<Cause[]> {
  const found = await readPerformanceBy(db, { ...now, metrics: ['anr', 'anr_wait'] }, 'name')
  const countOf = ({ metrics }: NamedPerformance): number => spreadIn(metrics, 'anr').count
  const total = found.reduce((sum, one) => sum + countOf(one), 0)
  const calls = [...Map.groupBy(found, ({ name }) => name)].map(([call, groups]) => ({
    call,
    count: groups.reduce((sum, one) => sum + countOf(one), 0),
    waits: groups.flatMap(({ metrics }) => spreadIn(metrics, 'anr_wait').max ?? []),
    fingerprints: groups.toSorted((a, b) => countOf(b) - countOf(a)).map(({ op }) => op),
  }))
  const top = calls
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || (a.call < b.call ? -1 : 1))
    .slice(0, max)
  const hashes = top.flatMap(({ fingerprints }) => fingerprints)
  const issues =
    hashes.length === 0 ? new Map<string, LinkedIssue>() : await issuesOfFingerprints(db, now.projectIds, hashes)
  return top.map(({ call, count, waits, fingerprints }) => {
    const issue = fingerprints.map((hash) => issues.get(hash)).find((one) => one !== undefined)
    return {
      call,
      count,
      share: count / total,
      longest_ms: waits.length === 0 ? null : Math.max(...waits),
      issue_id: issue?.id ?? null,
      short_id: issue?.shortId ?? null,
    }
  })
}
