import type { ReactNode } from 'react'
import type { MetricSeries, StoreGuard } from '../../../api/metric-queries.ts'
import type { Word } from '../../../subjects/figures/limits.ts'
import { WordBadge } from '../../../subjects/figures/word-badge.tsx'
import { BigFigure } from '../../../ui/big-figure.tsx'
import { Card } from '../../../ui/card.tsx'
import type { ChartTone } from '../../../ui/chart/tones.ts'
import { TrendLine } from '../../../ui/chart/trend-line.tsx'
import { Delta } from '../../../ui/delta.tsx'
import fitStyles from '../../../ui/fit.module.css'
import {
  formatChange,
  formatCount,
  formatPoints,
  formatRate,
  formatShare,
  formatShortCount,
} from '../../../ui/format.ts'
import { Minor } from '../../../ui/text.tsx'
import { chooseJudgedRate, fewText, limitText, newestText, shareOfLimit } from './model.ts'
import { metricsTexts } from './texts.ts'
import styles from './cards.module.css'

type FigureCardProps = {
  title: string
  word: Word | null
  value: string
  /** The value in full, if it is shortened. */
  full?: string
  /** The change against the period before. */
  delta: ReactNode
  about: string
  trend: readonly (number | null)[]
  tone: ChartTone
  /** How far the figure is on its scale, 0 to 1; null for none. */
  scale: number | null
  note: string
}

/** A headline figure with its change, its word, its trend and the distance to its limit. */
export function FigureCard({ title, word, value, full, delta, about, trend, tone, scale, note }: FigureCardProps) {
  return (
    <Card as="section" aria-label={title} className={styles.card}>
      <header>
        <h2>{title}</h2>
        {word === null ? null : <WordBadge word={word} />}
      </header>
      <p className={styles.value}>
        <BigFigure title={full}>{value}</BigFigure>
      </p>
      <p className={styles.change}>
        {delta} <Minor>{about}</Minor>
      </p>
      <div className={styles.trend}>
        <TrendLine values={trend} max={Math.max(0, ...trend.map((one) => one ?? 0))} tone={tone} />
      </div>
      <div className={styles.scale} data-word={word ?? undefined} aria-hidden="true">
        {scale === null ? null : <span style={{ inlineSize: `${Math.round(scale * 100)}%` }} />}
      </div>
      <Minor as="p" className={fitStyles.wholeRow}>
        {note}
      </Minor>
    </Card>
  )
}

const TONES: Readonly<Record<Word, ChartTone>> = { good: 'measure', watch: 'warn', poor: 'bad' }
const toneOf = (word: Word | null): ChartTone => (word === null ? 'measure' : TONES[word])
const trendOf = ({ points }: MetricSeries): (number | null)[] => points.map(({ value }) => value)

/** The change of a rate; a rise is bad. */
export function PointDelta({ now, before }: { now: number | null; before: number | null }) {
  if (now === null || before === null) return null
  const text = formatPoints(now - before)
  const change = /[1-9]/.test(text) ? (now > before ? 'worse' : 'better') : 'same'
  return <Delta change={change}>{text}</Delta>
}

/** @param more whether more is better, worse or neither */
export function CountDelta({
  now,
  before,
  more,
}: {
  now: number | null
  before: number | null
  more: 'better' | 'worse' | 'same'
}) {
  if (now === null || before === null || before === 0) return null
  const less = more === 'better' ? 'worse' : more === 'worse' ? 'better' : 'same'
  return <Delta change={now > before ? more : now < before ? less : 'same'}>{formatChange(now, before)}</Delta>
}

export function CrashCard({ series }: { series: MetricSeries }) {
  const { total, previous_total: before, by, word } = series
  return (
    <FigureCard
      title={metricsTexts.crashRate}
      word={word}
      value={formatRate(total)}
      delta={<PointDelta now={total} before={before} />}
      about={total === null ? metricsTexts.noSessions : by === 'users' ? metricsTexts.ofUsers : metricsTexts.ofSessions}
      trend={trendOf(series)}
      tone={toneOf(word)}
      scale={shareOfLimit(series)}
      note={newestText(series) ?? metricsTexts.limit(formatRate(series.bands?.poor ?? null))}
    />
  )
}

/** @param guard null if the figures are filtered: the store judges the whole app */
export function AnrCard({ series, guard }: { series: MetricSeries; guard: StoreGuard | null }) {
  const { total, previous_total: before, bands } = series
  const limit = bands?.poor ?? null
  const { word, rate } = chooseJudgedRate(series, guard)
  return (
    <FigureCard
      title={metricsTexts.anrRate}
      word={word}
      value={formatRate(total)}
      delta={<PointDelta now={total} before={before} />}
      about={
        total !== null
          ? metricsTexts.ofUsers
          : series.totals.sessions === undefined || series.totals.sessions === 0
            ? metricsTexts.noSessions
            : metricsTexts.noUsers
      }
      trend={trendOf(series)}
      tone={toneOf(word)}
      scale={word === null ? null : shareOfLimit({ total: rate, bands })}
      note={
        limit === null
          ? metricsTexts.limit(formatRate(limit))
          : (fewText(series, guard, limit) ??
            (guard === null || guard.anr.rate === null
              ? metricsTexts.limit(formatRate(limit))
              : limitText(guard.anr, limit)))
      }
    />
  )
}

export function EventsCard({ series }: { series: MetricSeries }) {
  const { total, previous_total: before, totals } = series
  const critical = totals.critical ?? 0
  const share = total === null || total === 0 ? 0 : critical / total
  return (
    <FigureCard
      title={metricsTexts.events}
      word={null}
      value={formatShortCount(total)}
      full={formatCount(total)}
      delta={<CountDelta now={total} before={before} more="worse" />}
      about={metricsTexts.crashesAndErrors}
      trend={trendOf(series)}
      tone="base"
      scale={share}
      note={
        critical === 0 ? metricsTexts.noneCritical : metricsTexts.criticalOf(formatCount(critical), formatShare(share))
      }
    />
  )
}

export function UsersCard({ series, crash }: { series: MetricSeries; crash: MetricSeries }) {
  const active = series.totals.active ?? null
  const { users = null, crashed_users: crashed = null } = crash.totals
  const free = users === null || users === 0 || crashed === null ? null : 1 - crashed / users
  return (
    <FigureCard
      title={metricsTexts.users}
      word={null}
      value={formatShortCount(active ?? series.total)}
      full={formatCount(active ?? series.total)}
      delta={
        active === null ? (
          <CountDelta now={series.total} before={series.previous_total} more="worse" />
        ) : (
          <CountDelta now={active} before={series.previous_totals.active ?? null} more="better" />
        )
      }
      about={
        crashed === null
          ? series.total === null
            ? metricsTexts.noUsersNamed
            : metricsTexts.withErrors(formatCount(series.total))
          : metricsTexts.usersHit(formatCount(crashed))
      }
      trend={series.points.map((point) => (active === null ? point.value : (point.active ?? null)))}
      tone="measure"
      scale={free}
      note={free === null ? metricsTexts.noSessions : metricsTexts.crashFreeUsers(formatRate(free))}
    />
  )
}
