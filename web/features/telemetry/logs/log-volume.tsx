import { useQuery } from '@tanstack/react-query'
import type { LogLevel, LogVolume } from '../../../api/log-queries.ts'
import { releaseMarkersQuery } from '../../../api/marker-queries.ts'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { barAxis, buildTimeAxis } from '../../../subjects/figures/time-axis-of.ts'
import { BarChart } from '../../../ui/chart/charts.tsx'
import { ChartCard } from '../../../ui/chart/chart-card.tsx'
import { ChartTable } from '../../../ui/chart/chart-table.tsx'
import { ChartLegend } from '../../../ui/chart/legend.tsx'
import type { ChartTone } from '../../../ui/chart/tones.ts'
import { DAY_MS, formatCount, formatDuration, formatExact } from '../../../ui/format.ts'
import { LOG_LEVELS } from '../../../address/search.ts'
import { shownLevels, sumLevels } from './model.ts'
import { logsTexts as texts } from './texts.ts'

/** The layers of the chart, the lowest first. */
const LAYERS: readonly { name: string; tone: ChartTone; levels: readonly LogLevel[] }[] = [
  { name: texts.series.low, tone: 'others', levels: ['debug', 'trace'] },
  { name: texts.series.info, tone: 'quiet', levels: ['info'] },
  { name: texts.series.warn, tone: 'warn', levels: ['warn'] },
  { name: texts.series.error, tone: 'crit', levels: ['error', 'fatal'] },
]

type VolumeChartProps = {
  projectId: string
  volume: LogVolume
  levels: readonly LogLevel[] | undefined
  when: string
  onWindow: (window: { from: string; to: string } | null) => void
}

/** Lines over time, by level. */
export function VolumeChart({ projectId, volume, levels, when, onWindow }: VolumeChartProps) {
  const { from, to, interval_seconds: seconds, points, totals } = volume
  const markers = useQuery({ ...releaseMarkersQuery([projectId], from, to), meta: { quiet: true } })
  const isLong = Date.parse(to) - Date.parse(from) > DAY_MS
  const axis = buildTimeAxis({
    points: points.map((point, index) => ({ t: point.t, incomplete: index === points.length - 1 })),
    intervalSeconds: seconds,
    range: isLong ? '7d' : '1h',
    window: null,
    releases: markers.data?.items ?? [],
    onWindow,
  })
  const chosen = shownLevels(levels)
  const layers = LAYERS.map(({ name, tone, levels: own }) => ({
    name,
    tone,
    levels: own.filter((level) => chosen.includes(level)),
  })).filter((layer) => layer.levels.length > 0 && sumLevels(totals, layer.levels) > 0)
  const series = layers.map(({ name, tone, levels: own }) => ({
    label: name,
    tone,
    values: points.map((point) => sumLevels(point, own)),
  }))
  const total = sumLevels(totals, chosen)
  const all = sumLevels(totals, LOG_LEVELS)
  const errors = sumLevels(totals, ['error', 'fatal'])
  return (
    <ChartCard
      title={texts.volume}
      unit={texts.volumePer(formatDuration(seconds * 1_000))}
      legend={
        <ChartLegend
          series={layers
            .map((layer) => ({ label: texts.legend(layer.name, sumLevels(totals, layer.levels)), tone: layer.tone }))
            .toReversed()}
        />
      }
      note={
        volume.searched_from !== null
          ? texts.searchedFrom(formatExact(volume.searched_from))
          : total === 0
            ? texts.volumeNone
            : texts.errorsShare(errors, all)
      }
      table={
        <ChartTable
          label={figuresTexts.asTable}
          head={[figuresTexts.time, ...LOG_LEVELS.map((level) => texts.levelNames[level])]}
          rows={axis.names.map((name, index) => [
            name,
            ...LOG_LEVELS.map((level) => formatCount(points[index]?.[level] ?? 0)),
          ])}
        />
      }
    >
      <BarChart
        {...barAxis(axis)}
        label={texts.volumeLabel(
          total,
          chosen.some((level) => level === 'error' || level === 'fatal') ? errors : 0,
          when,
        )}
        heightPx={112}
        series={
          series.length === 0 ? [{ label: texts.series.info, tone: 'quiet', values: points.map(() => 0) }] : series
        }
      />
    </ChartCard>
  )
}
