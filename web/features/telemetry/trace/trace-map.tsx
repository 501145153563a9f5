import { useMemo } from 'react'
import type { Trace } from '../../../api/trace-queries.ts'
import { Button } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { formatDuration } from '../../../ui/format.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import { Minor } from '../../../ui/text.tsx'
import typeStyles from '../../../ui/type.module.css'
import { formatMillis } from './clock.ts'
import type { Node, Tree } from './model.ts'
import { seriesClass, type SeriesOf } from './project-mark.tsx'
import { traceTexts as texts } from './texts.ts'
import styles from './trace-map.module.css'

/** The shown part of a trace, in ms after its start. */
export type Zoom = { readonly fromMs: number; readonly toMs: number }

/** Bars of the map: in a large trace those that matter. */
const MAX_BARS = 120
const HEIGHT = 100
const STEPS = 1_000

/** The whole trace in small, with its errors; its two handles choose the part that the waterfall shows. */
export function TraceMap({
  trace,
  tree,
  series,
  zoom,
  onZoom,
}: {
  trace: Trace
  tree: Tree
  series: SeriesOf
  zoom: Zoom | null
  onZoom: (zoom: Zoom | null) => void
}) {
  const bars = useMemo(() => barsOf(tree), [tree])
  const length = Math.max(trace.duration_ms, Number.MIN_VALUE)
  const startMs = Date.parse(trace.started_at)
  const { fromMs, toMs } = zoom ?? { fromMs: 0, toMs: length }
  const lane = HEIGHT / Math.max(10, bars.length)
  const change = (from: number, to: number) => {
    if (from <= 0 && to >= STEPS) onZoom(null)
    else if (to > from) onZoom({ fromMs: (from / STEPS) * length, toMs: (to / STEPS) * length })
  }
  const fromStep = Math.round((fromMs / length) * STEPS)
  const toStep = Math.round((toMs / length) * STEPS)
  return (
    <div className={styles.map}>
      <div className={styles.plot}>
        <svg
          viewBox={`0 0 ${STEPS} ${HEIGHT}`}
          preserveAspectRatio="none"
          className={fitStyles.ownColours}
          aria-hidden="true"
        >
          {bars.map(({ span, isCritical }, index) => (
            <rect
              key={span.span_id}
              className={classNames(styles.bar, seriesClass)}
              data-series={series(span.project_id)}
              data-pale={isCritical ? undefined : ''}
              x={(span.start_ms / length) * STEPS}
              width={Math.max(2, (span.duration_ms / length) * STEPS)}
              y={index * lane}
              height={Math.max(0.6, lane * 0.7)}
            />
          ))}
        </svg>
        {trace.errors.map((error) => (
          <i
            key={error.event_id}
            className={classNames(styles.error, fitStyles.ownColour)}
            style={{ insetInlineStart: `${(error.at_ms / length) * 100}%` }}
            aria-hidden="true"
          />
        ))}
        <i className={styles.shade} style={{ inset: `0 ${100 - fromStep / 10}% 0 0` }} aria-hidden="true" />
        <i className={styles.shade} style={{ inset: `0 0 0 ${toStep / 10}%` }} aria-hidden="true" />
        <input
          type="range"
          aria-label={texts.mapFrom}
          aria-valuetext={formatDuration(fromMs)}
          max={STEPS}
          step={5}
          value={fromStep}
          onChange={(event) => change(Math.min(Number(event.target.value), toStep - 5), toStep)}
        />
        <input
          type="range"
          aria-label={texts.mapTo}
          aria-valuetext={formatDuration(toMs)}
          max={STEPS}
          step={5}
          value={toStep}
          onChange={(event) => change(fromStep, Math.max(Number(event.target.value), fromStep + 5))}
        />
      </div>
      <div className={classNames(styles.times, typeStyles.figures)}>
        <Minor>{formatMillis(startMs)}</Minor>
        {zoom === null ? (
          <Minor className={narrowStyles.hiddenAt600}>{formatMillis(startMs + length / 2)}</Minor>
        ) : (
          <Button size="sm" onClick={() => onZoom(null)}>
            {texts.mapWhole}
          </Button>
        )}
        <Minor>{formatMillis(startMs + trace.duration_ms)}</Minor>
      </div>
    </div>
  )
}

/** Spans in the order of the waterfall; of very many, those on the critical path, with errors, or high in the tree. */
function barsOf({ nodes }: Tree): Node[] {
  const all = [...nodes.values()]
  if (all.length <= MAX_BARS) return all
  const rank = (node: Node): number =>
    node.hasError ? 0 : node.isCritical ? 1 : node.span.is_segment ? 2 : node.depth + 3
  const chosen = new Set(all.toSorted((a, b) => rank(a) - rank(b)).slice(0, MAX_BARS))
  return all.filter((node) => chosen.has(node))
}
