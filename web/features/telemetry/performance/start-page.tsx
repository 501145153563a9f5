import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { metricQuery, type HealthView } from '../../../api/metric-queries.ts'
import type { Performance } from '../../../api/performance-queries.ts'
import { projectsQuery } from '../../../api/queries.ts'
import { paths } from '../../../address/paths.ts'
import type { PerformanceSearch } from '../../../address/search.ts'
import {
  ANR_LIMITS,
  COLD_LIMITS,
  FROZEN_LIMITS,
  SLOW_LIMITS,
  WARM_LIMITS,
  figureWord,
  type Limits,
} from '../../../subjects/figures/limits.ts'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { WindowNote } from '../../../subjects/figures/window-note.tsx'
import { GuideLink } from '../../../frames/guide-link.tsx'
import { Card } from '../../../ui/card.tsx'
import { RangeLegend } from '../../../ui/chart/range-plot.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { CommandBox } from '../../../ui/command-box.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { formatCount, formatDuration, formatRate } from '../../../ui/format.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import { Minor } from '../../../ui/text.tsx'
import { CausesTable } from './causes-table.tsx'
import { ColdChart, SpreadChart } from './charts.tsx'
import { formatVital, judgedText, VITAL_LIMITS, VITAL_NAMES } from './model.ts'
import { ScreensTable } from './screens-table.tsx'
import { performanceTexts } from './texts.ts'
import { Tiles, type Tile } from './tiles.tsx'
import { tracingLine } from './snippets.ts'
import { TransactionsTable } from './transactions-table.tsx'
import { usePerformanceAxis, type PerformanceAt } from './use-view.ts'
import styles from './start-page.module.css'
import tableStyles from './tables.module.css'

/** Whether SDKs measured anything. */
export const isEmpty = (data: Performance): boolean =>
  data.cold_start.count + data.warm_start.count + data.frames.total === 0 &&
  (data.screens ?? []).length === 0 &&
  (data.transactions ?? []).length === 0 &&
  VITAL_NAMES.every((name) => data.web_vitals[name].count === 0)

/** The first performance page of a mobile app: starts, the slowest screens, what blocks the main thread. */
export function StartUp({ data, at }: { data: Performance; at: PerformanceAt }) {
  const { axis, window, onWhole, releases } = usePerformanceAxis(data, at)
  const { view, search } = at
  if (isEmpty(data) && data.anrs.count === 0) return <NoData projectId={view.projectId} />
  const vitals = VITAL_NAMES.some((name) => data.web_vitals[name].count > 0)
  const starts = data.cold_start.count + data.warm_start.count > 0 || !vitals
  return (
    <div className={tableStyles.stack}>
      {starts ? <StartTiles data={data} view={view} /> : null}
      {vitals ? <VitalTiles data={data} view={view} /> : null}
      <WindowNote window={window} onWhole={onWhole} />
      {starts ? (
        <section className={classNames(styles.charts, narrowStyles.oneColumnAt924)} aria-label={performanceTexts.cold}>
          <ColdChart data={data} range={view.range} axis={axis} releases={releases} />
          <SpreadChart
            title={performanceTexts.spread}
            unit={performanceTexts.last[view.range]}
            spread={data.cold_start.spread}
            whole={data.cold_start}
            poorFrom={COLD_LIMITS.poor}
            counted={performanceTexts.starts}
          />
        </section>
      ) : null}
      <SlowestScreens data={data} search={search} />
      {starts ? <CausesTable data={data} view={view} /> : null}
      <FrequentTransactions data={data} search={search} />
    </div>
  )
}

function StartTiles({ data, view }: { data: Performance; view: HealthView }) {
  const anr = useQuery({ ...metricQuery(view, 'anr_rate'), meta: { quiet: true } }).data
  const { cold_start: cold, warm_start: warm, frames } = data
  const slow = figureWord(frames.slow_frame_ratio, SLOW_LIMITS)
  const frozen = figureWord(frames.frozen_frame_ratio, FROZEN_LIMITS)
  const bands = anr?.bands ?? ANR_LIMITS
  const tiles: Tile[] = [
    startTile(
      performanceTexts.coldP50,
      cold.p50_ms,
      cold.previous.p50_ms,
      COLD_LIMITS,
      performanceTexts.unknown.cold,
      view,
    ),
    startTile(
      performanceTexts.coldP75,
      cold.p75_ms,
      cold.previous.p75_ms,
      COLD_LIMITS,
      performanceTexts.unknown.cold,
      view,
    ),
    startTile(
      performanceTexts.coldP95,
      cold.p95_ms,
      cold.previous.p95_ms,
      COLD_LIMITS,
      performanceTexts.unknown.cold,
      view,
    ),
    startTile(
      performanceTexts.warmP75,
      warm.p75_ms,
      warm.previous.p75_ms,
      WARM_LIMITS,
      performanceTexts.unknown.warm,
      view,
    ),
    {
      label: performanceTexts.anrRate,
      value: formatRate(anr?.total ?? null),
      word: anr?.word ?? null,
      note:
        anr === undefined || anr.total === null
          ? performanceTexts.unknown.anr
          : anr.word === null
            ? performanceTexts.anrLimit(formatRate(bands.poor))
            : judgedText(anr.word, bands, formatRate),
    },
    {
      label: performanceTexts.slowFrames,
      value: formatRate(frames.slow_frame_ratio),
      // The worse of the two.
      word: frozen === 'poor' ? 'poor' : slow,
      note:
        slow === null
          ? performanceTexts.unknown.frames
          : performanceTexts.slowJudged(
              figuresTexts.words[frozen === 'poor' ? 'poor' : slow],
              formatRate(frames.frozen_frame_ratio),
            ),
    },
  ]
  return <Tiles tiles={tiles} label={performanceTexts.figures} />
}

