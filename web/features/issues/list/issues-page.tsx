import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useMemo, useReducer } from 'react'
import { useRunningOperations } from '../../../api/operations.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { AskProvider } from '../../../subjects/issue/decide.tsx'
import { useRefused } from '../../../subjects/issue/refused.ts'
import { rememberStream } from '../../../subjects/issue/stream-memory.ts'
import { PageMain } from '../../../ui/page-main.tsx'
import { useReadableStream } from './readable-stream.ts'
import { rememberSelection } from './selection-memory.ts'
import { StreamBody } from './stream-body.tsx'
import { useStreamCommands } from './stream-commands.ts'
import { StreamHead } from './stream-head.tsx'
import { startStream, stepStream } from './stream-state.ts'
import { issuesTexts } from './texts.ts'
import { IssueVolume } from './volume.tsx'

const loadDialogs = () => import('./stream-dialogs.tsx').then((module) => ({ default: module.StreamDialogs }))
const StreamDialogs = lazy(loadDialogs)
const BulkRuns = lazy(() => import('./progress.tsx').then((module) => ({ default: module.BulkRuns })))

/** Loaded after the page has rendered. */
const IDLE_MS = 1500

const route = getRouteApi('/signed-in/shell/issues')

/** The issues page. */
export function IssuesPage() {
  return (
    <AskProvider>
      <Stream />
    </AskProvider>
  )
}

function Stream() {
  usePageTitle(issuesTexts.title)
  const search = route.useSearch()
  const { cursor, ...lasting } = search
  const key = JSON.stringify(lasting)
  const readable = useReadableStream(key, cursor === undefined)
  const { rows } = readable.stream
  const ids = useMemo(() => rows.map((row) => row.id), [rows])

  const [state, dispatch] = useReducer(stepStream, { key, cursor }, startStream)
  const { returning, selection } = state
  if (state.key !== key) dispatch({ kind: 'list', key })
  if (returning !== null && ids.includes(returning)) dispatch({ kind: 'returned', id: returning, ids })
  useEffect(() => rememberStream(search), [search])
  useEffect(() => rememberSelection(key, selection), [key, selection])

  // Not part of the first load; loaded after the first rows, before the first selection.
  const hasRows = rows.length > 0
  useEffect(() => {
    const timer = hasRows ? setTimeout(() => void loadDialogs().catch(() => undefined), IDLE_MS) : undefined
    return () => clearTimeout(timer)
  }, [hasRows])

  const [running, refused] = [useRunningOperations(), useRefused()]
  const hasRuns = running.length > 0 || refused !== null

  const shown = { ...readable, search, ids, state, dispatch }
  const model = { ...shown, commands: useStreamCommands(shown) }
  return (
    <PageMain>
      <StreamHead {...model} />
      <IssueVolume
        filters={model.filters}
        isListed={hasRows || readable.stream.settled || readable.stream.list.error !== null}
        onWindow={model.commands.chooseWindow}
      />
      <StreamBody {...model} />
      {hasRuns ? (
        <Suspense fallback={null}>
          <BulkRuns />
        </Suspense>
      ) : null}
      {selection.selected.size > 0 || state.merging !== null || state.deleting !== null ? (
        <Suspense fallback={null}>
          <StreamDialogs {...model} />
        </Suspense>
      ) : null}
    </PageMain>
  )
}
