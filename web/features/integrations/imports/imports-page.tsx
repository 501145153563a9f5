import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import { importsQuery, type Import } from '../../../api/import-queries.ts'
import { useCan } from '../../../app/can.ts'
import { appTexts } from '../../../app/texts.ts'
import { QueryError } from '../../../frames/query-error.tsx'
import { RestrictedPage } from '../../../frames/restricted-page.tsx'
import { Badge } from '../../../ui/badge.tsx'
import { Card } from '../../../ui/card.tsx'
import { formatCount } from '../../../ui/format.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import { Note } from '../../../ui/note.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { ColumnHead, NumberCell, Table } from '../../../ui/table.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { SourceForm } from './source-form.tsx'
import { stateTones } from './state-tones.ts'
import { importTexts as texts } from './texts.ts'
import typeStyles from '../../../ui/type.module.css'

/** Imports of the organisation, and a form for the next one. */
export function ImportsPage() {
  const may = useCan('imports.manage')
  const imports = useQuery({ ...importsQuery, enabled: may.allowed })
  return (
    <RestrictedPage title={texts.title} lead={texts.lead} needs="imports.manage">
      <Note tone="blue" icon="info">
        <b>{texts.silent}</b> {texts.silentMore}
      </Note>
      {imports.data === undefined ? (
        imports.error === null ? (
          <Skeleton heightPx={220} label={appTexts.loading} />
        ) : (
          <Card>
            <QueryError what={texts.what} error={imports.error} onRetry={() => void imports.refetch()} />
          </Card>
        )
      ) : imports.data.items.length === 0 ? null : (
        <Card title={texts.list.title}>
          <ImportsTable imports={imports.data.items} />
        </Card>
      )}
      <SourceForm />
    </RestrictedPage>
  )
}

const ImportsTable = ({ imports }: { imports: readonly Import[] }) => (
  <Table>
    <thead>
      <tr>
        <ColumnHead>{texts.list.columns.source}</ColumnHead>
        <ColumnHead>{texts.list.columns.state}</ColumnHead>
        <ColumnHead numeric>{texts.list.columns.issues}</ColumnHead>
        <ColumnHead className={narrowStyles.hiddenAt900}>{texts.list.columns.started}</ColumnHead>
        <ColumnHead className={narrowStyles.hiddenAt900}>{texts.list.columns.by}</ColumnHead>
      </tr>
    </thead>
    <tbody>
      {imports.map((one) => (
        <tr key={one.id}>
          <th scope="row">
            <Link {...paths.import(one.id)} className={typeStyles.link}>
              {new URL(one.source_url).host}
            </Link>
            <Minor as="small"> {one.source_org}</Minor>
          </th>
          <td>
            <Badge tone={stateTones[one.state]}>{texts.states[one.state]}</Badge>
          </td>
          <NumberCell>{formatCount(one.counts.issues.done)}</NumberCell>
          <td className={narrowStyles.hiddenAt900}>
            <Time at={one.created_at} />
          </td>
          <td className={narrowStyles.hiddenAt900}>{one.created_by?.name ?? texts.unknownPerson}</td>
        </tr>
      ))}
    </tbody>
  </Table>
)
