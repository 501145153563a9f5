import type { Issue, StreamPage } from '../api/issue-queries.ts'

/** What happens to news of issues while the list holds still. Pure. */

/**
 * Issues that wait behind the pill. `announced` are those the live stream named as seen for the first time. While
 * further pages are not loaded, an issue that is missing here may simply stand further down: only new ones count.
 */
export function waitingIssues(
  fresh: StreamPage,
  listed: ReadonlySet<string>,
  { announced, readAt, complete }: { announced: ReadonlySet<string>; readAt: number; complete: boolean },
): readonly Issue[] {
  return fresh.items.filter(
    (issue) =>
      !listed.has(issue.id) &&
      (complete || announced.has(issue.id) || Date.parse(issue.first_seen) >= readAt || cameBack(issue, readAt)),
  )
}

/** Re-opened issues return to the list they had left. */
const cameBack = (issue: Issue, readAt: number): boolean =>
  issue.status === 'regressed' && Date.parse(issue.last_seen) >= readAt

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
