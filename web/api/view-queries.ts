import { queryOptions } from '@tanstack/react-query'
import type { IssuesSearch } from '../address/search.ts'
import { call, type AnswerOf } from './call.ts'
import { useChange } from './change.ts'

/** Saved views of the stream. */

export type SavedView = AnswerOf<'GET /api/views'>['items'][number]
type Draft = Pick<SavedView, 'name' | 'is_shared' | 'query' | 'sort' | 'filters'>

const KEY = ['views']

export const viewsQuery = queryOptions({
  queryKey: KEY,
  queryFn: async ({ signal }) => (await call('GET /api/views', { query: { limit: '100' }, signal })).items,
  staleTime: 60_000,
})

/** The parts of an address that a view saves. */
export function toViewDraft(search: IssuesSearch): Pick<Draft, 'query' | 'sort' | 'filters'> {
  const { status, severity, platform, project, assignee, range } = search
  return {
    query: search.q?.trim() ?? '',
    sort: search.sort ?? '-last_seen',
    filters: {
      ...(status === undefined ? {} : { status }),
      ...(severity === undefined ? {} : { severity }),
      ...(platform === undefined ? {} : { platform }),
      ...(project === undefined ? {} : { projectId: [project] }),
      ...(assignee === undefined ? {} : { assignee_id: [assignee] }),
      ...(range === undefined ? {} : { range }),
    },
  }
}

/** The address of a view. Project and range stay the same if the view has none. */
export function toViewSearch(view: SavedView, now: IssuesSearch): IssuesSearch {
  const { status, severity, platform, projectId, assignee_id: assignees, range } = view.filters
  return {
    project: projectId?.[0] ?? now.project,
    range: range ?? now.range,
    status,
    severity,
    platform,
    assignee: assignees?.[0],
    q: view.query === '' ? undefined : view.query,
    sort: view.sort === '-last_seen' ? undefined : view.sort,
    view: view.id,
  }
}

/** Whether the address shows the view unchanged. */
export function shows(search: IssuesSearch, view: SavedView): boolean {
  const plain = ({ view: _view, cursor: _cursor, ...rest }: IssuesSearch) =>
    JSON.stringify(Object.entries(toViewDraft(rest)).map(([key, value]) => [key, value]))
  return plain(search) === plain(toViewSearch(view, search))
}

type ToastText = (view: SavedView) => string

export const useViewCreate = (said: ToastText) =>
  useChange<Draft, SavedView>({
    send: (body) => call('POST /api/views', { body }),
    touches: () => [KEY],
    settle: (client, view) => client.setQueryData(KEY, (views: SavedView[] | undefined) => [...(views ?? []), view]),
    said,
    failed: null,
  })

export const useViewChange = (said: ToastText) =>
  useChange<{ viewId: string } & Partial<Draft>, SavedView>({
    send: ({ viewId, ...body }) => call('PATCH /api/views/:viewId', { params: { viewId }, body }),
    touches: () => [KEY],
    settle: (client, view) =>
      client.setQueryData(KEY, (views: SavedView[] | undefined) =>
        views?.map((one) => (one.id === view.id ? view : one)),
      ),
    said,
    failed: null,
  })

export const useViewDelete = (said: (view: SavedView) => string, failed: string) =>
  useChange<SavedView, undefined>({
    send: ({ id }) => call('DELETE /api/views/:viewId', { params: { viewId: id } }),
    touches: () => [KEY],
    guess: (client, { id }) =>
      client.setQueryData(KEY, (views: SavedView[] | undefined) => views?.filter((one) => one.id !== id)),
    said: (_answer, view) => said(view),
    undo: ({ name, is_shared, query, sort, filters }) =>
      call('POST /api/views', { body: { name, is_shared, query, sort, filters } }),
    failed,
  })
