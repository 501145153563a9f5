import type { TransactionRow } from '../../../api/performance-queries.ts'
import { Link } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import type { PerformanceSearch } from '../../../address/search.ts'
import { Bar } from '../../../ui/bar.tsx'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { formatCount, formatRate } from '../../../ui/format.ts'
import { DataTable } from '../../../ui/data-table.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Enough } from './columns.tsx'
import { formatTimeShare, listSearch } from './model.ts'
import { performanceTexts } from './texts.ts'
import styles from './tables.module.css'

type TransactionsTableProps = {
  rows: readonly TransactionRow[]
  search: PerformanceSearch
  /** The time of all transactions, of which each has its share; absent without shares. */
  totalMs?: number
}

/** Transactions with throughput and failure rate. */
export function TransactionsTable({ rows, search, totalMs }: TransactionsTableProps) {
  const { columns } = performanceTexts
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
        { head: columns.failed, numeric: true, cell: (row) => formatRate(row.failure_rate) },
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

/** `12.4`, `0.03`: three digits are enough. */
export const rateText = (perMinute: number): string =>
  perMinute >= 100
    ? formatCount(perMinute)
    : perMinute > 0 && perMinute < 0.01
      ? performanceTexts.rare
      : String(Number(perMinute.toFixed(perMinute < 10 ? 2 : 1)))
