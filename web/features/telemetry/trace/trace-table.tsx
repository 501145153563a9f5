import { Link } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import type { TraceItem } from '../../../api/trace-queries.ts'
import { useKeys } from '../../../app/keys.ts'
import { focusRow, rowKeys } from '../../../app/row-keys.ts'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { DataTable } from '../../../ui/data-table.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatCount, formatDuration, formatExact, formatMark, formatShare } from '../../../ui/format.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import { Minor } from '../../../ui/text.tsx'
import typeStyles from '../../../ui/type.module.css'
import { ProjectMark, seriesClass, type SeriesOf } from './project-mark.tsx'
import { tracesTexts as texts } from './traces-texts.ts'
import styles from './trace-table.module.css'

/** Names of projects in a row; a trace of more says how many. */
const MAX_NAMES = 4

/** Traces with their projects, and whose time the first span waited for. */
export function TraceTable({ traces, series }: { traces: readonly TraceItem[]; series: SeriesOf }) {
  useKeys(rowKeys(texts, (by) => focusRow('[data-trace]', by)))
  const { columns } = texts
  return (
    <DataTable
      cards
      className={styles.table}
      rows={traces}
      keyOf={(trace) => trace.trace_id}
      columns={[
        { head: columns.start, className: styles.start, cell: (trace) => <Start trace={trace} series={series} /> },
        {
          head: columns.share,
          headClass: styles.shareHead,
          className: styles.share,
          cell: (trace) => <Share trace={trace} series={series} />,
        },
        {
          head: columns.spans,
          headClass: styles.countHead,
          numeric: true,
          hiddenAtPx: 900,
          cell: (trace) => formatCount(trace.spans),
        },
        {
          head: columns.errors,
          headClass: styles.countHead,
          numeric: true,
          hiddenAtPx: 600,
          cell: (trace) =>
            trace.errors === 0 ? (
              <span className={typeStyles.quiet}>0</span>
            ) : (
              <span className={typeStyles.red}>{formatCount(trace.errors)}</span>
            ),
        },
        {
          head: columns.duration,
          headClass: styles.timeHead,
          className: styles.duration,
          numeric: true,
          cell: (trace) => formatDuration(trace.duration_ms),
        },
        {
          head: columns.at,
          headClass: styles.timeHead,
          className: styles.at,
          numeric: true,
          cell: (trace) => (
            <time dateTime={trace.started_at} title={formatExact(trace.started_at)}>
              {formatMark(trace.started_at)}
            </time>
          ),
        },
      ]}
    />
  )
}

function Start({ trace, series }: { trace: TraceItem; series: SeriesOf }) {
  const more = trace.projects.length - MAX_NAMES
  return (
    <div className={fitStyles.lines}>
      <Link
        {...paths.trace(trace.trace_id)}
        className={classNames(fitStyles.ellipsis, choiceStyles.underlines, typeStyles.medium)}
        data-trace=""
      >
        {trace.name === '' ? texts.unnamed : trace.name}
      </Link>
      <Minor className={classNames(styles.projects, narrowStyles.wrapsAt600)}>
        <span className={typeStyles.mono}>{trace.trace_id.slice(0, 8)}</span>
        {trace.projects.slice(0, MAX_NAMES).map(({ project_id: id, name }) => (
          <ProjectMark key={id} name={name} series={series(id)} />
        ))}
        {more > 0 ? <span>+{more}</span> : null}
        {trace.kept_because === 'recent' ? <span>{texts.recent}</span> : null}
      </Minor>
    </div>
  )
}

/** The critical path by project. */
function Share({ trace, series }: { trace: TraceItem; series: SeriesOf }) {
  const total = trace.projects.reduce((sum, { path_ms: ms }) => sum + ms, 0)
  const shares = trace.projects.filter(({ path_ms: ms }) => ms > 0)
  if (total === 0) return null
  return (
    <span
      role="img"
      className={styles.bar}
      aria-label={shares.map(({ name, path_ms: ms }) => `${name} ${formatShare(ms / total)}`).join(', ')}
      title={shares.map(({ name, path_ms: ms }) => `${name} ${formatShare(ms / total)}`).join(', ')}
    >
      {shares.map(({ project_id: id, path_ms: ms }) => (
        <i
          key={id}
          className={classNames(seriesClass, fitStyles.ownColour)}
          data-series={series(id)}
          style={{ flexGrow: ms / total }}
        />
      ))}
    </span>
  )
}
