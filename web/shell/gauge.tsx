import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useSyncExternalStore } from 'react'
import { paths } from '../address/paths.ts'
import { call } from '../api/call.ts'
import { operatorQuery } from '../api/operator-query.ts'
import { meQuery } from '../api/queries.ts'
import { useScope } from '../app/use-scope.ts'
import { needsAttention, toMonitorParts } from '../features/telemetry/monitors/model.ts'
import { TrendLine } from '../ui/chart/trend-line.tsx'
import choiceStyles from '../ui/choice.module.css'
import { classNames } from '../ui/class-names.ts'
import { formatPerSecond } from '../ui/format-rate.ts'
import { GradeDot, type Grade } from '../ui/grade-dot.tsx'
import { gaugeTexts as texts } from './gauge-texts.ts'
import { railCountsKey, type RailCounts } from './rail-counts.ts'
import styles from './gauge.module.css'

/** Rarely, as every page has it; a hidden tab does not ask. */
const REFRESH_MS = 60_000
/** The minutes whose mean is the rate now: whole ones. */
const NOW_MINUTES = 5
const SOON_DAYS = 14

const wide = matchMedia('(width > 860px)')

function subscribeToWidth(listener: () => void): () => void {
  wide.addEventListener('change', listener)
  return () => wide.removeEventListener('change', listener)
}

/** The rate of events now, how long the disk lasts where the user operates the installation; and the counts of the rail. */
export function Gauge() {
  const me = useQuery(meQuery)
  useRailCounts()
  // Phones have tabs instead of the rail.
  const isShown = useSyncExternalStore(subscribeToWidth, () => wide.matches)
  if (me.data === undefined || !isShown) return null
  return me.data.operates ? <OfInstallation /> : <OfOrganisation />
}

/** The rate of all organisations, for who operates the installation. */
function OfInstallation() {
  const { data } = useQuery({ ...operatorQuery, refetchInterval: REFRESH_MS })
  if (data === undefined) return null
  const { per_second: rate, by_quarter_hour: quarters, dropped_24h: dropped } = data.events
  return (
    <Link {...paths.operator()} className={classNames(styles.gauge, choiceStyles.hovers)}>
      <Rate perSecond={rate} trend={quarters.map((quarter) => quarter.per_second)} />
      <span>
        <span className={dropped > 0 ? styles.bad : undefined}>{texts.dropped(dropped)}</span>
        <Disk days={data.disk.days_left} />
      </span>
    </Link>
  )
}

function Disk({ days }: { days: number | null }) {
  if (days === null) return null
  return (
    <span className={days <= SOON_DAYS ? styles.bad : undefined} title={texts.diskHint}>
      {texts.disk(days)}
    </span>
  )
}

/** The rate of the organisation's projects. */
function OfOrganisation() {
  const { data } = useQuery({
    queryKey: ['volume', 'gauge'],
    queryFn: ({ signal }) => call('GET /api/issues/volume', { query: { range: '1h' }, signal }),
    refetchInterval: REFRESH_MS,
    meta: { quiet: true },
  })
  if (data === undefined) return null
  const minutes = data.points.map(({ events }) => events)
  // The last minute is not over.
  const recent = minutes.slice(-NOW_MINUTES - 1, -1)
  const rate = recent.reduce((sum, count) => sum + count, 0) / (60 * Math.max(1, recent.length))
  return (
    <Link {...paths.intake({ range: '24h' })} className={classNames(styles.gauge, choiceStyles.hovers)}>
      <Rate perSecond={rate} trend={minutes} />
    </Link>
  )
}

function Rate({ perSecond, trend }: { perSecond: number; trend: readonly number[] }) {
  const grade: Grade | null = perSecond > 0 ? 'good' : null
  return (
    <>
      <span title={texts.hint}>
        <span className={styles.state}>
          {grade === null ? null : <GradeDot grade={grade} />}
          {grade === null ? texts.quiet : texts.receiving}
        </span>
        <b>{formatPerSecond(perSecond)}</b>
      </span>
      <span className={styles.trend} aria-hidden="true">
        <TrendLine values={trend} max={Math.max(0, ...trend)} tone="base" />
      </span>
    </>
  )
}

/** Reads the counts of Feedback and Monitors for the rail, whose first load is without them. */
function useRailCounts(): void {
  const client = useQueryClient()
  const { projectId } = useScope()
  const { data } = useQuery({
    queryKey: ['rail', projectId],
    queryFn: async ({ signal }): Promise<RailCounts> => {
      const ofProject = projectId === null ? {} : { projectId }
      const [inbox, monitors] = await Promise.all([
        call('GET /api/feedback', { query: { limit: '1', ...ofProject }, signal }),
        call('GET /api/monitors', { query: { limit: '100', ...ofProject }, signal }),
      ])
      return {
        feedback: inbox.counts.inbox,
        monitors: toMonitorParts(monitors.items).filter(needsAttention).length,
      }
    },
    refetchInterval: REFRESH_MS,
    meta: { quiet: true },
  })
  useEffect(() => {
    if (data !== undefined) client.setQueryData(railCountsKey(projectId), data)
  }, [client, data, projectId])
}
