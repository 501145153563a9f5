import type { QueryClient, QueryKey } from '@tanstack/react-query'
import type { Issue, IssueDetail, Status, StreamData, StreamFilters, StreamPage } from './issue-queries.ts'

/** Updates of issues in all cached lists and details. */

const LISTS: QueryKey = ['issues', 'list']
const FRESH: QueryKey = ['issues', 'fresh']
const detailKey = (issueId: string): QueryKey => ['issues', 'detail', issueId]

/** The queries that a change of these issues affects. */
export const affectedQueryKeys = (issues: readonly Pick<Issue, 'id'>[]): readonly QueryKey[] => [
  LISTS,
  FRESH,
  ['issues', 'open-count'],
  ...issues.map((issue) => detailKey(issue.id)),
]

const filtersOfKey = (key: QueryKey): Pick<StreamFilters, 'status'> | null => {
  const part: unknown = key[2]
  // Only keys of `streamQuery` and `freshQuery` have an object in third place: their filters.
  return typeof part === 'object' && part !== null && 'status' in part ? (part as StreamFilters) : null
}

type PageChange = (page: StreamPage, filters: Pick<StreamFilters, 'status'> | null) => StreamPage

/** Applies a change to every page of every list in the cache. */
function changePages(client: QueryClient, change: PageChange): void {
  for (const [key] of client.getQueriesData({ queryKey: LISTS })) {
    const filters = filtersOfKey(key)
    client.setQueryData<StreamData>(key, (data) =>
      data === undefined ? data : { ...data, pages: data.pages.map((page) => change(page, filters)) },
    )
  }
  for (const [key] of client.getQueriesData({ queryKey: FRESH })) {
    const filters = filtersOfKey(key)
    client.setQueryData<StreamPage>(key, (page) => (page === undefined ? page : change(page, filters)))
  }
}

function changeDetails(client: QueryClient, issueId: string, change: (issue: IssueDetail) => IssueDetail): void {
  client.setQueriesData<IssueDetail>({ queryKey: detailKey(issueId) }, (issue) =>
    issue === undefined ? issue : change(issue),
  )
}

const matches = (status: Status, filters: Pick<StreamFilters, 'status'> | null): boolean =>
  filters?.status == null || filters.status.includes(status)

function movedCounts(counts: StreamPage['statusCounts'], moves: readonly (readonly [from: Status, to: Status])[]) {
  if (counts === null) return null
  const next = { ...counts }
  for (const [from, to] of moves) {
    next[from] = Math.max(0, (next[from] ?? 0) - 1)
    next[to] = (next[to] ?? 0) + 1
  }
  return next
}

/** Edits issues in the cache; rows that no longer match a list's filter are removed from it. */
export function editCached(client: QueryClient, issues: readonly Issue[], edit: (issue: Issue) => Issue): void {
  const edited = new Map(issues.map((issue) => [issue.id, edit(issue)]))
  const moves = issues.flatMap((issue) => {
    const to = edited.get(issue.id)?.status ?? issue.status
    return to === issue.status ? [] : [[issue.status, to] as const]
  })
  changePages(client, (page, filters) => {
    const items = page.items.flatMap((item) => {
      if (!edited.has(item.id)) return [item]
      const next = edit(item)
      return next.status === item.status || matches(next.status, filters) ? [next] : []
    })
    return {
      ...page,
      items,
      total: page.total - (page.items.length - items.length),
      statusCounts: movedCounts(page.statusCounts, moves),
    }
  })
  for (const issue of issues) changeDetails(client, issue.id, (detail) => ({ ...detail, ...edit(detail) }))
}

/** An issue of a list; an answer without a range keeps what the list counted in its own. */
const inList = (item: Issue, next: Issue): Issue =>
  next.event_count_in_range === null
    ? {
        ...next,
        event_count_in_range: item.event_count_in_range,
        user_count_in_range: item.user_count_in_range,
        trend: item.trend,
      }
    : next

/** Replaces cached issues with the server's. */
export function storeIssues(client: QueryClient, issues: readonly Issue[]): void {
  const known = new Map(issues.map((issue) => [issue.id, issue]))
  changePages(client, (page) =>
    page.items.some((item) => known.has(item.id))
      ? { ...page, items: page.items.map((item) => inList(item, known.get(item.id) ?? item)) }
      : page,
  )
  // The trend of a row is of its list's range.
  for (const issue of issues)
    changeDetails(client, issue.id, (detail) => ({ ...detail, ...issue, trend: detail.trend }))
}

