import { OPEN, type Issue, type StreamFilters, type StreamPage } from '../../../api/issue-queries.ts'

/** Updates of issues while the list stays still. Pure. */

/** Transactions take time: a change that started before the list was read may be missing in its pages. */
const UNDER_WAY_MS = 5_000

/** Whether a time is after the list was read, both by the server's clock. */
const changedSince = (issue: Issue, asOf: number): boolean => Date.parse(issue.status_changed_at) >= asOf - UNDER_WAY_MS

/** The issues seen last, and those that were pending before: a hundred others may be newer by now. */
export function keepFresh(before: readonly Issue[], fresh: StreamPage, asOf: number): readonly Issue[] {
  // All issues were read: a missing one no longer matches.
  if (fresh.nextCursor === null) return fresh.items
  const known = new Set(fresh.items.map((issue) => issue.id))
  return [...fresh.items, ...before.filter((issue) => !known.has(issue.id) && changedSince(issue, asOf))]
}

/**
 * The pending issues behind the pill: new, regressed, escalated and reopened ones. While not all pages are loaded, an
 * issue that is not in the list may be further down, unless its status changed.
 */
export function waitingIssues(
  fresh: readonly Issue[],
  listed: ReadonlySet<string>,
  { asOf, complete, statuses }: { asOf: number; complete: boolean; statuses: StreamFilters['status'] },
): readonly Issue[] {
  // In a list of open and closed issues, a closed issue is not pending.
  const onlyClosed = statuses !== null && !statuses.some((status) => OPEN.includes(status))
  return fresh.filter(
    (issue) =>
      !listed.has(issue.id) && (complete || (changedSince(issue, asOf) && (onlyClosed || OPEN.includes(issue.status)))),
  )
}

/** Changed issues of the list that are not among the fresh ones: they no longer match and are read one by one. */
export const strayIds = (
  changed: ReadonlySet<string>,
  listed: ReadonlySet<string>,
  fresh: StreamPage,
  max: number,
): readonly string[] => {
  const known = new Set(fresh.items.map((issue) => issue.id))
  return [...changed].filter((id) => listed.has(id) && !known.has(id)).slice(0, max)
}
