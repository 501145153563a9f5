import {
  type Percentile,
  type PerformanceMetric,
  TRIGGERS,
  defaultThreshold,
  NAMED_METRICS,
} from '#shared/alert-rules.ts'
import type { App } from '../../platform/context/app.ts'
import {
  type Activity,
  readActivities,
  readActivitySeries,
  sumOfActivities,
} from '../../telemetry/app-health/by-project.ts'
import { readOfNames, readOfProjects, type MeasuredOfProject } from '../../telemetry/performance/read.queries.ts'
import type { Metric } from '../../events/protocol/span-values.ts'
import { DDSketch } from '../../telemetry/sketch/ddsketch.ts'
import type { Evaluator, HistoryPoint, Measured, RateRule } from './evaluator.ts'
import { pointsOver, splitIntoStretches } from './history-windows.ts'
import { durationText, percentText, windowText } from './measure-texts.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'
import { countedWord } from '../../platform/kernel/value-text.ts'

/** `performance_threshold`: a percentile of a time, the ANR rate, or the share of frozen frames. */

/** Measurements of a window or interval. */
type Cell = { readonly sketches: Map<Metric, DDSketch>; readonly activity: Activity | null }

/** The question of a rule, with its defaults. */
type Question = {
  readonly projectId: string
  readonly metric: PerformanceMetric
  readonly percentile: Percentile
  readonly threshold: number
  readonly windowMinutes: number
  readonly minCount: number
  /** The name, for metrics that have names. */
  readonly name: string | null
}

const { defaults } = TRIGGERS.performance_threshold

function questionOf({ projectId, conditions }: RateRule): Question {
  const metric = conditions.metric ?? defaults.metric
  return {
    projectId,
    metric,
    percentile: conditions.percentile ?? defaults.percentile,
    threshold: conditions.threshold ?? defaultThreshold('performance_threshold', metric) ?? 0,
    windowMinutes: conditions.window_minutes ?? defaults.window_minutes,
    minCount: conditions.min_count ?? defaults.min_count,
    name: NAMED_METRICS.includes(metric) ? (conditions.transaction ?? null) : null,
  }
}

const METRICS_OF: Readonly<Record<Exclude<PerformanceMetric, 'anr_rate'>, readonly Metric[]>> = {
  cold_start: ['app_start_cold'],
  warm_start: ['app_start_warm'],
  ttid: ['ttid'],
  ttfd: ['ttfd'],
  transaction: ['duration'],
  lcp: ['lcp'],
  inp: ['inp'],
  frozen_frames: ['frames_total', 'frames_frozen'],
}
const metricsOf = ({ metric }: Question): readonly Metric[] => (metric === 'anr_rate' ? [] : METRICS_OF[metric])

/** How alerts call what is measured: of several, of one. */
const NAMES: Readonly<Record<Exclude<PerformanceMetric, 'anr_rate' | 'frozen_frames'>, readonly [string, string]>> = {
  cold_start: ['cold starts', 'start'],
  warm_start: ['warm starts', 'start'],
  ttid: ['the time to initial display', 'display'],
  ttfd: ['the time to full display', 'display'],
  transaction: ['transactions', 'transaction'],
  lcp: ['the largest contentful paint', 'page load'],
  inp: ['the interaction to next paint', 'interaction'],
}

const QUANTILES: Readonly<Record<Percentile, number>> = { p50: 0.5, p75: 0.75, p90: 0.9, p95: 0.95, p99: 0.99 }

/** The value of a window, and of how many measurements it is. */
type Figure = { readonly value: number | null; readonly count: number; readonly part: number; readonly by: string }

function figureOf(question: Question, cell: Cell): Figure {
  const { metric, percentile, minCount } = question
  const sketch = (of: Metric): DDSketch => cell.sketches.get(of) ?? new DDSketch()
  const enough = (count: number, value: () => number | null) => (count >= minCount && count > 0 ? value() : null)
  if (metric === 'anr_rate') {
    const { sessions = 0, anrs = 0, users, anrUsers } = cell.activity ?? {}
    const active = users?.count() ?? 0
    const [part, count, by] =
      active > 0 ? [Math.min(active, anrs, anrUsers?.count() ?? 0), active, 'user'] : [anrs, sessions, 'session']
    return { value: enough(count, () => (part / count) * 100), count, part, by }
  }
  if (metric === 'frozen_frames') {
    const [total, frozen] = [sketch('frames_total'), sketch('frames_frozen')]
    const value = (): number | null => (total.sum > 0 ? Math.min(100, (frozen.sum / total.sum) * 100) : null)
    return { value: enough(total.count, value), count: total.count, part: frozen.sum, by: 'screen' }
  }
  const times = sketch(METRICS_OF[metric][0] ?? 'duration')
  return {
    value: enough(times.count, () => times.quantile(QUANTILES[percentile])),
    count: times.count,
    part: 0,
    by: '',
  }
}

const judge = (question: Question, { value }: Figure): Pick<HistoryPoint, 'value' | 'holds'> => ({
  value,
  holds: value !== null && value >= question.threshold,
})

