import { MAX_BULK_ISSUES } from '#shared/limits.ts'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { reasonOf } from '../../../api/change.ts'
import { useIssueDelete, useIssueEdit, type Edit, type AllMatching } from '../../../subjects/issue/changes.ts'
import { intoOf, useIssueMerge } from './merge.ts'
import { filtersOf, queryStartOf, type Issue } from '../../../api/issue-queries.ts'
import { meQuery } from '../../../api/queries.ts'
import { searchOf } from '../../../api/view-queries.ts'
import { mistakeOf, type QueryMistake } from '../../../subjects/query/mistake.ts'
import { useCan } from '../../../app/can.ts'
import { AskProvider } from '../../../subjects/issue/decide.tsx'
import type { RowMenu } from './row.tsx'
import { IssueVolume } from './volume.tsx'
import { usePageTitle } from '../../../app/page-title.ts'
import { QueryError } from '../../../frames/query-error.tsx'
import { carried, paths } from '../../../address/paths.ts'
import { IssuesSearch, NO_FILTERS } from '../../../address/search.ts'
import { formatClock, formatCount } from '../../../ui/format.ts'
import { Button } from '../../../ui/button.tsx'
import { Kbd } from '../../../ui/kbd.tsx'
import { Note } from '../../../ui/note.tsx'
import { PageHead } from '../../../ui/page-head.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { PageMain } from '../../../ui/page-main.tsx'
import { issuesTexts } from './texts.ts'
import { appTexts } from '../../../app/texts.ts'
import { ignoreEdit, resolveEdit, type OpenMenu } from './edits.ts'
import { BulkProgress, BulkRefused } from './progress.tsx'
import { EnvironmentMenu } from './environment-menu.tsx'
import { FilterButton, SearchBox, SortButton } from './filters.tsx'
import { useStreamKeys } from './keys.ts'
import { IssueList } from './list.tsx'
import { rememberStream } from '../../../subjects/issue/stream-memory.ts'
import { recalledSelection, rememberSelection } from './selection-memory.ts'
import { moveSelection, NOTHING_SELECTED, targetsOf, type SelectionMove } from './selection.ts'
import { useIssueStream } from './stream.ts'
import { ViewsMenu } from './views-menu.tsx'
import { SavedViews, useSavedView } from './views-saved.tsx'
import { StatusViews, viewOf } from './views.tsx'
import styles from './issues-page.module.css'
import issuesStyles from './issues.module.css'

const loadBulkBar = () => import('./bulk.tsx').then((module) => ({ default: module.BulkBar }))
const BulkBar = lazy(loadBulkBar)
const EmptyStream = lazy(() => import('./empty.tsx').then((module) => ({ default: module.EmptyStream })))
const MergeIntoDialog = lazy(() =>
  import('./merge-into-dialog.tsx').then((module) => ({ default: module.MergeIntoDialog })),
)
const DeleteDialog = lazy(() =>
  import('../../../subjects/issue/delete-dialog.tsx').then((module) => ({ default: module.IssueDeleteDialog })),
)

const route = getRouteApi('/signed-in/shell/issues')
const SKELETON_ROWS = 12
/** Loaded after the page has rendered. */
const IDLE_MS = 1500
/** Updates the list's address before an issue is opened. */
const MAX_WAIT_MS = 2000
/** An older list is read again, unless the user returns to it. */
const OLD_MS = 30_000
const NO_IDS: ReadonlySet<string> = new Set()

/** The issues page. */
export function IssuesPage() {
  return (
    <AskProvider>
      <Stream />
    </AskProvider>
  )
}

/**
 * The list of the address `key`. While the query has a mistake, the list is the one of the query before; other
 * filters still apply.
 */
function useReadableStream(key: string) {
  // Memoised, because queries and rows compare them.
  const asked = useMemo(() => filtersOf(IssuesSearch.parse(JSON.parse(key))), [key])
  const [readable, setReadable] = useState<string | null>(null)
  const [refused, setRefused] = useState<{ q: string; mistake: QueryMistake } | null>(null)
  const isRefused = refused?.q === asked.q
  const before = isRefused ? readable : null
  const filters = useMemo(
    () => (before === null ? asked : filtersOf({ ...IssuesSearch.parse(JSON.parse(key)), q: before })),
    [asked, key, before],
  )
  const stream = useIssueStream(filters)
  const mistake = mistakeOf(stream.list.error, queryStartOf(filters))
  if (mistake !== null && filters === asked && !isRefused) setRefused({ q: asked.q, mistake })
  if (stream.settled && readable !== filters.q) setReadable(filters.q)
  return { filters, stream, mistake: isRefused ? refused.mistake : mistake }
}

