import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { coarsen } from './coarsen.ts'
import { toQuantiles, RENDER, toHistogram } from './figures.ts'
import type { ScreenDetail } from './performance.api.ts'
import { prepareQuestion, type Filters } from './question.ts'
import { describeScreens, framesIn, rateScreens, SCREEN_OPS, comparedReleases } from './rate-screens.ts'
import { readMetricsSeries, readPerformanceBy, spreadIn, type NamedPerformance } from './read-performance.ts'

const MAX_RELEASES = 25
const CLASSES = ['low', 'medium', 'high', '']

/** A screen or page with its spread by device class and release. @throws AppError not_found */
export async function readScreen(
  app: App,
  actor: OrgActor,
  input: Filters & { readonly name: string; readonly op?: string | undefined },
): Promise<ScreenDetail> {
  const question = await prepareQuestion(app, actor, input)
  const { time, now } = question
  const ops = input.op === undefined ? SCREEN_OPS : [input.op]
  const screens = await rateScreens(app, { ...now, filter: { ...now.filter, ops } })
  const [screen] = screens.sort((a, b) => b.count - a.count)
  if (screen === undefined) throw notFound('Screen')
  const { name: _, ...filters } = now.filter
  const own = { ...now, filter: { ...filters, names: [screen] } }
  const metrics = [screen.basis, 'ttfd', 'frames_total', 'frames_slow', 'frames_frozen'] as const
  const intervalMs = time.stepSeconds * 1_000
  const partOf = ({ name, metrics: of }: NamedPerformance) => ({
    name,
    render: toQuantiles(spreadIn(of, screen.basis)),
    ttfd_p75_ms: spreadIn(of, 'ttfd').p75,
    ...framesIn(of),
  })
  const releases = await comparedReleases(app, question)
  const [[described], classes, byRelease, series] = await Promise.all([
    describeScreens(
      app,
      { ...question, now: own, before: { ...question.before, filter: filters } },
      [screen],
      releases,
    ),
    readPerformanceBy(app.db, { ...own, metrics }, 'device_class'),
    readPerformanceBy(app.db, { ...own, metrics }, 'release'),
    readMetricsSeries(app.db, { ...own, metrics: [screen.basis], intervalMs }),
  ])
  if (described === undefined) throw notFound('Screen')
  const render = coarsen(series.map(({ metrics: of }) => spreadIn(of, screen.basis)))
  return {
    ...described,
    range: input.range,
    interval_seconds: time.stepSeconds,
    releases,
    spread: toHistogram(screen.render.sketch, RENDER),
    by_device_class: classes.map(partOf).sort((a, b) => CLASSES.indexOf(a.name) - CLASSES.indexOf(b.name)),
    by_release: byRelease
      .map(partOf)
      .sort((a, b) => b.render.count - a.render.count)
      .slice(0, MAX_RELEASES),
    percentile_seconds: render.factor * time.stepSeconds,
    series: series.map(({ t, metrics: of }, index) => ({
      t: t.toISOString(),
      ...toQuantiles(render.points[index] ?? spreadIn(of, screen.basis)),
      ...(index === series.length - 1 && { incomplete: true as const }),
    })),
  }
}