/** Updates issues in the lists that show them, without adding, removing or moving rows. */
export function mergeIntoLists(client: QueryClient, issues: readonly Issue[]): void {
  const known = new Map(issues.map((issue) => [issue.id, issue]))
  for (const [key] of client.getQueriesData({ queryKey: LISTS })) {
    client.setQueryData<StreamData>(key, (data) =>
      data === undefined
        ? data
        : {
            ...data,
            pages: data.pages.map((page) => ({
              ...page,
              items: page.items.map((item) => inList(item, known.get(item.id) ?? item)),
            })),
          },
    )
  }
}

/** Removes issues from all lists. A status that is not given is read from the row. */
export function removeCached(
  client: QueryClient,
  issues: readonly (Pick<Issue, 'id'> & { readonly status?: Status })[],
): void {
  const gone = new Set(issues.map(({ id }) => id))
  changePages(client, (page) => {
    const items = page.items.filter((item) => !gone.has(item.id))
    const listed = new Map(page.items.map((item) => [item.id, item.status]))
    const counts = page.statusCounts === null ? null : { ...page.statusCounts }
    if (counts !== null) {
      for (const issue of issues) {
        const status = issue.status ?? listed.get(issue.id)
        if (status !== undefined) counts[status] = Math.max(0, (counts[status] ?? 0) - 1)
      }
    }
    return { ...page, items, total: page.total - (page.items.length - items.length), statusCounts: counts }
  })
}

/**
 * Reverts a change of some issues: their rows return to their places with their former fields. Later changes of other
 * issues stay.
 * @param remembered the cached data before the change
 * @param after the issue after the change; null if it was removed
 */
export function restoreIssues(
  client: QueryClient,
  remembered: readonly (readonly [QueryKey, unknown])[],
  issues: readonly Pick<Issue, 'id'>[],
  after: (issue: Issue) => Issue | null,
): void {
  const ids = new Set(issues.map(({ id }) => id))
  for (const [key, data] of remembered) {
    const kind = key[1]
    if (kind === 'list') {
      // Only `streamQuery` has keys of this form.
      const before = data as StreamData | undefined
      if (before !== undefined)
        client.setQueryData<StreamData>(key, (now) => (now === undefined ? now : putBack(now, before, ids, after)))
    } else if (kind !== 'fresh') client.setQueryData(key, data)
  }
}

/** Restores the rows of `ids`, each after the row it followed. More pages may have been loaded since. */
function putBack(
  now: StreamData,
  before: StreamData,
  ids: ReadonlySet<string>,
  after: (issue: Issue) => Issue | null,
): StreamData {
  const order = before.pages.flatMap((page) => page.items)
  const back = order.filter((item) => ids.has(item.id))
  const old = new Map(back.map((item) => [item.id, item]))
  const there = new Set(now.pages.flatMap((page) => page.items.map((item) => item.id)))
  /** Rows to insert, by the row they follow; null for the start of the list. */
  const following = new Map<string | null, Issue[]>()
  let anchor: string | null = null
  let added = 0
  for (const item of order) {
    if (there.has(item.id)) anchor = item.id
    else if (ids.has(item.id)) {
      const group = following.get(anchor)
      if (group === undefined) following.set(anchor, [item])
      else group.push(item)
      added += 1
    }
  }
  const pages = now.pages.map((page, index) => ({
    ...page,
    items: [
      ...(index === 0 ? (following.get(null) ?? []) : []),
      ...page.items.flatMap((item) => [old.get(item.id) ?? item, ...(following.get(item.id) ?? [])]),
    ],
  }))
  return {
    ...now,
    pages: pages.map((page) => ({
      ...page,
      total: page.total + added,
      statusCounts: back.reduce(
        (counts, item) => countBack(counts, after(item)?.status, item.status),
        page.statusCounts,
      ),
    })),
  }
}

function countBack(
  counts: StreamPage['statusCounts'],
  from: Status | undefined,
  to: Status,
): StreamPage['statusCounts'] {
  if (counts === null || from === to) return counts
  const next = { ...counts, [to]: (counts[to] ?? 0) + 1 }
  if (from !== undefined) next[from] = Math.max(0, (next[from] ?? 0) - 1)
  return next
}

/** Adds issues to the start of the lists that they match, after the server refused to change them. */
export function returnIssues(client: QueryClient, issues: readonly Issue[]): void {
  for (const [key] of client.getQueriesData({ queryKey: LISTS })) {
    const filters = filtersOfKey(key)
    client.setQueryData<StreamData>(key, (data) => {
      const [first, ...others] = data?.pages ?? []
      if (data === undefined || first === undefined) return data
      const there = new Set(data.pages.flatMap((page) => page.items.map((item) => item.id)))
      const back = issues.filter((issue) => !there.has(issue.id) && matches(issue.status, filters))
      return { ...data, pages: [{ ...first, items: [...back, ...first.items] }, ...others] }
    })
  }
  storeIssues(client, issues)
}