function startTile(
  label: string,
  now: number | null,
  before: number | null,
  limits: Limits,
  unknown: string,
  { range }: HealthView,
): Tile {
  const word = figureWord(now, limits)
  return {
    label,
    value: formatDuration(now),
    word,
    note: word === null ? unknown : judgedText(word, limits, formatDuration),
    now,
    before,
    against: performanceTexts.against(formatDuration(before), performanceTexts.before[range]),
  }
}

/** Web vitals with their words. */
export function VitalTiles({ data, view }: { data: Performance; view: HealthView }) {
  const tiles = VITAL_NAMES.map((name): Tile => {
    const { p75, previous_p75: before } = data.web_vitals[name]
    const limits = VITAL_LIMITS[name]
    const word = figureWord(p75, limits)
    return {
      label: performanceTexts.vitals[name],
      value: formatVital(name, p75),
      word,
      note:
        word === null ? performanceTexts.unknown.vital : judgedText(word, limits, (value) => formatVital(name, value)),
      now: p75,
      before,
      against: performanceTexts.against(formatVital(name, before), performanceTexts.before[view.range]),
    }
  })
  return <Tiles tiles={tiles} label={performanceTexts.p75Of(performanceTexts.figures.toLowerCase())} />
}

/** The slowest screens or pages. */
export function SlowestScreens({ data, search }: { data: Performance; search: PerformanceSearch }) {
  const rows = data.screens
  const isWeb = rows !== null && rows.length > 0 && rows.every(({ op }) => op !== 'ui.load')
  const countOf = isWeb ? performanceTexts.pageCount : performanceTexts.screenCount
  return (
    <Card
      title={isWeb ? performanceTexts.pages : performanceTexts.screens}
      header={
        <>
          {rows === null || rows.length === 0 ? null : (
            <>
              <Minor>
                {performanceTexts.screensUnit(
                  countOf(rows.length, formatCount(rows.length)),
                  performanceTexts.orders['-p95'],
                )}
              </Minor>
              <RangeLegend />
            </>
          )}
          <Link {...paths.screens(search)}>{isWeb ? performanceTexts.allPages : performanceTexts.allScreens}</Link>
        </>
      }
    >
      {rows === null ? (
        <EmptyState kind="filtered" title={performanceTexts.byDevice} />
      ) : rows.length === 0 ? (
        <EmptyState kind="setup" title={performanceTexts.noScreens}>
          {performanceTexts.noScreensMore}
        </EmptyState>
      ) : (
        <ScreensTable rows={rows} releases={data.releases} search={search} sort="-p95" />
      )}
    </Card>
  )
}

function FrequentTransactions({ data, search }: { data: Performance; search: PerformanceSearch }) {
  const rows = data.transactions
  if (rows === null || rows.length === 0) return null
  return (
    <Card title={performanceTexts.transactions} header={<Minor>{performanceTexts.transactionsUnit}</Minor>}>
      <TransactionsTable rows={rows} search={search} />
    </Card>
  )
}

/** Says which switch of the SDK sends the data. */
export function NoData({ projectId }: { projectId: string }) {
  const projects = useQuery(projectsQuery)
  const line = tracingLine(projects.data?.items.find(({ id }) => id === projectId)?.platform ?? 'other')
  return (
    <Card>
      <EmptyState kind="setup" heading="h2" title={performanceTexts.noDataTitle}>
        {performanceTexts.noDataText} <GuideLink page="performance-monitoring#what-sdks-must-send" />
      </EmptyState>
      <CommandBox
        className={styles.code}
        title={performanceTexts.codeTitle}
        code={line}
        said={performanceTexts.codeCopied}
      />
    </Card>
  )
}
