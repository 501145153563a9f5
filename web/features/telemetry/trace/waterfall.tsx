import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useRef, useState } from 'react'
import { paths } from '../../../address/paths.ts'
import type { Trace } from '../../../api/trace-queries.ts'
import { useKeys } from '../../../app/keys.ts'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { useWidth } from '../../../ui/chart/use-width.ts'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { InputBox } from '../../../ui/field.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatDuration } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import narrowStyles from '../../../ui/narrow.module.css'
import { Segmented } from '../../../ui/segmented.tsx'
import { ShortId } from '../../../ui/text.tsx'
import typeStyles from '../../../ui/type.module.css'
import { formatMillis, formatSpanLength } from './clock.ts'
import {
  axisTicks,
  closedAtFirst,
  type Fold,
  type Node,
  type Row,
  type Shown,
  type Tree,
  waterfallRows,
} from './model.ts'
import { LevelIcon, lookOfLevel } from './level-icon.tsx'
import { seriesClass, type SeriesOf } from './project-mark.tsx'
import { traceTexts as texts } from './texts.ts'
import type { Zoom } from './trace-map.tsx'
import { useSlice } from './use-slice.ts'
import styles from './waterfall.module.css'

/** Deeper spans are indented no further. */
const MAX_INDENT = 14
const ROW_PX = 27
const NARROW_ROW_PX = 48
const NARROW_PX = 600

type WaterfallProps = {
  trace: Trace
  tree: Tree
  series: SeriesOf
  selected: Node | null
  zoom: Zoom | null
  onZoom: (zoom: Zoom | null) => void
}

/** Every row needs it to draw itself. */
type Look = {
  readonly trace: Trace
  readonly series: SeriesOf
  readonly selected: Node | null
  readonly zoom: Zoom
  readonly atOf: (ms: number) => string
  readonly onToggle: (id: string) => void
  readonly onUnfold: (key: string) => void
  readonly unfolded: ReadonlySet<string>
}

