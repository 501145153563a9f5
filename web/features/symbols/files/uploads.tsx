import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { usePolling } from '../../../api/live.ts'
import { dsymsQuery, sourceMapsQuery, type DsymRow, type SourceMapRow } from '../../../api/symbol-queries.ts'
import { appTexts } from '../../../app/texts.ts'
import { QueryError } from '../../../frames/query-error.tsx'
import { Badge } from '../../../ui/badge.tsx'
import { IconButton } from '../../../ui/button.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatCount, formatSize } from '../../../ui/format.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import { Segmented } from '../../../ui/segmented.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Spacer } from '../../../ui/stack.tsx'
import { ColumnHead, NumberCell, Table } from '../../../ui/table.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import typeStyles from '../../../ui/type.module.css'
import { DeleteDialog, type DeletedFile } from './delete-dialog.tsx'
import { symbolsTexts } from './texts.ts'

const texts = symbolsTexts.table
const INDEXING_MS = 2_000
const IDLE_MS = 30_000

/** The files of a project, newest first. */
export function Uploads({ projectId }: { projectId: string }) {
  const [kind, setKind] = useState<'code' | 'native'>('code')
  const [deleted, setDeleted] = useState<DeletedFile | null>(null)
  const idle = usePolling(IDLE_MS)
  const refetchInterval = ({ state }: { state: { data?: { items: readonly { state: string }[] } | undefined } }) =>
    state.data?.items.some((file) => file.state === 'indexing') === true ? INDEXING_MS : idle
  const code = useQuery({ ...sourceMapsQuery(projectId), refetchInterval, meta: { quiet: true } })
  const native = useQuery({ ...dsymsQuery(projectId), refetchInterval, meta: { quiet: true } })
  const shown = kind === 'code' ? code : native
  const { data, error } = shown
  return (
    <Card
      title={texts.title}
      header={
        <>
          <Spacer />
          <Segmented
            size="sm"
            label={texts.kind}
            value={kind}
            options={[
              { value: 'code', label: texts.code },
              { value: 'native', label: texts.native },
            ]}
            onChange={setKind}
          />
        </>
      }
    >
      {data === undefined ? (
        error === null ? (
          <Skeleton heightPx={160} label={appTexts.loading} />
        ) : (
          <QueryError what={texts.title} error={error} onRetry={() => void shown.refetch()} />
        )
      ) : data.items.length === 0 ? (
        <EmptyState kind="setup" heading="h3" title={texts.none}>
          {texts.noneText}
        </EmptyState>
      ) : (
        <FileTable
          files={data.items}
          onDelete={({ id, name }) => setDeleted({ projectId, id, name, isCode: kind === 'code' })}
        />
      )}
      {data !== undefined && data.total > data.items.length ? (
        <CardFooter note={texts.more(formatCount(data.total))} />
      ) : null}
      {deleted === null ? null : <DeleteDialog file={deleted} onClose={() => setDeleted(null)} />}
    </Card>
  )
}

type Row = SourceMapRow | DsymRow

function FileTable({ files, onDelete }: { files: readonly Row[]; onDelete: (file: Row) => void }) {
  return (
    <Table scrollLabel={texts.title}>
      <thead>
        <tr>
          <ColumnHead>{texts.name}</ColumnHead>
          <ColumnHead>{files.some((file) => 'release' in file) ? texts.release : texts.cpu}</ColumnHead>
          <ColumnHead className={narrowStyles.hiddenAt900}>{texts.debugId}</ColumnHead>
          <ColumnHead numeric>{texts.size}</ColumnHead>
          <ColumnHead>{texts.state}</ColumnHead>
          <ColumnHead className={narrowStyles.hiddenAt900}>{texts.when}</ColumnHead>
          <ColumnHead>
            <span className={typeStyles.hidden}>{texts.actions}</span>
          </ColumnHead>
        </tr>
      </thead>
      <tbody>
        {files.map((file) => (
          <tr key={file.id}>
            <th scope="row" className={fitStyles.breaks}>
              <span className={typeStyles.mono}>{('filename' in file ? file.filename : null) ?? file.name}</span>
            </th>
            <td className={fitStyles.breaks}>{('release' in file ? file.release : file.cpu_name) ?? '–'}</td>
            <td className={narrowStyles.hiddenAt900}>
              <span className={typeStyles.mono}>{file.debug_id?.slice(0, 18) ?? '–'}</span>
            </td>
            <NumberCell>{formatSize(file.size_bytes)}</NumberCell>
            <td>
              <FileState file={file} />
            </td>
            <td className={narrowStyles.hiddenAt900}>
              <Time at={file.created_at} />
            </td>
            <td className={fitStyles.textEnd}>
              <IconButton
                size="sm"
                look="ghost"
                icon="trash"
                label={symbolsTexts.deletion.of(file.name)}
                onClick={() => onDelete(file)}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  )
}

const TONES = { indexing: 'plain', ready: 'green', failed: 'red' } as const

const FileState = ({ file }: { file: Row }) => (
  <>
    <Badge tone={TONES[file.state]}>{texts.states[file.state]}</Badge>
    {file.problem === null ? null : <Minor as="p">{file.problem}</Minor>}
  </>
)
