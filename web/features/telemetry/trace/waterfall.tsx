import { useMemo, useState } from 'react'
import type { Trace, TraceSpan } from '../../../api/trace-queries.ts'
import { formatDuration } from '../../../ui/format.ts'
import { DisclosureIcon } from '../../../ui/disclosure-icon.tsx'
import { KeyValues } from '../../../ui/key-values.tsx'
import { DataTable } from '../../../ui/data-table.tsx'
import { Minor } from '../../../ui/text.tsx'
import typeStyles from '../../../ui/type.module.css'
import { waterfallRows, TICKS } from './model.ts'
import { traceTexts } from './texts.ts'
import styles from './waterfall.module.css'

/** Deeper spans are indented no further. */
const MAX_INDENT = 12

/** The spans of a trace, each with its time as a bar. A row opens to show the span's attributes. */
export function Waterfall({ trace }: { trace: Trace }) {
  const rows = useMemo(() => waterfallRows(trace.spans, trace.duration_ms), [trace])
  const failed = useMemo(() => new Set(trace.errors.map(({ span_id: id }) => id)), [trace])
  const [open, setOpen] = useState<string | null>(null)
  const isFailed = (span: TraceSpan) => span.status === 'error' || failed.has(span.span_id)
  return (
    <DataTable
      cards
      className={styles.waterfall}
      rows={rows}
      keyOf={({ span }) => span.span_id}
      rowAttributes={({ span }) => ({
        'data-failed': isFailed(span) ? '' : undefined,
        'data-segment': span.is_segment ? '' : undefined,
      })}
      columns={[
        {
          head: traceTexts.span,
          cell: ({ span, depth }) => (
            <button
              type="button"
              className={styles.name}
              aria-expanded={open === span.span_id}
              aria-controls={open === span.span_id ? detailsId(span) : undefined}
              style={{ paddingInlineStart: `${Math.min(depth, MAX_INDENT) * 14}px` }}
              onClick={() => setOpen(open === span.span_id ? null : span.span_id)}
            >
              <DisclosureIcon />
              <span className={styles.op}>{span.op}</span>{' '}
              <span className={styles.description}>{span.description}</span>{' '}
              {isFailed(span) ? <span className={styles.failed}>{traceTexts.failed}</span> : null}
            </button>
          ),
        },
        { head: traceTexts.duration, numeric: true, cell: ({ span }) => lengthOf(span.duration_ms) },
        {
          head: <Axis durationMs={trace.duration_ms} />,
          className: styles.time,
          cell: ({ span, start, length }) => (
            <>
              <span className={typeStyles.hidden}>{traceTexts.after(formatDuration(span.start_ms))}</span>
              <span className={styles.lane} aria-hidden="true">
                <span
                  className={styles.bar}
                  style={{ insetInlineStart: `${start * 100}%`, inlineSize: `${length * 100}%` }}
                />
              </span>
            </>
          ),
        },
      ]}
      below={({ span, isOrphan }) =>
        open === span.span_id ? (
          <tr id={detailsId(span)} className={styles.details}>
            <td colSpan={3}>
              {isOrphan ? <Minor>{traceTexts.orphan}</Minor> : null}
              <Attributes data={span.data} />
            </td>
          </tr>
        ) : null
      }
    />
  )
}

const detailsId = (span: TraceSpan): string => `span-${span.span_id}`

const Axis = ({ durationMs }: { durationMs: number }) => (
  <>
    <span className={typeStyles.hidden}>{traceTexts.timeline}</span>
    <span className={styles.axis} aria-hidden="true">
      {TICKS.map((at) => (
        <span key={at} style={{ insetInlineStart: `${at * 100}%` }}>
          {formatDuration(at * durationMs)}
        </span>
      ))}
    </span>
  </>
)

/** Many spans take less than a millisecond. */
const lengthOf = (durationMs: number): string =>
  durationMs > 0 && durationMs < 1 ? traceTexts.under(formatDuration(1)) : formatDuration(durationMs)

function Attributes({ data }: { data: TraceSpan['data'] }) {
  const entries = Object.entries(data)
  if (entries.length === 0) return <Minor>{traceTexts.noData}</Minor>
  return (
    <KeyValues>
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className={typeStyles.mono}>{String(value)}</dd>
        </div>
      ))}
    </KeyValues>
  )
}
