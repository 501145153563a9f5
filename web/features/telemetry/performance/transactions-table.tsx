import type { TransactionRow } from '../../../api/performance-queries.ts'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { paths } from '../../../address/paths.ts'
import type { PerformanceSearch } from '../../../address/search.ts'
import { Bar } from '../../../ui/bar.tsx'
import { shortRelease } from '../../../subjects/figures/filter-model.ts'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { Delta } from '../../../ui/delta.tsx'
import { formatCount, formatDuration, formatGrowth, formatPoints, formatRate } from '../../../ui/format.ts'
import { DataTable, type Column } from '../../../ui/data-table.tsx'
import { Minor, NoData } from '../../../ui/text.tsx'
import { Enough } from './columns.tsx'
import { changeTone, formatTimeShare, listSearch, pointTone } from './model.ts'
import { performanceTexts } from './texts.ts'
import styles from './tables.module.css'

type TransactionsTableProps = {
  rows: readonly TransactionRow[]
  /** The releases that are compared; absent or null for none. */
  releases?: { release: string; previous: string } | null
  search: PerformanceSearch
  /** The time of all transactions, of which each has its share; absent without shares. */
  totalMs?: number
}

/** Transactions with throughput and failure rate. */
export function TransactionsTable({ rows, releases = null, search, totalMs }: TransactionsTableProps) {
  const { columns } = performanceTexts
  const changeColumn = (cell: (compared: Compared) => ReactNode): Column<TransactionRow>[] =>
    releases === null
      ? []
      : [
          {
            head: columns.release(shortRelease(releases.previous)),
            numeric: true,
            cell: ({ compared }) => (compared === null ? <NoData /> : cell(compared)),
          },
        ]
  return (
    <DataTable
      scrollLabel={figuresTexts.tableOf(performanceTexts.transactions)}
      className={styles.table}
      rows={rows}
      keyOf={({ op, name }) => `${op} ${name}`}
      columns={[
        {
          head: columns.name,
          title: ({ name }) => name,
          cell: ({ op, name }) => (
            <>
              <Link {...paths.transaction(name, listSearch(search))}>{name}</Link> <Minor>{op}</Minor>
            </>
          ),
        },
        { head: columns.count, numeric: true, cell: ({ count }) => formatCount(count) },
        { head: columns.perMinute, numeric: true, cell: ({ throughput }) => rateText(throughput) },
        { head: figuresTexts.p50, numeric: true, cell: ({ p50, count }) => <Enough ms={p50} of={count} /> },
        { head: figuresTexts.p75, numeric: true, cell: ({ p75, count }) => <Enough ms={p75} of={count} /> },
        { head: figuresTexts.p95, numeric: true, cell: ({ p95, count }) => <Enough ms={p95} of={count} /> },
        ...changeColumn(({ p95_change: growth, previous_p95_ms: before }) =>
          growth === null ? (
            <NoData />
          ) : (
            <Delta change={changeTone(growth)} title={formatDuration(before)}>
              {formatGrowth(growth)}
            </Delta>
          ),
        ),
        { head: columns.failed, numeric: true, cell: (row) => formatRate(row.failure_rate) },
        ...changeColumn(({ failure_rate_change: points, previous_failure_rate: before }) =>
          points === null ? (
            <NoData />
          ) : (
            <Delta change={pointTone(points)} title={formatRate(before)}>
              {formatPoints(points)}
            </Delta>
          ),
        ),
        ...(totalMs === undefined || totalMs <= 0
          ? []
          : [
              {
                head: columns.share,
                numeric: true,
                className: styles.share,
                cell: ({ total_ms: ms }: TransactionRow) => (
                  <span>
                    <Bar share={ms / totalMs} />
                    {formatTimeShare(ms / totalMs)}
                  </span>
                ),
              },
            ]),
      ]}
    />
  )
}

type Compared = NonNullable<TransactionRow['compared']>

/** `12.4`, `0.03`: three digits are enough. */
export const rateText = (perMinute: number): string =>
  perMinute >= 100
    ? formatCount(perMinute)
    : perMinute > 0 && perMinute < 0.01
      ? performanceTexts.rare
      : String(Number(perMinute.toFixed(perMinute < 10 ? 2 : 1)))
