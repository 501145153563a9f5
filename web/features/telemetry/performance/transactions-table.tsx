import type { TransactionRow } from '../../../api/performance-queries.ts'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { formatCount, formatRate } from '../../../ui/format.ts'
import { ColumnHead, NumberCell, Table } from '../../../ui/table.tsx'
import { Minor } from '../../../ui/text.tsx'
import { DurationCell } from './screens-table.tsx'
import { performanceTexts } from './texts.ts'
import styles from './tables.module.css'

/** Transactions with throughput and failure rate. */
export function TransactionsTable({ rows }: { rows: readonly TransactionRow[] }) {
  const { columns } = performanceTexts
  return (
    <Table scrollLabel={figuresTexts.tableOf(performanceTexts.transactions)} className={styles.table}>
      <thead>
        <tr>
          <ColumnHead>{columns.name}</ColumnHead>
          <ColumnHead numeric>{columns.count}</ColumnHead>
          <ColumnHead numeric>{columns.perMinute}</ColumnHead>
          <ColumnHead numeric>{figuresTexts.p50}</ColumnHead>
          <ColumnHead numeric>{figuresTexts.p75}</ColumnHead>
          <ColumnHead numeric>{figuresTexts.p95}</ColumnHead>
          <ColumnHead numeric>{columns.failed}</ColumnHead>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={`${row.op} ${row.name}`}>
            <th scope="row" title={row.name}>
              {row.name} <Minor>{row.op}</Minor>
            </th>
            <NumberCell>{formatCount(row.count)}</NumberCell>
            <NumberCell>{rateText(row.throughput)}</NumberCell>
            <DurationCell ms={row.p50} />
            <DurationCell ms={row.p75} />
            <DurationCell ms={row.p95} />
            <NumberCell>{formatRate(row.failure_rate)}</NumberCell>
          </tr>
        ))}
      </tbody>
    </Table>
  )
}

/** `12.4`, `0.03`: three digits are enough. */
const rateText = (perMinute: number): string =>
  perMinute >= 100
    ? formatCount(perMinute)
    : perMinute > 0 && perMinute < 0.01
      ? performanceTexts.rare
      : String(Number(perMinute.toFixed(perMinute < 10 ? 2 : 1)))
