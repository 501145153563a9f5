import { useQuery } from '@tanstack/react-query'
import { importDifferencesQuery, type Import, type ImportDifference } from '../../../api/import-queries.ts'
import { appTexts } from '../../../app/texts.ts'
import { QueryError } from '../../../frames/query-error.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatCount } from '../../../ui/format.ts'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { ColumnHead, NumberCell, Table } from '../../../ui/table.tsx'
import { Minor } from '../../../ui/text.tsx'
import { importTexts } from './texts.ts'
import styles from './imports.module.css'

const texts = importTexts.report

/** Every difference between there and here, with its reason. */
export function ReportCard({ one }: { one: Import }) {
  const differences = useQuery(importDifferencesQuery(one))
  const items = differences.data?.items
  return (
    <Card
      title={texts.title}
      header={
        <>
          <Minor>{texts.lead}</Minor>
          {items === undefined || items.length === 0 ? null : (
            <span className={fitStyles.atEnd}>
              <Button size="sm" icon="download" onClick={() => download(items)}>
                {texts.csv}
              </Button>
            </span>
          )}
        </>
      }
    >
      {items === undefined ? (
        differences.error === null ? (
          <Skeleton heightPx={120} label={appTexts.loading} />
        ) : (
          <QueryError what={texts.title} error={differences.error} onRetry={() => void differences.refetch()} />
        )
      ) : items.length === 0 ? (
        <EmptyState kind="setup" heading="h3" title={texts.none}>
          {texts.noneText}
        </EmptyState>
      ) : (
        <Table scrollLabel={texts.table} className={styles.report}>
          <thead>
            <tr>
              <ColumnHead>{texts.columns.kind}</ColumnHead>
              <ColumnHead numeric>{texts.columns.count}</ColumnHead>
              <ColumnHead>{texts.columns.why}</ColumnHead>
              <ColumnHead>{texts.columns.instead}</ColumnHead>
              <ColumnHead>{texts.columns.examples}</ColumnHead>
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <tr key={item.kind + item.reason}>
                <th scope="row" className={fitStyles.nowrap}>
                  {texts.kinds[item.kind] ?? item.kind}
                </th>
                <NumberCell>{formatCount(item.count)}</NumberCell>
                <td>{item.reason}</td>
                <td>{item.instead}</td>
                <td className={fitStyles.breaks}>
                  <Minor>{item.examples.join(', ')}</Minor>
                </td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </Card>
  )
}

const COLUMNS = ['kind', 'count', 'reason', 'instead', 'examples'] as const

/** Texts that a spreadsheet would run as formulas begin with an apostrophe. */
const cell = (value: string): string => `"${(/^[=+\-@\t\r]/.test(value) ? `'${value}` : value).replaceAll('"', '""')}"`

function download(items: readonly ImportDifference[]): void {
  const rows = items.map((item) =>
    [item.kind, String(item.count), item.reason, item.instead, item.examples.join('; ')].map(cell).join(','),
  )
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([`${COLUMNS.join(',')}\r\n${rows.join('\r\n')}\r\n`], { type: 'text/csv' }))
  link.download = 'import-report.csv'
  link.click()
  URL.revokeObjectURL(link.href)
}