function Stream() {
  usePageTitle(issuesTexts.title)
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { cursor: startCursor, ...lasting } = search
  const key = JSON.stringify(lasting)
  const { filters, stream, mistake } = useReadableStream(key)
  const { rows } = stream
  const ids = useMemo(() => rows.map((row) => row.id), [rows])

  const [selection, setSelection] = useState(() => ({
    ...NOTHING_SELECTED,
    // Returning to the list restores the selection.
    ...(startCursor === undefined ? {} : recalledSelection(key)),
    cursor: startCursor ?? null,
  }))
  const [focusTurn, setFocusTurn] = useState(0)
  const [rowMenu, setRowMenu] = useState<{ id: string; menu: RowMenu } | null>(null)
  const [bulkMenu, setBulkMenu] = useState<OpenMenu>(null)
  const [filtering, setFiltering] = useState(false)
  const [merging, setMerging] = useState<{ into: Issue; issues: readonly Issue[] } | null>(null)
  const [deleting, setDeleting] = useState<readonly Issue[] | null>(null)
  /** All matching issues are selected, not only the loaded ones. */
  const [everything, setEverything] = useState(false)
  const searchBox = useRef<HTMLInputElement>(null)
  const canChange = useCan('issues.write')
  const canDelete = useCan('issues.admin')
  /** The row of the cursor before a change that was undone. */
  const [returning, setReturning] = useState<string | null>(null)
  const returnTo = ({ cursor }: { cursor?: string | null }) => setReturning(cursor ?? null)
  const edit = useIssueEdit({ onUndo: returnTo })
  const remove = useIssueDelete()
  const merge = useIssueMerge(returnTo)
  const me = useQuery(meQuery).data?.user

  const [shownKey, setShownKey] = useState(key)
  if (shownKey !== key) {
    setShownKey(key)
    setSelection(NOTHING_SELECTED)
    setEverything(false)
    setReturning(null)
  }
  if (returning !== null && ids.includes(returning)) {
    setReturning(null)
    setSelection((before) => moveSelection(before, { kind: 'put', id: returning }, ids))
    setFocusTurn((turn) => turn + 1)
  }
  useEffect(() => rememberStream(search), [search])
  // Not part of the first load; loaded after the first rows, before the first selection.
  const hasRows = rows.length > 0
  useEffect(() => {
    const timer = hasRows ? setTimeout(() => void loadBulkBar().catch(() => undefined), IDLE_MS) : undefined
    return () => clearTimeout(timer)
  }, [hasRows])
  useEffect(() => rememberSelection(key, selection), [key, selection])
  useFreshOnArrival(startCursor === undefined, stream)

  const move = (step: SelectionMove, focus = false) => {
    setSelection((before) => moveSelection(before, step, ids))
    if (step.kind !== 'put') setEverything(false)
    if (focus) setFocusTurn((turn) => turn + 1)
  }
  const change = (values: Partial<IssuesSearch>) =>
    void navigate({
      search: (before) => ({ ...before, cursor: undefined, ...values }),
      replace: true,
      resetScroll: false,
    })

  const targets = targetsOf(selection, rows)
  const { list, total, totalCapped } = stream
  const canSelectAll = selection.selected.size === rows.length && total > rows.length && stream.since !== null
  const all: AllMatching | undefined =
    everything && stream.since !== null ? { filters, since: stream.since, total } : undefined
  const apply = (targets: readonly Issue[], next: Edit) => {
    if (targets.length === 0 || !canChange.allowed) return
    const leaving =
      next.kind === 'status' && filters.status !== null && !filters.status.includes(next.status)
        ? new Set(targets.map((issue) => issue.id))
        : NO_IDS
    move({ kind: 'leave', ids: leaving }, leaving.size > 0)
    if (leaving.size === 0) move({ kind: 'clear' }, selection.selected.size > 0)
    const { cursor } = selection
    edit.mutate(
      { issues: targets, edit: next, all, cursor },
      { onSuccess: () => all !== undefined && void stream.reload() },
    )
  }
  const mergeTargets = () => {
    const into = intoOf(targets, selection.cursor)
    if (into !== null && all === undefined && canChange.allowed) setMerging({ into, issues: targets })
  }
  const runMerge = (into: Issue, issues: readonly Issue[]) => {
    const others = issues.filter(({ id }) => id !== into.id)
    move({ kind: 'leave', ids: new Set(others.map(({ id }) => id)) }, true)
    move({ kind: 'clear' })
    merge.mutate({ into, others, cursor: selection.cursor })
  }
  const openMenu = (menu: 'assignee' | 'severity') => {
    if (!canChange.allowed) return
    if (selection.selected.size > 0) setBulkMenu(menu)
    else if (selection.cursor !== null) setRowMenu({ id: selection.cursor, menu })
  }

  const open = useStable((id: string) => {
    move({ kind: 'put', id })
    // The cursor is stored in the address, so that Back returns to its row. This must not delay opening the issue.
    const kept = navigate({ search: (before) => ({ ...before, cursor: id }), replace: true, resetScroll: false })
    const patience = new Promise<void>((done) => setTimeout(done, MAX_WAIT_MS))
    void Promise.race([kept, patience]).then(() => navigate(paths.issue(id, carried(search))))
  })
  const toggle = useStable((id: string, range: boolean) => move({ kind: 'toggle', id, range }))
  const onRowMenu = useStable((id: string, menu: RowMenu) => {
    setRowMenu(menu === null ? null : { id, menu })
    // The menu is unmounted when it closes, so the row gets the focus.
    move({ kind: 'put', id }, menu === null)
  })
  const onRowEdit = useStable((issue: Issue, next: Edit) => apply([issue], next))
  const onNearEnd = useStable(() => {
    const { hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = stream.list
    // A page that failed is not loaded again by scrolling.
    if (stream.settled && hasNextPage && !isFetching && !isFetchNextPageError) void fetchNextPage()
  })

  const chooseWindow = useStable((window: { from: string; to: string } | null) =>
    change({ from: window?.from, to: window?.to }),
  )
  const openView = (next: IssuesSearch) => void navigate({ search: { ...next, cursor: undefined }, resetScroll: false })
  const clear = () => move({ kind: 'clear' })
  const clearFilters = () => change(NO_FILTERS)
  const showFresh = () => {
    setSelection(NOTHING_SELECTED)
    scrollTo({ top: 0 })
    void stream.reload()
  }
  const empty = stream.settled && rows.length === 0
  const saved = useSavedView(search)
  // An unchanged saved view is the selected tab.
  const isSaved = saved.view !== null && !saved.isChanged

  useStreamKeys({
    cursor: selection.cursor,
    onMove: move,
    onToggle: (id) => toggle(id, false),
    onOpen: open,
    onResolve: () => apply(targets, resolveEdit(targets)),
    onIgnore: () => apply(targets, ignoreEdit(targets)),
    onMenu: openMenu,
    onTake:
      me === undefined
        ? null
        : () => apply(targets, { kind: 'assignee', assignee: { id: me.id, name: me.name, email: me.email } }),
    onMerge: mergeTargets,
    onSearch: () => searchBox.current?.focus(),
    onFilter: () => setFiltering(true),
    onFresh: stream.waiting.length === 0 ? null : showFresh,
    onEscape: () => {
      if (selection.selected.size > 0) clear()
      else if (filters.window !== null) chooseWindow(null)
      else if (empty) clearFilters()
    },
  })

  const clock = stream.readAt === 0 ? '' : formatClock(stream.readAt)
  return (
    <PageMain>
      <PageHead>
        <h1>{issuesTexts.title}</h1>
        <div className={styles.viewbar}>
          <StatusViews view={viewOf(filters.status)} isSaved={isSaved} search={search} counts={stream.statusCounts} />
          <SavedViews search={search} />
        </div>
      </PageHead>
      <div className={styles.filterbar} role="search">
        <SearchBox
          search={search}
          onChange={change}
          onView={(view) => openView(searchOf(view, search))}
          mistake={mistake}
          hints={stream.hints}
          inputRef={searchBox}
        />
        <EnvironmentMenu search={search} onChange={change} />
        <FilterButton search={search} onChange={change} open={filtering} onOpenChange={setFiltering} />
        <SortButton sort={filters.sort} onChange={change} />
        <ViewsMenu search={search} onOpen={openView} />
      </div>
      <IssueVolume
        filters={filters}
        isListed={hasRows || stream.settled || list.error !== null}
        onWindow={chooseWindow}
      />
      <section className={issuesStyles.stream} aria-label={issuesTexts.stream}>
        {mistake !== null && rows.length === 0 ? (
          <p className={styles.unread}>{issuesTexts.unreadable}</p>
        ) : list.error !== null && rows.length === 0 ? (
          <QueryError
            what={issuesTexts.what}
            error={list.error}
            onRetry={() => void list.refetch()}
            kept={issuesTexts.filtersKept}
          />
        ) : rows.length > 0 ? (
          <IssueList
            rows={rows}
            total={totalCapped ? null : Math.max(total, rows.length)}
            search={search}
            selection={selection}
            focusTurn={focusTurn}
            canChange={canChange.allowed}
            menu={rowMenu}
            onMenu={onRowMenu}
            onEdit={onRowEdit}
            onToggle={toggle}
            onAll={(all) => move({ kind: all ? 'all' : 'clear' })}
            onOpen={open}
            onNearEnd={onNearEnd}
            fresh={
              stream.waiting.length === 0
                ? null
                : { label: issuesTexts.fresh(stream.waiting.length, clock), onShow: showFresh }
            }
            busy={list.isPlaceholderData}
          />
        ) : empty ? (
          <Suspense fallback={null}>
            <EmptyStream search={search} range={filters.range} view={viewOf(filters.status)} onChange={change} />
          </Suspense>
        ) : (
          <SkeletonRows rows={SKELETON_ROWS} label={issuesTexts.what} />
        )}
        {list.isFetchNextPageError ? (
          <div className={issuesStyles.moreover}>
            <Note
              tone="red"
              icon="warn"
              role="alert"
              action={
                <Button size="sm" onClick={() => void list.fetchNextPage()}>
                  {appTexts.tryAgain}
                </Button>
              }
            >
              {issuesTexts.moreFailed} {reasonOf(list.error)}
            </Note>
          </div>
        ) : null}
        {rows.length === 0 ? null : (
          <p className={styles.streamFoot}>
            <span>
              {issuesTexts.shown(
                `1–${formatCount(rows.length)}`,
                totalCapped ? issuesTexts.capped(formatCount(total)) : formatCount(Math.max(total, rows.length)),
              )}
            </span>
            <span className={styles.hints} aria-hidden="true">
              <Kbd keys="j" /> <Kbd keys="k" /> {issuesTexts.hints.move} <Kbd keys="x" /> {issuesTexts.hints.select}{' '}
              <Kbd keys="enter" /> {issuesTexts.hints.open} <Kbd keys="?" /> {issuesTexts.hints.all}
            </span>
          </p>
        )}
      </section>
      <BulkProgress />
      <BulkRefused />
      {selection.selected.size === 0 || targets.length === 0 ? null : (
        <Suspense fallback={null}>
          <BulkBar
            issues={targets}
            all={everything ? total : null}
            offer={!canSelectAll || everything ? null : totalCapped || total > MAX_BULK_ISSUES ? 'too many' : total}
            onAll={setEverything}
            onEdit={(next) => apply(targets, next)}
            onMerge={mergeTargets}
            cannotMerge={
              all === undefined && intoOf(targets, selection.cursor) !== null ? undefined : issuesTexts.cannotMerge
            }
            onDelete={() => canDelete.allowed && setDeleting(targets)}
            onClear={clear}
            menu={bulkMenu}
            onMenu={setBulkMenu}
          />
        </Suspense>
      )}
      {merging === null ? null : (
        <Suspense fallback={null}>
          <MergeIntoDialog
            {...merging}
            onClose={() => setMerging(null)}
            onMerge={(into) => {
              setMerging(null)
              runMerge(into, merging.issues)
            }}
          />
        </Suspense>
      )}
      {deleting === null ? null : (
        <Suspense fallback={null}>
          <DeleteDialog
            issues={deleting}
            total={all?.total}
            onClose={() => setDeleting(null)}
            onDelete={() => {
              move({ kind: 'leave', ids: new Set(deleting.map((issue) => issue.id)) }, true)
              remove.mutate({ issues: deleting, all }, { onSuccess: () => all !== undefined && void stream.reload() })
              setDeleting(null)
            }}
          />
        </Suspense>
      )}
    </PageMain>
  )
}

/** A stable function that calls the newest one, because rows compare their props. */
function useStable<Args extends unknown[]>(work: (...args: Args) => void): (...args: Args) => void {
  const newest = useRef(work)
  useLayoutEffect(() => {
    newest.current = work
  })
  return useCallback((...args: Args) => newest.current(...args), [])
}

/** Reads an old list again, unless the user returns to it. */
function useFreshOnArrival(isNewVisit: boolean, stream: ReturnType<typeof useIssueStream>): void {
  const arrived = useRef(false)
  useEffect(() => {
    if (arrived.current) return
    arrived.current = true
    if (isNewVisit && stream.settled && Date.now() - stream.readAt > OLD_MS) void stream.reload()
  }, [isNewVisit, stream])
}
