import { OPEN, type Issue, type StreamFilters, type StreamPage } from '../../api/issue-queries.ts'

/** What happens to news of issues while the list holds still. Pure. */

/** What began to change before the list was read may be in none of its pages: transactions take a while. */
const UNDER_WAY_MS = 5_000

/** Since the list was read; both times by the clock of the service. */
const changedSince = (issue: Issue, asOf: number): boolean => Date.parse(issue.status_changed_at) >= asOf - UNDER_WAY_MS

/**
 * The issues seen last, and those that came or came back since the list was read and were among them at an earlier look:
 * a hundred others may have been seen since.
 */
export function keepFresh(before: readonly Issue[], fresh: StreamPage, asOf: number): readonly Issue[] {
  // All there are: what is missing left the filter.
  if (fresh.nextCursor === null) return fresh.items
  const known = new Set(fresh.items.map((issue) => issue.id))
  return [...fresh.items, ...before.filter((issue) => !known.has(issue.id) && changedSince(issue, asOf))]
}

/**
 * Issues that wait behind the pill: new ones and those that came back (regressed, escalated, reopened). While further
 * pages are not loaded, one that is missing here may simply stand further down: when its status moved tells them apart.
 */
export function waitingIssues(
  fresh: readonly Issue[],
  listed: ReadonlySet<string>,
  { asOf, complete, statuses }: { asOf: number; complete: boolean; statuses: StreamFilters['status'] },
): readonly Issue[] {
  // Where open and closed issues stand together, one that was closed is no news further up.
  const onlyClosed = statuses !== null && !statuses.some((status) => OPEN.includes(status))
  return fresh.filter(
    (issue) =>
      !listed.has(issue.id) && (complete || (changedSince(issue, asOf) && (onlyClosed || OPEN.includes(issue.status)))),
  )
}

/** Listed issues that changed and are not among the fresh ones: they left the filter, and are read one by one. */
export const strayIds = (
  changed: ReadonlySet<string>,
  listed: ReadonlySet<string>,
  fresh: StreamPage,
  most: number,
): readonly string[] => {
  const known = new Set(fresh.items.map((issue) => issue.id))
  return [...changed].filter((id) => listed.has(id) && !known.has(id)).slice(0, most)
}
