import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { HealthView } from '../../../api/metric-queries.ts'
import { spanOperationsQuery, type SpanOperations } from '../../../api/performance-queries.ts'
import { paths } from '../../../address/paths.ts'
import type { PerformanceSearch } from '../../../address/search.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { Card } from '../../../ui/card.tsx'
import { DataTable, type Column } from '../../../ui/data-table.tsx'
import { formatCount, formatDuration, formatRate } from '../../../ui/format.ts'
import { Minor } from '../../../ui/text.tsx'
import { Enough } from './columns.tsx'
import { listSearch } from './model.ts'
import { requestTexts } from './request-texts.ts'
import styles from './tables.module.css'

type Kind = keyof typeof requestTexts.operations
type Operation = SpanOperations['queries'][number]

/** The name of the service for what exceeds the limit of a day. */
const OTHER = '<other>'

type OperationCardsProps = {
  view: HealthView
  search: PerformanceSearch
  kinds: readonly Kind[]
  titles?: Partial<Record<Kind, string>>
}

/** A card for each kind of operation that spans have; none for the others. */
export function OperationCards({ view, search, kinds, titles = requestTexts.operations }: OperationCardsProps) {
  const query = useQuery({ ...spanOperationsQuery(view), meta: { quiet: true } })
  return (
    <PageQuery query={query} what={requestTexts.operations[kinds[0] ?? 'queries']} heightPx={200}>
      {(data) => (
        <>
          {kinds
            .filter((kind) => data[kind].length > 0)
            .map((kind) => (
              <OperationCard
                key={kind}
                kind={kind}
                title={titles[kind] ?? requestTexts.operations[kind]}
                data={data}
                search={listSearch(search)}
              />
            ))}
        </>
      )}
    </PageQuery>
  )
}

type OperationCardProps = {
  kind: Kind
  title: string
  data: SpanOperations
  search: PerformanceSearch
}

function OperationCard({ kind, title, data, search }: OperationCardProps) {
  const rows = data[kind]
  const hits: Column<Operation> = {
    head: requestTexts.hits,
    numeric: true,
    cell: ({ hit_rate: rate }) => formatRate(rate),
  }
  return (
    <Card title={title} header={<Minor>{requestTexts.byTime}</Minor>}>
      <DataTable
        scrollLabel={figuresTexts.tableOf(title)}
        className={styles.table}
        rows={rows}
        keyOf={({ op, name }) => `${op} ${name}`}
        columns={[
          {
            head: requestTexts.operationNames[kind],
            title: ({ name }) => (name === OTHER ? requestTexts.otherNote : name),
            cell: ({ name, op }) => (
              <>
                {name === OTHER ? requestTexts.other : name} <Minor>{op}</Minor>
              </>
            ),
          },
          { head: requestTexts.calls, numeric: true, cell: ({ count }) => formatCount(count) },
          {
            head: requestTexts.perRequest,
            numeric: true,
            cell: ({ per_request: each }) => (each === null ? figuresTexts.unknown : timesText(each)),
          },
          { head: figuresTexts.p50, numeric: true, cell: ({ p50_ms: ms, count }) => <Enough ms={ms} of={count} /> },
          { head: figuresTexts.p75, numeric: true, cell: ({ p75_ms: ms, count }) => <Enough ms={ms} of={count} /> },
          { head: figuresTexts.p95, numeric: true, cell: ({ p95_ms: ms, count }) => <Enough ms={ms} of={count} /> },
          { head: requestTexts.totalTime, numeric: true, cell: ({ total_ms: ms }) => formatDuration(ms) },
          ...(kind === 'caches'
            ? [hits]
            : [
                {
                  head: requestTexts.failedHead,
                  numeric: true,
                  cell: ({ failures, count }: Operation) => formatRate(failures / count),
                },
              ]),
          {
            head: requestTexts.caller,
            title: ({ transaction }) => transaction ?? '',
            cell: ({ transaction, transactions }) =>
              transaction === null ? null : (
                <>
                  <Link {...paths.transaction(transaction, search)}>{transaction}</Link>
                  {transactions > 1 ? <Minor> {requestTexts.callers(transactions - 1)}</Minor> : null}
                </>
              ),
          },
          {
            head: requestTexts.trace,
            cell: ({ trace_id: id }) => (id === null ? null : <Link {...paths.trace(id)}>{id.slice(0, 8)}</Link>),
          },
        ]}
      />
    </Card>
  )
}

/** `1`, `2.5`, `31`: how often one request has an operation. */
export const timesText = (times: number): string => String(Number(times.toFixed(times < 10 ? 1 : 0)))
