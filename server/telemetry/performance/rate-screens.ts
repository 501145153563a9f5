import { MIN_VALUES } from '#shared/rate-words.ts'
import type { App } from '../../platform/context/app.ts'
import type { Metric } from '../../events/protocol/span-values.ts'
import { frameRatios, growth, toQuantiles } from './figures.ts'
import type { Screen } from './performance.api.ts'
import type { Question } from './question.ts'
import { type PerformanceFilter, type Scope, measuredReleases } from './read.queries.ts'
import {
  nameAndOpKey,
  toMetrics,
  readNamesOfReleases,
  readPerformanceBy,
  spreadIn,
  type Metrics,
  type MetricSpread,
  type NamedPerformance,
  chooseGrain,
} from './read-performance.ts'
import { compareReleases } from '../../projects/releases/order.ts'
import { isSameApp } from '../../projects/releases/version.ts'

/** Operations whose segments are screens of apps, and pages. */
export const SCREEN_OPS = ['ui.load', 'pageload', 'navigation'] as const

/** Metrics that can say when a screen was shown. For an app or a page, the first metric that was measured counts. */
const BASES = { app: ['ttid', 'duration'], page: ['lcp', 'fcp', 'duration'] } as const
export const RENDER_METRICS = ['duration', 'ttid', 'lcp', 'fcp'] as const
type Basis = Screen['basis']

/** A screen or page with the time until it was shown. */
export type RatedScreen = {
  readonly name: string
  readonly op: string
  readonly basis: Basis
  readonly count: number
  readonly render: MetricSpread
}

/** Every screen and page that was shown. */
export async function rateScreens(app: App, scope: Omit<Scope, 'metrics'>): Promise<RatedScreen[]> {
  const filter: PerformanceFilter = { ops: SCREEN_OPS, ...scope.filter }
  const found = await readPerformanceBy(app.db, { ...scope, filter, metrics: RENDER_METRICS }, 'name')
  return found.map(rated).filter(({ render }) => render.count > 0)
}

function rated({ name, op, metrics }: { readonly name: string; readonly op: string; readonly metrics: Metrics }) {
  const basis = chooseBasis(op, metrics)
  const render = spreadIn(metrics, basis)
  return { name, op, basis, render, count: Math.max(render.count, spreadIn(metrics, 'duration').count) }
}

/** The metric that says when a screen was shown, the same for all its loads. */
function chooseBasis(op: string, metrics: Metrics): Basis {
  const bases: readonly Basis[] = BASES[op === 'ui.load' ? 'app' : 'page']
  return bases.find((metric) => spreadIn(metrics, metric).count > 0) ?? 'duration'
}

const DETAILS = ['ttid', 'ttfd', 'frames_total', 'frames_slow', 'frames_frozen'] as const

/** Adds everything else that the API says about screens. */
export async function describeScreens(
  app: App,
  { now, before }: Question,
  screens: readonly RatedScreen[],
  releases: ComparedReleases | null,
): Promise<Screen[]> {
  if (screens.length === 0) return []
  const byName = (found: readonly NamedPerformance[]) => new Map(found.map((one) => [nameAndOpKey(one), one.metrics]))
  const named = (scope: Omit<Scope, 'metrics'>, metrics: readonly Metric[]): Scope => ({
    ...scope,
    filter: { ...scope.filter, names: screens },
    metrics,
  })
  const bases = [...new Set(screens.map(({ basis }) => basis))]
  const ofReleases = async () => {
    if (releases === null) return new Map<string, NamedPerformance[]>()
    const scope = named(now, bases)
    const filter = { ...scope.filter, release: [releases.release, releases.previous] }
    return readNamesOfReleases(app.db, { ...scope, filter })
  }
  const [details, earlier, compared] = await Promise.all([
    readPerformanceBy(app.db, named(now, DETAILS), 'name').then(byName),
    readPerformanceBy(app.db, named(before, bases), 'name').then(byName),
    ofReleases(),
  ])
  const current = byName(compared.get(releases?.release ?? '') ?? [])
  const previous = byName(compared.get(releases?.previous ?? '') ?? [])
  return screens.map((screen) => {
    const { name, op, basis, count, render } = screen
    const key = nameAndOpKey(screen)
    const detail = details.get(key) ?? toMetrics(DETAILS, [])
    const renderIn = (found: ReadonlyMap<string, Metrics>) => spreadIn(found.get(key), basis)
    return {
      name,
      op,
      count,
      basis,
      render: toQuantiles(render),
      ttid: toQuantiles(spreadIn(detail, 'ttid')),
      ttfd: toQuantiles(spreadIn(detail, 'ttfd')),
      ...framesIn(detail),
      previous_p75_ms: renderIn(earlier).p75,
      compared: releases === null ? null : compare(renderIn(current), renderIn(previous)),
    }
  })
}

export const framesIn = (metrics: Metrics) =>
  frameRatios(spreadIn(metrics, 'frames_total'), spreadIn(metrics, 'frames_slow'), spreadIn(metrics, 'frames_frozen'))

function compare(release: MetricSpread, previous: MetricSpread): NonNullable<Screen['compared']> {
  const isEnough = Math.min(release.count, previous.count) >= MIN_VALUES
  return {
    release_p75_ms: release.p75,
    release_count: release.count,
    previous_p75_ms: previous.p75,
    previous_count: previous.count,
    change: isEnough ? growth(previous.p75, release.p75) : null,
  }
}

export type ComparedReleases = { readonly release: string; readonly previous: string }

/**
 * The newest measured release of those asked for, and the one before it of its app among all that were measured in the
 * range; null without two.
 */
export async function comparedReleases(app: App, { now }: Question): Promise<ComparedReleases | null> {
  const { release: asked, ...filter } = now.filter
  const scope = { ...now, filter, metrics: ['duration'] as const }
  const measured = await measuredReleases(app.db, scope, chooseGrain(filter, 'release'), MIN_VALUES)
  const newestFirst = measured.sort((a, b) => compareReleases(b, a)).map(({ version }) => version)
  const release = newestFirst.find((version) => asked === undefined || asked.includes(version))
  if (release === undefined) return null
  const previous = newestFirst.slice(newestFirst.indexOf(release) + 1).find((version) => isSameApp(version, release))
  return previous === undefined ? null : { release, previous }
}
