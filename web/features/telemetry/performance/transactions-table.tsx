import type { TransactionRow } from '../../../api/performance-queries.ts'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { formatCount, formatRate } from '../../../ui/format.ts'
import { DataTable } from '../../../ui/data-table.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Duration } from './columns.tsx'
import { performanceTexts } from './texts.ts'
import styles from './tables.module.css'

/** Transactions with throughput and failure rate. */
export function TransactionsTable({ rows }: { rows: readonly TransactionRow[] }) {
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
              {name} <Minor>{op}</Minor>
            </>
          ),
        },
        { head: columns.count, numeric: true, cell: ({ count }) => formatCount(count) },
        { head: columns.perMinute, numeric: true, cell: ({ throughput }) => rateText(throughput) },
        { head: figuresTexts.p50, numeric: true, cell: ({ p50 }) => <Duration ms={p50} /> },
        { head: figuresTexts.p75, numeric: true, cell: ({ p75 }) => <Duration ms={p75} /> },
        { head: figuresTexts.p95, numeric: true, cell: ({ p95 }) => <Duration ms={p95} /> },
        { head: columns.failed, numeric: true, cell: (row) => formatRate(row.failure_rate) },
      ]}
    />
  )
}

/** `12.4`, `0.03`: three digits are enough. */
const rateText = (perMinute: number): string =>
  perMinute >= 100
    ? formatCount(perMinute)
    : perMinute > 0 && perMinute < 0.01
      ? performanceTexts.rare
      : String(Number(perMinute.toFixed(perMinute < 10 ? 2 : 1)))
