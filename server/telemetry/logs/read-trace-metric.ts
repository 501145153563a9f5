import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { readLogFilter } from './log-filter.ts'
import {
  aggregateMetric,
  MAX_GROUPS,
  selectMetricAttributes,
  selectMetricHead,
  selectMetricNames,
  type MetricAggregates,
  type MetricRow,
} from './metrics.queries.ts'
import type { RangeInput } from './page.ts'
import { listStarts, chooseSteps, lengthenSteps } from './steps.ts'
import type { MetricNames, MetricSeriesOfTraces } from './telemetry.api.ts'

type PeriodInput = RangeInput & { readonly projectId: string }

const MAX_NAMES = 200
/** Among how many groups measurements are thought to be divided. */
const TYPICAL_GROUPS = 3

async function readPeriod(app: App, actor: OrgActor, input: PeriodInput) {
  const given = await readLogFilter(app, actor, {
    projectId: input.projectId,
    range: input.range,
    from: input.from,
    to: input.to,
  })
  const { projectId, oldestDay } = given
  const steps = chooseSteps(input.range, given, { now: app.clock.now(), oldestDay })
  return { steps, period: { projectId, oldestDay, from: steps.from, to: steps.to } }
}

/** @throws AppError not_found, invalid */
export async function listTraceMetricNames(app: App, actor: OrgActor, input: PeriodInput): Promise<MetricNames> {
  const { period } = await readPeriod(app, actor, input)
  const names = await selectMetricNames(app.db, period, MAX_NAMES + 1)
  return {
    items: names.slice(0, MAX_NAMES).map(({ name, type, unit, value, occurred_at: at }) => ({
      name,
      type,
      unit,
      last_value: value,
      last_at: at.toISOString(),
    })),
    has_more: names.length > MAX_NAMES,
  }
}

const NOTHING: MetricAggregates = {
  count: 0,
  sum: null,
  avg: null,
  min: null,
  max: null,
  p50: null,
  p95: null,
  last: null,
}

/** @throws AppError not_found, invalid */
export async function readTraceMetric(
  app: App,
  actor: OrgActor,
  input: PeriodInput & { readonly name: string; readonly by?: string | undefined },
): Promise<MetricSeriesOfTraces> {
  const asked = await readPeriod(app, actor, input)
  const { name, by = null } = input
  const head = await selectMetricHead(app.db, asked.period, name)
  // Groups share the measurements of a step.
  const steps = lengthenSteps(asked.steps, (head?.values ?? 0) / (by === null ? 1 : TYPICAL_GROUPS))
  const { period } = asked
  const [attributes, rows] = await Promise.all([
    selectMetricAttributes(app.db, period, name),
    aggregateMetric(app.db, period, name, by, steps),
  ])
  const byPlace = Map.groupBy(rows, ({ place }) => place)
  const starts = listStarts(steps)
  const groups = [...byPlace.keys()].filter((place) => place !== null).toSorted((a, b) => a - b)
  return {
    name,
    type: head?.type ?? null,
    unit: head?.unit ?? null,
    from: steps.from.toISOString(),
    to: steps.to.toISOString(),
    interval_seconds: steps.stepSeconds,
    searched_from: head?.searched_from?.toISOString() ?? null,
    total: aggregatesOf(byPlace.get(null)?.[0]),
    attributes: head === null ? [] : ['environment', 'release', ...attributes],
    groups: groups.map((place) => {
      const ofPlace = byPlace.get(place) ?? []
      const byTime = new Map(ofPlace.flatMap((row) => (row.at === null ? [] : [[row.at.getTime(), row] as const])))
      const whole = ofPlace.find(({ at }) => at === null)
      return {
        value: whole?.value ?? null,
        is_rest: place > MAX_GROUPS,
        total: aggregatesOf(whole),
        points: starts.map((at) => ({ t: at.toISOString(), ...aggregatesOf(byTime.get(at.getTime())) })),
      }
    }),
  }
}

function aggregatesOf(row: MetricRow | undefined): MetricAggregates {
  if (row === undefined) return NOTHING
  const { count, sum, avg, min, max, p50, p95, last } = row
  return { count, sum, avg, min, max, p50, p95, last }
}
