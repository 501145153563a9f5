import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { paths } from '../../../address/paths.ts'
import type { Asked, QueryResult } from '../../../api/assistant-queries.ts'
import { downloadText } from '../../../app/download.ts'
import { usePrefs } from '../../../app/prefs.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Bar } from '../../../ui/bar.tsx'
import { BigFigure } from '../../../ui/big-figure.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { BarChart, LineChart } from '../../../ui/chart/charts.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatClock, formatCount, formatDuration, formatMoment, formatShortCount } from '../../../ui/format.ts'
import { Code } from '../../../ui/highlight.tsx'
import { Segmented } from '../../../ui/segmented.tsx'
import { Spacer } from '../../../ui/stack.tsx'
import { DataTable, type Column as TableColumn } from '../../../ui/data-table.tsx'
import { Minor } from '../../../ui/text.tsx'
import { findBarColumn, toCsv, findDrawing, toNumber, statementParts, type Drawing } from './model.ts'
import { SaveQuery } from './saved.tsx'
import { queryTexts as texts } from './texts.ts'
import styles from './query-page.module.css'

type ResultProps = { projectId: string; asked: Asked; result: QueryResult; onEdit: (sql: string) => void }

/** The statement that ran, and what it found. */
export function Result({ projectId, asked, result, onEdit }: ResultProps) {
  const [isSaving, setSaving] = useState(false)
  const drawing = findDrawing(result)
  const [view, setView] = useState<'table' | 'chart'>(drawing?.kind === 'line' ? 'chart' : 'table')
  const { rows, columns } = result
  usePrefs()
  return (
    <>
      <Statement result={result} onEdit={onEdit} />
      <Card
        title={texts.rows(result.row_count, formatCount(result.row_count))}
        header={
          <>
            <Minor>{texts.took(formatDuration(result.took_ms), formatClock(result.data_as_of))}</Minor>
            <Spacer />
            {drawing === null ? null : (
              <Segmented
                size="sm"
                label={texts.view}
                value={view}
                options={[
                  { value: 'table', label: texts.table },
                  { value: 'chart', label: texts.chart },
                ]}
                onChange={setView}
              />
            )}
            <Button size="sm" icon="download" onClick={() => downloadText('query.csv', toCsv(columns, rows))}>
              {texts.csv}
            </Button>
            <Button size="sm" onClick={() => setSaving(true)}>
              {texts.save}
            </Button>
          </>
        }
      >
        {rows.length === 0 ? (
          <EmptyState title={texts.none}>{texts.noneMore}</EmptyState>
        ) : drawing !== null && view === 'chart' ? (
          <Chart drawing={drawing} />
        ) : result.chart_hint.kind === 'number' && rows.length === 1 && columns.length === 1 ? (
          <p className={styles.number}>
            <BigFigure>{cellText(rows[0]?.[0] ?? null, columns[0]?.type ?? 'text')}</BigFigure>{' '}
            <Minor>{columns[0]?.name}</Minor>
          </p>
        ) : (
          <Rows result={result} />
        )}
        <CardFooter note={result.truncated ? texts.cut : result.explanation}>
          {'query' in asked ? <Link {...paths.ask({ project: projectId, q: asked.query })}>{texts.inAsk}</Link> : null}
        </CardFooter>
      </Card>
      {isSaving ? <SaveQuery projectId={projectId} asked={asked} onClose={() => setSaving(false)} /> : null}
    </>
  )
}

function Statement({ result, onEdit }: { result: QueryResult; onEdit: (sql: string) => void }) {
  const parts = statementParts(result.sql, result.additions)
  return (
    <Card
      title={texts.select}
      header={
        <>
          <Badge tone="green" icon="lock">
            {texts.checked}
          </Badge>
          <Spacer />
          <Minor>{texts.by[result.source]}</Minor>
          <Button size="sm" onClick={() => onEdit(result.written_sql)}>
            {texts.edit}
          </Button>
          <CopyButton size="sm" look="ghost" text={result.written_sql} said={texts.copied} />
        </>
      }
    >
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre className={styles.sql} role="region" tabIndex={0} aria-label={texts.statement}>
        <code>
          {parts.map(({ text, added }, index) =>
            added ? (
              <mark key={index} title={texts.addedHint}>
                <Code source={text} />
              </mark>
            ) : (
              <Code key={index} source={text} />
            ),
          )}
        </code>
      </pre>
      {parts.some(({ added }) => added) ? (
        <Minor as="p" className={fitStyles.more}>
          {texts.added}
        </Minor>
      ) : null}
    </Card>
  )
}

type Column = QueryResult['columns'][number]
type Cell = QueryResult['rows'][number][number]

function cellText(cell: Cell, type: Column['type']): string {
  if (cell === null) return texts.empty
  if (typeof cell === 'boolean') return cell ? texts.yes : texts.no
  if (typeof cell === 'number') return Number.isInteger(cell) ? formatCount(cell) : String(Number(cell.toPrecision(6)))
  return type === 'time' && !Number.isNaN(Date.parse(cell)) ? formatMoment(cell) : cell
}

const FIRST_ROWS = 100

function Rows({ result }: { result: QueryResult }) {
  const { columns, rows } = result
  const [isAll, setAll] = useState(false)
  const bar = findBarColumn(result)
  const shown = isAll ? rows : rows.slice(0, FIRST_ROWS)
  return (
    <>
      <DataTable
        scrollLabel={texts.result}
        className={styles.rows}
        rows={shown}
        keyOf={(_, place) => place}
        columns={columns.map(({ name, type }, index): TableColumn<readonly Cell[]> => ({
          head: <code>{name}</code>,
          numeric: type === 'number',
          isName: index === 0 && type !== 'number',
          cell: (row) => {
            const text = cellText(row[index] ?? null, type)
            if (bar?.column !== index) return text
            return (
              <span className={styles.withBar}>
                <Bar share={(toNumber(row[index]) ?? 0) / bar.max} className={styles.bar} />
                {text}
              </span>
            )
          },
        }))}
      />
      {shown.length === rows.length ? null : (
        <div className={fitStyles.more}>
          <Button size="sm" onClick={() => setAll(true)}>
            {texts.showAll(formatCount(rows.length))}
          </Button>
        </div>
      )}
    </>
  )
}

const CHART_PX = 260

function Chart({ drawing: { kind, name, places, values } }: { drawing: Drawing }) {
  const names = places.map((place) =>
    typeof place === 'string' && isTime(place) ? formatMoment(place) : String(place),
  )
  const [first = '', last = ''] = [names[0], names.at(-1)]
  const shared = {
    label: texts.drawing(name, first, last),
    heightPx: CHART_PX,
    xLabels: kind === 'bar' ? names.map((text, index) => ({ at: (index + 0.5) / names.length, text })) : [first, last],
  }
  return (
    <div className={styles.chart}>
      {kind === 'bar' ? (
        <BarChart {...shared} series={[{ label: name, tone: 'measure', values }]} buckets={names} />
      ) : (
        <LineChart
          {...shared}
          lines={[{ label: name, tone: 'measure', values, end: null }]}
          places={names}
          thresholds={[]}
          fromZero
          filled
          formatTick={formatShortCount}
          formatValue={(value) => (value === null ? texts.empty : cellText(value, 'number'))}
        />
      )}
    </div>
  )
}

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\d[T ]/.test(text) && !Number.isNaN(Date.parse(text))
