import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { usePolling } from '../../../api/live.ts'
import {
  dsymsQuery,
  missingSymbolsQuery,
  sourceMapsQuery,
  type DsymRow,
  type SourceMapRow,
} from '../../../api/symbol-queries.ts'
import { GuideLink } from '../../../frames/guide-link.tsx'
import { bothQueries, PageQuery } from '../../../frames/page-query.tsx'
import { Badge } from '../../../ui/badge.tsx'
import { IconButton } from '../../../ui/button.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatCount, formatSize } from '../../../ui/format.ts'
import { Segmented } from '../../../ui/segmented.tsx'
import { Spacer } from '../../../ui/stack.tsx'
import { DataTable } from '../../../ui/data-table.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import typeStyles from '../../../ui/type.module.css'
import { DeleteDialog, type DeletedFile } from './delete-dialog.tsx'
import { symbolsTexts } from './texts.ts'

const texts = symbolsTexts.table
const INDEXING_MS = 2_000
const IDLE_MS = 30_000

type Row = SourceMapRow | DsymRow
type Shown = keyof typeof texts.shown

const kindOf = (file: Row) => ('kind' in file ? file.kind : file.symbolication_type)

const FILTERS = (['all', 'js_source_map', 'proguard', 'native'] as const).map((value) => ({
  value,
  label: texts.shown[value],
}))

const isShown = (file: Row, shown: Shown): boolean =>
  shown === 'all' || (shown === 'native' ? 'kind' in file : kindOf(file) === shown)

/** The files of a project, newest first. */
export function Uploads({ projectId }: { projectId: string }) {
  const [shown, setShown] = useState<Shown>('all')
  const [deleted, setDeleted] = useState<DeletedFile | null>(null)
  const idle = usePolling(IDLE_MS)
  const refetchInterval = ({ state }: { state: { data?: { items: readonly { state: string }[] } | undefined } }) =>
    state.data?.items.some((file) => file.state === 'indexing') === true ? INDEXING_MS : idle
  const code = useQuery({ ...sourceMapsQuery(projectId), refetchInterval, meta: { quiet: true } })
  const native = useQuery({ ...dsymsQuery(projectId), refetchInterval, meta: { quiet: true } })
  const used = useQuery(missingSymbolsQuery(projectId)).data?.used
  const uses = used === undefined ? null : new Map(used.map(({ file_id: id, events }) => [id, events]))
  const both = bothQueries(code, native)
  const all: Row[] = both.data?.flatMap(({ items }): readonly Row[] => items) ?? []
  const files = all
    .filter((file) => isShown(file, shown))
    .toSorted((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at))
  const total = (code.data?.total ?? 0) + (native.data?.total ?? 0)
  return (
    <Card
      title={texts.title}
      header={
        <>
          {both.data !== undefined ? <Minor>{texts.count(formatCount(total))}</Minor> : null}
          <Spacer />
          <Segmented size="sm" label={texts.filter} value={shown} options={FILTERS} onChange={setShown} />
        </>
      }
    >
      <PageQuery query={both} what={texts.title} heightPx={160} inCard>
        {() =>
          files.length === 0 ? (
            <EmptyState kind="setup" heading="h3" title={all.length === 0 ? texts.none : texts.noneOfKind}>
              {texts.noneText} <GuideLink page="symbols#from-a-build" />
            </EmptyState>
          ) : (
            <FileTable
              files={files}
              uses={uses}
              onDelete={(file) =>
                setDeleted({
                  projectId,
                  id: file.id,
                  name: file.name,
                  isCode: !('kind' in file),
                  uses: uses?.get(file.id) ?? 0,
                })
              }
            />
          )
        }
      </PageQuery>
      {total > all.length ? <CardFooter note={texts.more(formatCount(total))} /> : null}
      {deleted === null ? null : <DeleteDialog file={deleted} onClose={() => setDeleted(null)} />}
    </Card>
  )
}

type FileTableProps = {
  files: readonly Row[]
  /** Events that are read with a file, by its id; null while unknown. */
  uses: ReadonlyMap<string, number> | null
  onDelete: (file: Row) => void
}

function FileTable({ files, uses, onDelete }: FileTableProps) {
  return (
    <DataTable
      scrollLabel={texts.title}
      rows={files}
      keyOf={({ id }) => id}
      columns={[
        {
          head: texts.kind,
          hiddenAtPx: 600,
          cell: (file) => <Badge tone="plain">{texts.kinds[kindOf(file)]}</Badge>,
        },
        {
          head: texts.name,
          isName: true,
          className: fitStyles.breaks,
          cell: (file) => (
            <span className={typeStyles.mono}>{('filename' in file ? file.filename : null) ?? file.name}</span>
          ),
        },
        {
          head: texts.releaseOrCpu,
          className: fitStyles.breaks,
          cell: (file) => ('release' in file ? file.release : file.cpu_name) ?? '–',
        },
        {
          head: texts.debugId,
          hiddenAtPx: 900,
          cell: ({ debug_id: id }) => (
            <span className={typeStyles.mono} title={id ?? undefined}>
              {id?.slice(0, 13) ?? '–'}
            </span>
          ),
        },
        { head: texts.size, numeric: true, cell: (file) => formatSize(file.size_bytes) },
        {
          head: texts.usedBy,
          headTitle: texts.usedByHint,
          numeric: true,
          hiddenAtPx: 900,
          cell: ({ id }) => (uses === null ? '–' : texts.uses(formatCount(uses.get(id) ?? 0))),
        },
        { head: texts.state, cell: (file) => <FileState file={file} /> },
        { head: texts.when, hiddenAtPx: 900, cell: (file) => <Time at={file.created_at} /> },
        {
          head: texts.actions,
          isHeadHidden: true,
          className: fitStyles.textEnd,
          cell: (file) => (
            <IconButton
              size="sm"
              look="ghost"
              icon="trash"
              label={symbolsTexts.deletion.of(file.name)}
              onClick={() => onDelete(file)}
            />
          ),
        },
      ]}
    />
  )
}

const TONES = { indexing: 'plain', ready: 'green', failed: 'red' } as const

const FileState = ({ file }: { file: Row }) => (
  <>
    <Badge tone={TONES[file.state]}>{texts.states[file.state]}</Badge>
    {file.problem === null ? null : <Minor as="p">{file.problem}</Minor>}
  </>
)
