import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo, useState, type PointerEvent } from 'react'
import { paths } from '../../../address/paths.ts'
import type { TracesSearch } from '../../../address/search.ts'
import type { TraceOverview } from '../../../api/trace-queries.ts'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { formatClock, formatCount, formatDay, formatDuration } from '../../../ui/format.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import { Minor } from '../../../ui/text.tsx'
import typeStyles from '../../../ui/type.module.css'
import { findDecades, fromHeight, toHeight } from './traces-model.ts'
import { tracesTexts as texts } from './traces-texts.ts'
import styles from './duration-card.module.css'

/** Each trace by time and duration, and how many took how long. A box that is drawn over the points filters by duration. */
export function DurationCard({ search, overview }: { search: TracesSearch; overview: TraceOverview }) {
  const { points, durations } = overview
  const axis = useMemo(() => findDecades(points), [points])
  const decades = Array.from({ length: axis.to - axis.from + 1 }, (_, index) => axis.from + index)
  const fromMs = Date.parse(overview.from)
  const lengthMs = Date.parse(overview.to) - fromMs
  const total = durations.reduce((sum, { count }) => sum + count, 0)
  const isDay = lengthMs <= 86_400_000
  const timeOf = (share: number) =>
    isDay ? formatClock(fromMs + share * lengthMs) : formatDay(fromMs + share * lengthMs)
  return (
    <Card
      title={texts.durations}
      header={
        <>
          <Minor>{texts.durationsMore(total)}</Minor>
          <span className={classNames(styles.legend, fitStyles.atEnd)}>
            <span className={fitStyles.wrapsCentred}>
              <i data-status="error" aria-hidden="true" /> {texts.failedPoint}
            </span>
            <span className={fitStyles.wrapsCentred}>
              <i data-matches="" aria-hidden="true" /> {texts.matching}
            </span>
            <span className={fitStyles.wrapsCentred}>
              <i aria-hidden="true" /> {texts.others}
            </span>
          </span>
        </>
      }
    >
      <div className={classNames(styles.charts, narrowStyles.oneColumnAt600)}>
        <div>
          <div className={styles.plot}>
            {decades.map((decade) => (
              <span
                key={decade}
                className={classNames(styles.line, typeStyles.figures)}
                style={{ insetBlockEnd: `${toHeight(10 ** decade, axis) * 100}%` }}
                aria-hidden="true"
              >
                <span>{formatDecade(10 ** decade)}</span>
              </span>
            ))}
            <Field search={search} axis={axis}>
              {points.toReversed().map((point) => (
                <i
                  key={point.trace_id}
                  className={classNames(styles.point, fitStyles.ownColour)}
                  data-status={point.matches ? point.status : undefined}
                  data-matches={point.matches ? '' : undefined}
                  style={{
                    insetInlineStart: `${((Date.parse(point.started_at) - fromMs) / lengthMs) * 100}%`,
                    insetBlockEnd: `${toHeight(point.duration_ms, axis) * 100}%`,
                  }}
                />
              ))}
            </Field>
          </div>
          <div className={classNames(styles.times, typeStyles.figures)} aria-hidden="true">
            {[0, 0.25, 0.5, 0.75].map((share) => (
              <span key={share} className={share % 0.5 === 0 ? undefined : narrowStyles.hiddenAt600}>
                {timeOf(share)}
              </span>
            ))}
            <span>{timeOf(1)}</span>
          </div>
        </div>
        <Histogram search={search} durations={durations} axis={axis} />
      </div>
    </Card>
  )
}

/** A power of ten in one unit: `100 s`, not `1 min 40 s`. */
const formatDecade = (ms: number): string => (ms < 60_000 ? formatDuration(ms) : `${formatCount(ms / 1_000)}\u202fs`)

type Axis = { from: number; to: number }

/** The field of the points; drawing over it sets the shortest and the longest duration. */
function Field({ search, axis, children }: { search: TracesSearch; axis: Axis; children: React.ReactNode }) {
  const navigate = useNavigate()
  const [drawn, setDrawn] = useState<{ from: number; to: number } | null>(null)
  const heightAt = ({ clientY, currentTarget }: PointerEvent<HTMLElement>): number => {
    const box = currentTarget.getBoundingClientRect()
    return Math.min(1, Math.max(0, (box.bottom - clientY) / box.height))
  }
  const end = () => {
    if (drawn !== null && Math.abs(drawn.to - drawn.from) > 0.03) {
      const [low, high] = [Math.min(drawn.from, drawn.to), Math.max(drawn.from, drawn.to)]
      void navigate({
        ...paths.traces({
          ...search,
          min: String(Math.floor(fromHeight(low, axis))),
          max: high >= 1 ? undefined : String(Math.ceil(fromHeight(high, axis))),
        }),
        resetScroll: false,
      })
    }
    setDrawn(null)
  }
  return (
    <div
      role="img"
      aria-label={texts.points}
      className={styles.field}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        setDrawn({ from: heightAt(event), to: heightAt(event) })
      }}
      onPointerMove={(event) => {
        if (drawn !== null) setDrawn({ ...drawn, to: heightAt(event) })
      }}
      onPointerUp={end}
      onPointerCancel={() => setDrawn(null)}
    >
      {drawn === null ? null : (
        <i
          className={styles.box}
          style={{
            insetBlock: `${(1 - Math.max(drawn.from, drawn.to)) * 100}% ${Math.min(drawn.from, drawn.to) * 100}%`,
          }}
        />
      )}
      {children}
    </div>
  )
}

/** Numbers of traces by duration; each bar filters by its duration. */
function Histogram({
  search,
  durations,
  axis,
}: {
  search: TracesSearch
  durations: TraceOverview['durations']
  axis: Axis
}) {
  const max = durations.reduce((most, { count }) => Math.max(most, count), 1)
  const min = search.min === undefined ? 0 : Number(search.min)
  const limit = search.max === undefined ? Number.POSITIVE_INFINITY : Number(search.max)
  return (
    <div className={classNames(styles.histogram, narrowStyles.hiddenAt600)} role="group" aria-label={texts.histogram}>
      {durations.map(({ from_ms: from, to_ms: to, count }) => {
        const bottom = toHeight(from, axis)
        const text = texts.histogramBar(formatDuration(from), formatDuration(to), count)
        return (
          <Link
            key={from}
            {...paths.traces({ ...search, min: String(Math.floor(from)), max: String(Math.ceil(to)) })}
            resetScroll={false}
            aria-label={text}
            title={text}
            data-matches={to > min && from < limit ? '' : undefined}
            style={{ insetBlock: `${(1 - toHeight(to, axis)) * 100}% ${bottom * 100}%` }}
          >
            <i className={fitStyles.ownColour} style={{ inlineSize: `${(count / max) * 100}%` }} />
          </Link>
        )
      })}
    </div>
  )
}