/** The spans of a trace by caller and time, with errors and log lines at their moment. */
export function Waterfall({ trace, tree, series, selected, zoom: chosenZoom, onZoom }: WaterfallProps) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(() => closedAtFirst(tree))
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set())
  const [withErrors, setErrors] = useState(true)
  const [withLogs, setLogs] = useState(true)
  const [find, setFind] = useState('')
  const [emphasis, setEmphasis] = useState<'critical' | 'alike'>('critical')
  const [axis, setAxis] = useState<'start' | 'time'>('start')
  const field = useRef<HTMLInputElement>(null)
  const [box, widthPx] = useWidth<HTMLDivElement>()

  const shown: Shown = { closed, unfolded, errors: withErrors, logs: withLogs, find }
  const rows = useMemo(
    () => waterfallRows(tree, shown),
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [tree, closed, unfolded, withErrors, withLogs, find],
  )
  const rowPx = widthPx <= NARROW_PX ? NARROW_ROW_PX : ROW_PX
  const slice = useSlice(rows.length, rowPx)
  const toRow = (id: string | undefined) => {
    const place = rows.findIndex(({ key }) => key === id)
    const list = box.current
    if (list === null || place < 0) return
    // A row far away is drawn only once the list is there.
    if (slice.isLong && (place < slice.first || place >= slice.end)) list.scrollTop = (place - 3) * rowPx
    else list.querySelector('[aria-current="true"]')?.scrollIntoView({ block: 'nearest' })
  }
  const isThere = widthPx > 0
  useEffect(() => {
    // An address that names a span shows it.
    if (isThere) toRow(selected?.span.span_id)
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [isThere])
  const zoom = chosenZoom ?? { fromMs: 0, toMs: Math.max(trace.duration_ms, 1) }
  const startMs = Date.parse(trace.started_at)
  const atOf = (ms: number) => (axis === 'time' ? formatMillis(startMs + ms) : formatDuration(ms))
  const toggle = (id: string) => setClosed(toggled(closed, id))
  useWaterfallKeys({
    rows,
    tree,
    selected,
    trace,
    onZoom,
    zoom: chosenZoom,
    toggle,
    field,
    emphasis,
    setEmphasis,
    toRow,
  })

  const folded = rows.reduce(
    (sum, row) => sum + (row.kind === 'fold' && !unfolded.has(row.key) ? row.fold.nodes.length : 0),
    0,
  )
  const look: Look = {
    trace,
    series,
    selected,
    zoom,
    atOf: (ms) => formatMillis(startMs + ms),
    onToggle: toggle,
    onUnfold: (key) => setUnfolded(toggled(unfolded, key)),
    unfolded,
  }
  return (
    <Card className={styles.waterfall} aria-label={texts.waterfall} data-emphasis={emphasis}>
      <div className={styles.tools}>
        <InputBox>
          <Icon name="search" />
          <input
            ref={field}
            type="search"
            aria-label={texts.find}
            placeholder={texts.find}
            value={find}
            onChange={(event) => setFind(event.target.value)}
          />
        </InputBox>
        <Segmented
          label={texts.look}
          size="sm"
          value={emphasis}
          options={[
            { value: 'critical', label: texts.critical },
            { value: 'alike', label: texts.alike },
          ]}
          onChange={setEmphasis}
        />
        <Segmented
          label={texts.axis}
          size="sm"
          value={axis}
          options={[
            { value: 'start', label: texts.sinceStart },
            { value: 'time', label: texts.timeOfDay },
          ]}
          onChange={setAxis}
        />
        <span className={classNames(styles.checks, fitStyles.atEnd)}>
          <label>
            <input type="checkbox" checked={withLogs} onChange={() => setLogs(!withLogs)} /> {texts.showLogs}
          </label>
          <label>
            <input type="checkbox" checked={withErrors} onChange={() => setErrors(!withErrors)} /> {texts.showErrors}
          </label>
        </span>
      </div>
      <div className={classNames(styles.head, narrowStyles.hiddenAt600)} aria-hidden="true">
        <span>{texts.span}</span>
        <span className={classNames(styles.axis, typeStyles.figures)}>
          {axisTicks(zoom.fromMs, zoom.toMs).map((ms) => (
            <span key={ms} style={{ insetInlineStart: percent(ms, zoom), translate: ms <= zoom.fromMs ? '0' : '-50%' }}>
              {atOf(ms)}
            </span>
          ))}
        </span>
      </div>
      <div ref={box} className={styles.scroll} data-long={slice.isLong ? '' : undefined} onScroll={slice.onScroll}>
        {rows.length === 0 ? <EmptyState kind="filtered" title={texts.notFound} /> : null}
        <ul style={{ paddingBlock: `${slice.beforePx}px ${slice.afterPx}px` }}>
          {rows.slice(slice.first, slice.end).map((row) => (
            <WaterfallRow key={row.key} row={row} look={look} />
          ))}
        </ul>
      </div>
      <CardFooter
        note={[
          folded === 0 ? null : texts.folded(folded),
          emphasis === 'critical' ? texts.pathNote : null,
          trace.spans_left_out === 0 ? null : texts.leftOut(trace.spans_left_out),
          texts.kept[trace.kept_because],
          trace.kept_because === 'recent' ? null : texts.sampling(trace.sampling.kept, trace.sampling.transactions),
          trace.sampling.considered < trace.sampling.transactions ? texts.considered(trace.sampling.considered) : null,
        ]
          .filter((sentence) => sentence !== null)
          .join(' ')}
      />
    </Card>
  )
}

const toggled = (all: ReadonlySet<string>, one: string): ReadonlySet<string> =>
  all.has(one) ? new Set([...all].filter((other) => other !== one)) : new Set([...all, one])

type Keys = {
  rows: readonly Row[]
  tree: Tree
  selected: Node | null
  trace: Trace
  zoom: Zoom | null
  onZoom: (zoom: Zoom | null) => void
  toggle: (id: string) => void
  field: { current: HTMLInputElement | null }
  toRow: (id: string | undefined) => void
  emphasis: 'critical' | 'alike'
  setEmphasis: (emphasis: 'critical' | 'alike') => void
}

