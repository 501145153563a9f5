import { useQuery } from '@tanstack/react-query'
import { importDifferencesQuery, importReportCsvUrl, type Import } from '../../../api/import-queries.ts'
import { appTexts } from '../../../app/texts.ts'
import { QueryError } from '../../../frames/query-error.tsx'
import { CsvLink } from '../../../subjects/figures/csv-link.tsx'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
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
              <CsvLink
                url={importReportCsvUrl(one.id)}
                filename="import-report.csv"
                label={figuresTexts.csv(texts.title)}
              />
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
