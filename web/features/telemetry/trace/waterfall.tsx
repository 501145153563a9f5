import { Fragment, useMemo, useState } from 'react'
import type { Trace, TraceSpan } from '../../../api/trace-queries.ts'
import { formatDuration } from '../../../ui/format.ts'
import { DisclosureIcon } from '../../../ui/disclosure-icon.tsx'
import { KeyValues } from '../../../ui/key-values.tsx'
import { Table, ColumnHead, NumberCell } from '../../../ui/table.tsx'
import { Minor } from '../../../ui/text.tsx'
import typeStyles from '../../../ui/type.module.css'
import { waterfallRows, TICKS, type Row } from './model.ts'
import { traceTexts } from './texts.ts'
import styles from './waterfall.module.css'

/** Deeper spans are indented no further. */
const MAX_INDENT = 12

/** The spans of a trace, each with its time as a bar. A row opens to show the span's attributes. */
export function Waterfall({ trace }: { trace: Trace }) {
  const rows = useMemo(() => waterfallRows(trace.spans, trace.duration_ms), [trace])
  const failed = useMemo(() => new Set(trace.errors.map(({ span_id: id }) => id)), [trace])
  const [open, setOpen] = useState<string | null>(null)
  return (
    <Table cards className={styles.waterfall}>
      <thead>
        <tr>
          <ColumnHead>{traceTexts.span}</ColumnHead>
          <ColumnHead numeric>{traceTexts.duration}</ColumnHead>
          <ColumnHead>
            <span className={typeStyles.hidden}>{traceTexts.timeline}</span>
            <span className={styles.axis} aria-hidden="true">
              {TICKS.map((at) => (
                <span key={at} style={{ insetInlineStart: `${at * 100}%` }}>
                  {formatDuration(at * trace.duration_ms)}
                </span>
              ))}
            </span>
          </ColumnHead>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <SpanRow
            key={row.span.span_id}
            row={row}
            holdsError={failed.has(row.span.span_id)}
            isOpen={open === row.span.span_id}
            onToggle={() => setOpen(open === row.span.span_id ? null : row.span.span_id)}
          />
        ))}
      </tbody>
    </Table>
  )
}

function SpanRow({
  row: { span, depth, start, length, isOrphan },
  holdsError,
  isOpen,
  onToggle,
}: {
  row: Row
  holdsError: boolean
  isOpen: boolean
  onToggle: () => void
}) {
  const isFailed = span.status === 'error' || holdsError
  const detailsId = `span-${span.span_id}`
  return (
    <Fragment>
      <tr data-failed={isFailed ? '' : undefined} data-segment={span.is_segment ? '' : undefined}>
        <th scope="row">
          <button
            type="button"
            className={styles.name}
            aria-expanded={isOpen}
            aria-controls={isOpen ? detailsId : undefined}
            style={{ paddingInlineStart: `${Math.min(depth, MAX_INDENT) * 14}px` }}
            onClick={onToggle}
          >
            <DisclosureIcon />
            <span className={styles.op}>{span.op}</span> <span className={styles.description}>{span.description}</span>{' '}
            {isFailed ? <span className={styles.failed}>{traceTexts.failed}</span> : null}
          </button>
        </th>
        <NumberCell>{lengthOf(span.duration_ms)}</NumberCell>
        <td className={styles.time}>
          <span className={typeStyles.hidden}>{traceTexts.after(formatDuration(span.start_ms))}</span>
          <span className={styles.lane} aria-hidden="true">
            <span
              className={styles.bar}
              style={{ insetInlineStart: `${start * 100}%`, inlineSize: `${length * 100}%` }}
            />
          </span>
        </td>
      </tr>
      {isOpen ? (
        <tr id={detailsId} className={styles.details}>
          <td colSpan={3}>
            {isOrphan ? <Minor>{traceTexts.orphan}</Minor> : null}
            <Attributes data={span.data} />
          </td>
        </tr>
      ) : null}
    </Fragment>
  )
}

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