function useWaterfallKeys({ rows, selected, trace, zoom, onZoom, toggle, field, toRow, emphasis, setEmphasis }: Keys) {
  const navigate = useNavigate()
  const select = (id: string | undefined) =>
    void navigate({ ...paths.trace(trace.trace_id, { span: id }), replace: true, resetScroll: false }).then(() =>
      toRow(id),
    )
  const spans = rows.flatMap((row) => (row.kind === 'span' ? [row] : []))
  const at = spans.findIndex(({ node }) => node === selected)
  const step = (by: number) => select(spans[at < 0 ? 0 : Math.min(spans.length - 1, Math.max(0, at + by))]?.key)
  const fold = (isOpen: boolean) => {
    const row = spans[at]
    if (row !== undefined && row.node.children.length > 0 && row.isOpen !== isOpen) toggle(row.key)
  }
  const nextError = () => {
    const failed = spans.filter(({ node }) => node.hasError)
    select((failed.find(({ node }) => spans.findIndex((row) => row.node === node) > at) ?? failed[0])?.key)
  }
  const { keys } = texts
  const bind = (chord: string, label: string, run: () => void, more: object = {}) =>
    ({ keys: chord, label, group: 'Page', run, sheetOnly: true, ...more }) as const
  useKeys([
    bind('j', keys.next, () => step(1), { repeats: true }),
    bind('k', keys.previous, () => step(-1), { repeats: true }),
    // Without a span they scroll.
    ...(selected === null
      ? []
      : [bind('arrowleft', keys.fold, () => fold(false)), bind('arrowright', keys.unfold, () => fold(true))]),
    bind('c', keys.critical, () => setEmphasis(emphasis === 'critical' ? 'alike' : 'critical')),
    bind('e', keys.error, nextError),
    bind('z', keys.zoom, () => {
      if (selected === null) return
      const { start_ms: fromMs, duration_ms: ms } = selected.span
      onZoom({ fromMs, toMs: fromMs + Math.max(ms, 0.01) })
    }),
    bind('escape', keys.whole, () => (zoom === null ? select(undefined) : onZoom(null))),
    bind('/', keys.find, () => field.current?.focus()),
  ])
}

/** A moment as a place in the shown part of a trace. */
const percent = (ms: number, { fromMs, toMs }: Zoom): string =>
  `${(Math.min(1, Math.max(0, (ms - fromMs) / (toMs - fromMs))) * 100).toFixed(3)}%`

function WaterfallRow({ row, look }: { row: Row; look: Look }) {
  if (row.kind === 'span') return <SpanRow node={row.node} isOpen={row.isOpen} look={look} />
  if (row.kind === 'fold') return <FoldRow row={row} look={look} />
  if (row.kind === 'silent') return <SilentRow project={row.project} series={look.series} />
  if (row.kind === 'error') {
    const { error } = row
    return (
      <li className={classNames(styles.row, typeStyles.soft)} data-kind="error" data-level="error">
        <span className={classNames(styles.name, typeStyles.red)} style={indent(row.depth)}>
          <Icon name="warn" label={texts.showErrors} />
          <Link
            {...paths.issue(error.issue_id, { event: error.event_id })}
            className={classNames(fitStyles.ellipsis, choiceStyles.underlines)}
          >
            {error.title}
          </Link>
          <ShortId className={fitStyles.atEnd}>{error.short_id}</ShortId>
        </span>
        <Moment ms={error.at_ms} look={look} />
      </li>
    )
  }
  const { log } = row
  const level = lookOfLevel(log.level)
  return (
    <li className={classNames(styles.row, typeStyles.soft)} data-kind="log" data-level={level}>
      <span className={styles.name} style={indent(row.depth)}>
        <LevelIcon level={log.level} />
        <span className={fitStyles.ellipsis} title={log.body}>
          {log.body}
        </span>
      </span>
      <Moment ms={log.at_ms} look={look} />
    </li>
  )
}

/** A project that took part without spans. */
function SilentRow({ project: { project_id: id, name }, series }: { project: SilentProject; series: SeriesOf }) {
  return (
    <li className={classNames(styles.row, seriesClass)} data-kind="silent" data-series={series(id)}>
      <span className={styles.name} style={indent(0)} title={texts.silentMore}>
        <i className={classNames(styles.edge, fitStyles.ownColour)} aria-hidden="true" />
        <span className={fitStyles.ellipsis}>{texts.silent(name)}</span>
      </span>
      <span className={styles.lane} aria-hidden="true">
        <i className={classNames(styles.silent, fitStyles.ownColour)} />
      </span>
    </li>
  )
}