function describe(question: Question, figure: Figure): Pick<Measured, 'title' | 'explanation'> {
  const { metric, percentile, threshold, windowMinutes, minCount, name } = question
  const { value, count, part, by } = figure
  const over = `over the last ${windowText(windowMinutes)}`
  if (metric === 'anr_rate' || metric === 'frozen_frames') {
    const what = metric === 'anr_rate' ? 'ANR rate' : 'Frozen frames'
    const of = countedWord(count, by)
    if (value === null) return noData(what, `${of} ${over}; at least ${minCount} are needed`)
    const detail =
      metric === 'anr_rate' ? `${countedWord(Math.round(part), by)} of ${of} met an ANR in the foreground` : `of ${of}`
    return {
      title: `${what} ${percentText(value)}`,
      explanation: `${what}: ${percentText(value)} ${over} (${detail}); the limit is ${percentText(threshold)}.`,
    }
  }
  const [many, one] = NAMES[metric]
  const what = name === null ? many : `${many} of ${name}`
  const upper = percentile.toUpperCase()
  if (value === null)
    return noData(`${upper} of ${what}`, `${countedWord(count, one)} ${over}; at least ${minCount} are needed`)
  return {
    title: `${upper} of ${what}: ${durationText(value)}`,
    explanation: `${upper} of ${what} is ${durationText(value)} ${over} (${countedWord(count, one)}); the limit is ${durationText(threshold)}.`,
  }
}

const noData = (what: string, why: string): Pick<Measured, 'title' | 'explanation'> => ({
  title: `${what}: no data`,
  explanation: `No data: ${why}.`,
})

// Reading

type Range = { readonly from: Date; readonly to: Date; readonly intervalMs: number | null }

const keyOf = (projectId: string, name: string | null): string => `${projectId}/${name ?? ''}`

/** Sketches by project and name, and by interval: two statements, however many rules ask. */
async function readSketches(app: App, questions: readonly Question[], range: Range) {
  const [named, unnamed] = [
    questions.filter(({ name }) => name !== null),
    questions.filter((question) => question.name === null && metricsOf(question).length > 0),
  ]
  const scopeOf = (of: readonly Question[]) => ({
    ...range,
    projectIds: [...new Set(of.map(({ projectId }) => projectId))],
    metrics: [...new Set(of.flatMap(metricsOf))],
  })
  const names = new Map(named.map(({ projectId, name }) => [keyOf(projectId, name), { projectId, name: name ?? '' }]))
  const found = await Promise.all([
    readOfProjects(app.db, scopeOf(unnamed)),
    readOfNames(app.db, scopeOf(named), [...names.values()]),
  ])
  const cells = new Map<string, Map<number, Map<Metric, DDSketch>>>()
  const add = (key: string, { slot, metric, sketch }: MeasuredOfProject): void => {
    const slots = cells.get(key) ?? new Map<number, Map<Metric, DDSketch>>()
    cells.set(key, slots.set(slot, (slots.get(slot) ?? new Map<Metric, DDSketch>()).set(metric, sketch)))
  }
  for (const row of found[0]) add(keyOf(row.projectId, null), row)
  for (const row of found[1]) add(keyOf(row.projectId, row.name), row)
  return cells
}

const isRate = ({ metric }: Question): boolean => metric === 'anr_rate'

export const performanceThreshold: Evaluator = {
  async measure(app, rules, at) {
    const measured = new Map<string, Measured[]>()
    const asked = rules.map((rule) => ({ id: rule.id, question: questionOf(rule) }))
    for (const [windowMinutes, same] of Map.groupBy(asked, ({ question }) => question.windowMinutes)) {
      const range = { from: new Date(at.getTime() - windowMinutes * MINUTE_MS), to: at, intervalMs: null }
      const questions = same.map(({ question }) => question)
      const projectIds = [...new Set(questions.filter(isRate).map(({ projectId }) => projectId))]
      const [sketches, activities] = await Promise.all([
        readSketches(app, questions, range),
        readActivities(app.db, { ...range, projectIds, now: at }),
      ])
      for (const { id, question } of same) {
        const figure = figureOf(question, {
          sketches: sketches.get(keyOf(question.projectId, question.name))?.get(0) ?? new Map<Metric, DDSketch>(),
          activity: activities.get(question.projectId) ?? null,
        })
        measured.set(id, [{ subject: '', ...judge(question, figure), ...describe(question, figure) }])
      }
    }
    return measured
  },

  async history(app, rule, from, to) {
    const question = questionOf(rule)
    const stretches = splitIntoStretches(from, to, question.windowMinutes, app.clock.now())
    const cells = new Map(
      await Promise.all(stretches.map(async (stretch) => [stretch, await cellsIn(app, question, stretch)] as const)),
    )
    return pointsOver(
      stretches,
      '',
      (stretch) => cells.get(stretch) ?? new Map<number, Cell>(),
      (covered) => judge(question, figureOf(question, sumOf(covered))),
    )
  },
}

async function cellsIn(
  app: App,
  question: Question,
  { readFrom, to, intervalMs }: ReturnType<typeof splitIntoStretches>[number],
): Promise<ReadonlyMap<number, Cell>> {
  const range = { from: readFrom, to, intervalMs }
  if (isRate(question)) {
    const series = await readActivitySeries(app.db, question.projectId, range, intervalMs === 3_600_000 ? 3_600 : 900)
    return new Map([...series].map(([slot, activity]) => [slot, { sketches: new Map<Metric, DDSketch>(), activity }]))
  }
  const sketches = (await readSketches(app, [question], range)).get(keyOf(question.projectId, question.name))
  return new Map([...(sketches ?? [])].map(([slot, of]) => [slot, { sketches: of, activity: null }]))
}

function sumOf(cells: readonly Cell[]): Cell {
  const sketches = new Map<Metric, DDSketch>()
  for (const cell of cells)
    for (const [metric, sketch] of cell.sketches) {
      const sum = sketches.get(metric) ?? new DDSketch()
      sum.merge(sketch)
      sketches.set(metric, sum)
    }
  const activities = cells.flatMap(({ activity }) => activity ?? [])
  return { sketches, activity: activities.length === 0 ? null : sumOfActivities(activities) }
}
