import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useLayoutEffect, useRef, type Dispatch } from 'react'
import { carried, paths } from '../../../address/paths.ts'
import { NO_FILTERS, type IssuesSearch } from '../../../address/search.ts'
import type { Issue } from '../../../api/issue-queries.ts'
import { meQuery } from '../../../api/queries.ts'
import { useCan } from '../../../app/can.ts'
import { useIssueDelete, useIssueEdit, type AllMatching, type Edit } from '../../../subjects/issue/changes.ts'
import { addToast } from '../../../ui/toasts.tsx'
import { ignoreEdit, resolveEdit } from './edits.ts'
import { useStreamKeys } from './keys.ts'
import { chooseMergeTarget, useIssueMerge, whyNotMerge } from './merge.ts'
import { issuesTexts } from './texts.ts'
import type { useReadableStream } from './readable-stream.ts'
import type { RowMenu } from './row.tsx'
import { actionTargets, type SelectionMove } from './selection.ts'
import type { StreamState, StreamStep } from './stream-state.ts'

const route = getRouteApi('/signed-in/shell/issues')
/** Updates the list's address before an issue is opened. */
const MAX_WAIT_MS = 2000
const NO_IDS: ReadonlySet<string> = new Set()

type Shown = ReturnType<typeof useReadableStream> & {
  search: IssuesSearch
  ids: readonly string[]
  state: StreamState
  dispatch: Dispatch<StreamStep>
}

/** The model of the parts of the issues page: the list, its state and the commands. */
export type StreamModel = Shown & { commands: ReturnType<typeof useStreamCommands> }

/** Commands of the issues page, for its parts and for keys. */
export function useStreamCommands({ search, filters, stream, ids, state, dispatch }: Shown) {
  const searchBox = useRef<HTMLInputElement>(null)
  const navigate = route.useNavigate()
  const { rows } = stream
  const { selection } = state
  const canChange = useCan('issues.write').allowed
  const canDelete = useCan('issues.admin').allowed
  const me = useQuery(meQuery).data?.user
  const returnTo = ({ cursor }: { cursor?: string | null }) => dispatch({ kind: 'undone', cursor: cursor ?? null })
  const edit = useIssueEdit({ onUndo: returnTo })
  const remove = useIssueDelete()
  const merge = useIssueMerge(returnTo)

  const move = (move: SelectionMove, focus = false) => dispatch({ kind: 'move', move, ids, focus })
  const change = (values: Partial<IssuesSearch>) =>
    void navigate({
      search: (before) => ({ ...before, cursor: undefined, ...values }),
      replace: true,
      resetScroll: false,
    })

  const targets = actionTargets(selection, rows)
  const all: AllMatching | undefined =
    state.everything && stream.since !== null ? { filters, since: stream.since, total: stream.total } : undefined
  const reloadAll = { onSuccess: () => all !== undefined && void stream.reload() }
  const apply = (issues: readonly Issue[], next: Edit) => {
    if (issues.length === 0 || !canChange) return
    const leaving =
      next.kind === 'status' && filters.status !== null && !filters.status.includes(next.status)
        ? new Set(issues.map((issue) => issue.id))
        : NO_IDS
    move({ kind: 'leave', ids: leaving }, leaving.size > 0)
    if (leaving.size === 0) move({ kind: 'clear' }, selection.selected.size > 0)
    // All matching issues are changed from the selection only: the menu of a row changes its own issue.
    const scope = issues === targets ? all : undefined
    edit.mutate({ issues, edit: next, all: scope, cursor: selection.cursor }, reloadAll)
  }
  const cannotMerge = all === undefined ? whyNotMerge(targets) : issuesTexts.mergeOnlyLoaded
  const askMerge = () => {
    if (!canChange) return
    const into = cannotMerge === undefined ? chooseMergeTarget(targets, selection.cursor) : null
    if (into !== null) dispatch({ kind: 'open', opened: { merging: { into, issues: targets } } })
    else if (cannotMerge !== undefined) addToast({ text: cannotMerge, tone: 'bad' })
  }
  const runMerge = (into: Issue, issues: readonly Issue[]) => {
    dispatch({ kind: 'open', opened: { merging: null } })
    const others = issues.filter(({ id }) => id !== into.id)
    move({ kind: 'leave', ids: new Set(others.map(({ id }) => id)) }, true)
    move({ kind: 'clear' })
    merge.mutate({ into, others, cursor: selection.cursor })
  }
  const runDelete = (issues: readonly Issue[]) => {
    move({ kind: 'leave', ids: new Set(issues.map((issue) => issue.id)) }, true)
    remove.mutate({ issues, all }, reloadAll)
    dispatch({ kind: 'open', opened: { deleting: null } })
  }
  const openMenu = (menu: 'assignee' | 'severity') => {
    if (!canChange) return
    if (selection.selected.size > 0) dispatch({ kind: 'open', opened: { bulkMenu: menu } })
    else if (selection.cursor !== null) dispatch({ kind: 'open', opened: { rowMenu: { id: selection.cursor, menu } } })
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
    dispatch({ kind: 'open', opened: { rowMenu: menu === null ? null : { id, menu } } })
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
  const showFresh = () => {
    dispatch({ kind: 'fresh' })
    scrollTo({ top: 0 })
    void stream.reload()
  }
  const isEmpty = stream.settled && rows.length === 0

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
    onMerge: askMerge,
    onSearch: () => searchBox.current?.focus(),
    onFilter: () => dispatch({ kind: 'open', opened: { filtering: true } }),
    onFresh: stream.waiting.length === 0 ? null : showFresh,
    onEscape: () => {
      if (selection.selected.size > 0) clear()
      else if (filters.window !== null) chooseWindow(null)
      else if (isEmpty) change(NO_FILTERS)
    },
  })

  return {
    searchBox,
    targets,
    all,
    canChange,
    canDelete,
    cannotMerge,
    isEmpty,
    move,
    change,
    apply,
    askMerge,
    runMerge,
    runDelete,
    open,
    toggle,
    onRowMenu,
    onRowEdit,
    onNearEnd,
    chooseWindow,
    openView,
    clear,
    showFresh,
  }
}

/** A stable function that calls the newest one, because rows compare their props. */
function useStable<Args extends unknown[]>(work: (...args: Args) => void): (...args: Args) => void {
  const newest = useRef(work)
  useLayoutEffect(() => {
    newest.current = work
  })
  return useCallback((...args: Args) => newest.current(...args), [])
}