const indent = (depth: number) => ({
  paddingInlineStart: `calc(${Math.min(depth, MAX_INDENT)} * var(--step) + var(--space-10))`,
})

/** The place of an error or log line, with its time of day. */
function Moment({ ms, look: { zoom, atOf } }: { ms: number; look: Look }) {
  const isLate = (ms - zoom.fromMs) / (zoom.toMs - zoom.fromMs) > 0.6
  return (
    <span className={styles.lane}>
      {ms < zoom.fromMs || ms > zoom.toMs ? null : (
        <>
          <i
            className={classNames(styles.moment, fitStyles.ownColour)}
            style={{ insetInlineStart: percent(ms, zoom) }}
          />
          <Label from={percent(ms, zoom)} to={percent(ms, zoom)} isBefore={isLate} isMoment>
            {atOf(ms)}
          </Label>
        </>
      )}
    </span>
  )
}

type SilentProject = Trace['silent_projects'][number]

type LabelProps = {
  from: string
  to: string
  isBefore: boolean
  /** It stays where rows are narrow. */
  isMoment?: boolean
  children: string
}

/** A text beside a bar: after it, or before it where there is no room. */
const Label = ({ from, to, isBefore, isMoment = false, children }: LabelProps) => (
  <span
    className={classNames(styles.label, typeStyles.figures, !isMoment && narrowStyles.hiddenAt600)}
    data-before={isBefore ? '' : undefined}
    style={isBefore ? { insetInlineEnd: `calc(100% - ${from} + 7px)` } : { insetInlineStart: `calc(${to} + 7px)` }}
  >
    {children}
  </span>
)

function SpanRow({ node, isOpen, look }: { node: Node; isOpen: boolean; look: Look }) {
  const { span, depth, children, isCritical, hasError, isOrphan, queuedMs } = node
  const { trace, series, selected, zoom, onToggle } = look
  const name = span.description || span.op
  const isJob = queuedMs >= 1 && node.parent?.span.project_id !== span.project_id
  const endMs = span.start_ms + span.duration_ms
  const length = formatSpanLength(span.duration_ms)
  return (
    <li
      className={classNames(styles.row, seriesClass, choiceStyles.selectable, choiceStyles.row)}
      data-kind="span"
      data-series={series(span.project_id)}
      data-critical={isCritical ? '' : undefined}
      data-selected={node === selected ? '' : undefined}
    >
      <span className={styles.name} style={indent(depth)}>
        <i className={classNames(styles.edge, fitStyles.ownColour)} aria-hidden="true" />
        {children.length === 0 && node.errors.length === 0 && node.logs.length === 0 ? (
          <i className={styles.twist} />
        ) : (
          <button
            type="button"
            className={classNames(styles.twist, fitStyles.icons12)}
            aria-expanded={isOpen}
            aria-label={isOpen ? texts.hide(name) : texts.show(name)}
            onClick={() => onToggle(span.span_id)}
          >
            <Icon name={isOpen ? 'down' : 'right'} />
          </button>
        )}
        <Link
          {...paths.trace(trace.trace_id, { span: node === selected ? undefined : span.span_id })}
          replace
          resetScroll={false}
          aria-current={node === selected ? 'true' : undefined}
          className={classNames(styles.text, choiceStyles.underlines)}
        >
          {span.op === name ? null : <span className={typeStyles.meta}>{span.op} </span>}
          <span className={typeStyles.medium}>{name}</span>
        </Link>
        {hasError ? <Icon name="warn" label={texts.failed} className={typeStyles.red} /> : null}
        {isOrphan ? (
          <span className={typeStyles.meta} title={texts.orphan}>
            {texts.orphanMark}
          </span>
        ) : null}
        <span className={classNames(styles.short, typeStyles.figures)} aria-hidden="true">
          {length}
        </span>
      </span>
      <Bar
        startMs={span.start_ms}
        endMs={endMs}
        zoom={zoom}
        queuedMs={isJob ? queuedMs : 0}
        text={isJob ? `${texts.queued(formatDuration(queuedMs))} ${length}` : length}
      />
    </li>
  )
}

