import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { paths } from '../../../address/paths.ts'
import { traceQuery, type Trace } from '../../../api/trace-queries.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { usePrefs } from '../../../app/prefs.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { useKeys } from '../../../app/keys.ts'
import { Button, buttonLook } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Crumbs } from '../../../ui/crumbs.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatDay, formatDuration, zoneName } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import narrowStyles from '../../../ui/narrow.module.css'
import { Note } from '../../../ui/note.tsx'
import { useNow } from '../../../ui/now.ts'
import { PageHead } from '../../../ui/page-head.tsx'
import { PageMain } from '../../../ui/page-main.tsx'
import typeStyles from '../../../ui/type.module.css'
import { formatMillis } from './clock.ts'
import { buildTree } from './model.ts'
import { PathCard } from './path-card.tsx'
import { ProjectMark, useProjectSeries } from './project-mark.tsx'
import { SpanDetail } from './span-detail.tsx'
import { traceTexts as texts } from './texts.ts'
import { TraceMap, type Zoom } from './trace-map.tsx'
import { Waterfall } from './waterfall.tsx'
import styles from './trace-page.module.css'

const route = getRouteApi('/signed-in/shell/traces/$traceId')

/** The page of one trace across all projects: its critical path, its spans as a waterfall, errors and log lines. */
export function TracePage() {
  const { traceId } = route.useParams()
  const trace = useQuery({ ...traceQuery(traceId), meta: { quiet: true } })
  usePrefs()
  usePageTitle(trace.data === undefined ? texts.title : nameOf(trace.data))
  return (
    <PageMain>
      <PageQuery
        query={trace}
        what={texts.title}
        pageTitle={texts.title}
        missing={
          <EmptyState
            kind="missing"
            heading="h1"
            title={texts.missing}
            actions={
              <Link {...paths.traces()} {...buttonLook({ look: 'primary' })}>
                {texts.back}
              </Link>
            }
          >
            {texts.missingText}
          </EmptyState>
        }
      >
        {(data) => <Growing key={data.trace_id} trace={data} />}
      </PageQuery>
    </PageMain>
  )
}

const nameOf = ({ name }: Trace): string => (name === '' ? texts.unnamed : name)

const REFRESH_MS = 15_000
/** The parts of a visit arrive within this time; later the trace stands. */
const GROWING_MS = 15 * 60_000

/** A trace that grows while it is read: new spans wait until the reader wants them, and nothing moves before. */
function Growing({ trace: newest }: { trace: Trace }) {
  const [trace, setTrace] = useState(newest)
  const known = useMemo(() => new Set(trace.spans.map(({ span_id: id }) => id)), [trace])
  const isGrowing = useNow('half-minute') - Date.parse(newest.started_at) < GROWING_MS
  useQuery({ ...traceQuery(trace.trace_id), refetchInterval: isGrowing ? REFRESH_MS : false, meta: { quiet: true } })
  const waiting = newest.spans.filter(({ span_id: id }) => !known.has(id)).length
  const show = () => setTrace(newest)
  // Without new spans, what else changed is shown at once, and stays.
  if (waiting === 0 && trace !== newest) setTrace(newest)
  useKeys([{ keys: '.', label: texts.keys.newSpans, group: 'Page', run: show, sheetOnly: true }])
  return (
    <>
      {waiting === 0 ? null : (
        <div className={fitStyles.gapAfter}>
          <Note
            tone="blue"
            icon="info"
            role="status"
            action={
              <Button size="sm" onClick={show}>
                {texts.showNew}
              </Button>
            }
          >
            {texts.newSpans(waiting)}
          </Note>
        </div>
      )}
      <Body trace={trace} />
    </>
  )
}

function Body({ trace }: { trace: Trace }) {
  const { span: selected } = route.useSearch()
  const tree = useMemo(() => buildTree(trace), [trace])
  const series = useProjectSeries()
  const [zoom, setZoom] = useState<Zoom | null>(null)
  const node = selected === undefined ? undefined : tree.nodes.get(selected)
  return (
    <>
      <Crumbs label={texts.list} list={<Link {...paths.traces()}>{texts.list}</Link>}>
        <span className={classNames(typeStyles.mono, fitStyles.shrinks, fitStyles.ellipsis)}>{trace.trace_id}</span>
        <CopyButton iconOnly text={trace.trace_id} said={texts.idCopied}>
          {texts.copyId}
        </CopyButton>
      </Crumbs>
      <PageHead>
        <div className={fitStyles.shrinks}>
          <h1 className={typeStyles.longTitle}>
            {nameOf(trace)} <span className={styles.length}>{formatDuration(trace.duration_ms)}</span>
          </h1>
          <Facts trace={trace} series={series} />
        </div>
      </PageHead>
      {trace.projects
        .filter(({ clock_shift_ms: shift }) => shift !== 0)
        .map(({ project_id: id, name, clock_shift_ms: shift }) => (
          <div key={id} className={fitStyles.gapAfter}>
            <Note tone="amber" icon="clock">
              {texts.clock(name, shift)}
            </Note>
          </div>
        ))}
      <Card
        className={classNames(styles.summary, narrowStyles.oneColumnAt924, fitStyles.gapAfter)}
        aria-label={texts.overview}
      >
        <PathCard trace={trace} tree={tree} />
        <TraceMap trace={trace} tree={tree} series={series} zoom={zoom} onZoom={setZoom} />
      </Card>
      <div className={classNames(fitStyles.columns, styles.columns)} data-detail={node === undefined ? undefined : ''}>
        <Waterfall trace={trace} tree={tree} series={series} selected={node ?? null} zoom={zoom} onZoom={setZoom} />
        {node === undefined ? null : <SpanDetail trace={trace} node={node} series={series} />}
      </div>
    </>
  )
}

function Facts({ trace, series }: { trace: Trace; series: (projectId: string) => number }) {
  const startMs = Date.parse(trace.started_at)
  const endMs = startMs + trace.duration_ms
  return (
    <div className={styles.facts}>
      <span>
        <Icon name="clock" />
        <time dateTime={trace.started_at}>
          {texts.time(formatDay(startMs), formatMillis(startMs), formatMillis(endMs), zoneName(startMs))}
        </time>
      </span>
      {trace.projects.map(({ project_id: id, name }) => (
        <ProjectMark key={id} name={name} series={series(id)} />
      ))}
      <span>{texts.spans(trace.spans.length)}</span>
      {trace.errors.length === 0 ? null : (
        <span className={typeStyles.red}>
          <Icon name="warn" />
          {texts.errors(trace.errors.length)}
        </span>
      )}
      {trace.logs.length === 0 ? null : <span>{texts.logs(trace.logs.length, trace.logs_capped)}</span>}
    </div>
  )
}
