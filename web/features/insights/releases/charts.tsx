import type { ReleaseRow, ReleasesHealth } from '../../../api/release-queries.ts'
import { ChartPanel } from '../../../subjects/figures/chart-panel.tsx'
import { timeTicks } from '../../../subjects/figures/time-ticks.ts'
import { bucketLabel } from '../../../subjects/figures/time-axis.ts'
import type { Range } from '../../../address/search.ts'
import { LineChart, StackChart } from '../../../ui/chart/charts.tsx'
import { ChartNothing } from '../../../ui/chart/chart-card.tsx'
import { ChartLegend } from '../../../ui/chart/legend.tsx'
import type { ChartTone } from '../../../ui/chart/tones.ts'
import { ChartTable } from '../../../ui/chart/chart-table.tsx'
import type { ChartLine } from '../../../ui/chart/line-chart.tsx'
import { formatRate, formatShare } from '../../../ui/format.ts'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { releasesTexts } from './texts.ts'
import { comparisonText, adoptionLayers, releaseMarkers, MAX_HOURS, shortNames, crashFreeValues } from './model.ts'

const HEIGHT_PX = 200

type AdoptionChartProps = { health: ReleasesHealth; range: Range; rows: readonly ReleaseRow[] }

export function AdoptionChart({ health, range, rows }: AdoptionChartProps) {
  const { adoption, crash_free: lines, interval_seconds: interval } = health
  if (adoption === null)
    return (
      <ChartPanel title={releasesTexts.adoption} unit={releasesTexts.adoptionUnit}>
        <ChartNothing>
          <EmptyState kind="setup" title={releasesTexts.noSessions}>
            {releasesTexts.noSessionsMore}
          </EmptyState>
        </ChartNothing>
      </ChartPanel>
    )
  const layers = adoptionLayers(adoption, releasesTexts.others)
  const buckets = adoption.times.map((time) => bucketLabel(time, interval, range))
  const last = adoption.totals.findLastIndex((total) => total > 0)
  const newest = layers.at(-1)
  const largest = layers.toSorted((a, b) => (b.shares[last] ?? 0) - (a.shares[last] ?? 0))[0]
  const row = rows.find((one) => one.version === adoption.releases[0]?.version)
  const shownPlaces = ends(adoption.times.length)
  const start = Date.parse(adoption.times[0] ?? '')
  return (
    <ChartPanel
      title={releasesTexts.adoption}
      unit={releasesTexts.adoptionUnit}
      {...(row === undefined || newest === undefined
        ? {}
        : { note: releasesTexts.newestAt(newest.label, formatShare(row.adoption)) })}
      table={
        <ChartTable
          label={releasesTexts.asTable}
          head={[releasesTexts.columns.release, ...shownPlaces.map((index) => buckets[index] ?? '')]}
          rows={layers
            .toReversed()
            .map((layer) => [layer.label, ...shownPlaces.map((index) => formatShare(layer.shares[index] ?? null))])}
        />
      }
    >
      <StackChart
        label={releasesTexts.adoptionFinding(
          newest?.label ?? '',
          formatShare(newest?.shares[last] ?? null),
          largest?.label ?? '',
          formatShare(largest?.shares[last] ?? null),
        )}
        heightPx={HEIGHT_PX}
        layers={layers}
        buckets={buckets}
        xLabels={timeTicks(start, start + adoption.times.length * interval * 1000, true)}
        markers={releaseMarkers(lines, adoption.times, interval)}
        formatShare={formatShare}
      />
    </ChartPanel>
  )
}

/** The first, middle and last position of a chart. */
const ends = (length: number): number[] => [...new Set([0, Math.floor((length - 1) / 2), length - 1])]

const LINE_TONES: readonly ChartTone[] = ['newest', 'compared', 'base']
const PLACES = Array.from({ length: MAX_HOURS + 1 }, (_, hour) => releasesTexts.hour(hour))
const X_LABELS = [0, 8, 16, 24, 32, 40, 48].map(releasesTexts.hour)
const TABLE_HOURS = [1, 4, 8, 24, 48]
const THRESHOLDS = [
  { from: 0, to: 0.99, label: releasesTexts.poor, tone: 'bad' },
  { from: 0.99, to: 0.995, label: releasesTexts.watchUnder, tone: 'warn' },
] as const

/** `99`, `99.5`, `99.25`: percent without trailing zeros. */
const formatPercent = (share: number): string => String(Number((share * 100).toFixed(3)))

type CrashFreeChartProps = {
  lines: readonly Pick<ReleasesHealth['crash_free'][number], 'version' | 'hours'>[]
  /** The releases of the page, for the comparison at equal age. */
  rows?: readonly ReleaseRow[]
}

export function CrashFreeChart({ lines, rows = [] }: CrashFreeChartProps) {
  const names = shortNames(lines.map((line) => line.version))
  const known: ChartLine[] = lines
    .map((line, index) => ({
      label: names.get(line.version) ?? line.version,
      tone: LINE_TONES[index] ?? 'base',
      values: crashFreeValues(line.hours),
    }))
    .filter((line) => line.values.some((value) => value !== null))
  if (known.length === 0)
    return (
      <ChartPanel title={releasesTexts.crashFree} unit={releasesTexts.crashFreeUnit}>
        <ChartNothing>
          <h3>{releasesTexts.noRecent}</h3>
        </ChartNothing>
      </ChartPanel>
    )
  return (
    <ChartPanel
      title={releasesTexts.crashFree}
      unit={releasesTexts.crashFreeUnit}
      legend={known.length < 2 ? null : <ChartLegend series={known} mark="line" />}
      note={comparisonText(rows) ?? releasesTexts.allSoFar}
      table={
        <ChartTable
          label={releasesTexts.asTable}
          head={[releasesTexts.hours, ...known.map((line) => line.label)]}
          rows={TABLE_HOURS.map((hour) => [
            String(hour),
            ...known.map((line) => formatRate(line.values[hour] ?? null)),
          ])}
        />
      }
    >
      <LineChart
        label={releasesTexts.crashFreeFinding(known.map(nowOf))}
        heightPx={HEIGHT_PX}
        lines={known}
        places={PLACES}
        xLabels={X_LABELS}
        thresholds={THRESHOLDS}
        max={1}
        formatTick={formatPercent}
        formatValue={formatRate}
      />
    </ChartPanel>
  )
}

function nowOf(line: ChartLine): string {
  const hour = line.values.findLastIndex((value) => value !== null)
  return releasesTexts.lineNow(line.label, formatRate(line.values[hour] ?? null), hour)
}