function FoldRow({ row: { fold, key, depth }, look }: { row: { fold: Fold; key: string; depth: number }; look: Look }) {
  const [{ span }] = fold.nodes
  const { series, zoom, unfolded, onUnfold } = look
  const name = span.description || span.op
  const isOpen = unfolded.has(key)
  const count = fold.nodes.length
  return (
    <li
      className={classNames(styles.row, seriesClass, choiceStyles.selectable, choiceStyles.row)}
      data-kind="fold"
      data-series={series(span.project_id)}
      data-critical={fold.isCritical ? '' : undefined}
    >
      <span className={styles.name} style={indent(depth)}>
        <i className={classNames(styles.edge, fitStyles.ownColour)} aria-hidden="true" />
        <button
          type="button"
          className={classNames(styles.twist, fitStyles.icons12)}
          aria-expanded={isOpen}
          aria-label={isOpen ? texts.hide(name) : texts.show(name)}
          onClick={() => onUnfold(key)}
        >
          <Icon name={isOpen ? 'down' : 'right'} />
        </button>
        <span className={styles.text}>
          {span.op === name ? null : <span className={typeStyles.meta}>{span.op} </span>}
          <span className={typeStyles.medium}>{name}</span>
        </span>
        <span className={classNames(styles.times, typeStyles.figures)}>{texts.times(count)}</span>
        <span className={classNames(styles.short, typeStyles.figures)} aria-hidden="true">
          {formatSpanLength(fold.totalMs)}
        </span>
      </span>
      <Bar
        startMs={fold.startMs}
        endMs={fold.endMs}
        zoom={zoom}
        queuedMs={0}
        pieces={fold.nodes}
        text={`${texts.same(count)}, ${formatSpanLength(fold.totalMs)}`}
      />
    </li>
  )
}

/** So many pieces of a fold are drawn; more are one bar. */
const MAX_PIECES = 60

function Bar({
  startMs,
  endMs,
  zoom,
  queuedMs,
  pieces,
  text,
}: {
  startMs: number
  endMs: number
  zoom: Zoom
  queuedMs: number
  pieces?: readonly Node[]
  text: string
}) {
  const from = percent(startMs, zoom)
  const to = percent(endMs, zoom)
  const drawn =
    pieces === undefined || pieces.length > MAX_PIECES
      ? [{ key: '', startMs, endMs }]
      : pieces.map(({ span }) => ({
          key: span.span_id,
          startMs: span.start_ms,
          endMs: span.start_ms + span.duration_ms,
        }))
  const isBefore = (endMs - zoom.fromMs) / (zoom.toMs - zoom.fromMs) > 0.75
  const isSeen = endMs >= zoom.fromMs && startMs <= zoom.toMs
  const isInside = isBefore && (startMs - zoom.fromMs) / (zoom.toMs - zoom.fromMs) < 0.25
  return (
    <span className={styles.lane}>
      {isSeen && queuedMs > 0 ? (
        <i
          className={styles.queue}
          style={{
            insetInlineStart: percent(startMs - queuedMs, zoom),
            insetInlineEnd: `calc(100% - ${from})`,
          }}
        />
      ) : null}
      {isSeen
        ? drawn.map((piece) => (
            <i
              key={piece.key}
              className={classNames(styles.bar, fitStyles.ownColour)}
              style={{
                insetInlineStart: percent(piece.startMs, zoom),
                insetInlineEnd: `calc(100% - ${percent(piece.endMs, zoom)})`,
              }}
            />
          ))
        : null}
      {isInside ? (
        <span className={classNames(styles.label, styles.inside, typeStyles.figures, narrowStyles.hiddenAt600)}>
          {text}
        </span>
      ) : isSeen ? (
        <Label from={queuedMs > 0 ? percent(startMs - queuedMs, zoom) : from} to={to} isBefore={isBefore}>
          {text}
        </Label>
      ) : (
        <span className={typeStyles.hidden}>{text}</span>
      )}
    </span>
  )
}
