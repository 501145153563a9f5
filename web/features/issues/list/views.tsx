import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import { OPEN, type Status } from '../../../api/issue-queries.ts'
import { paths } from '../../../address/paths.ts'
import type { IssuesSearch } from '../../../address/search.ts'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { formatCount } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import { STATUS_COLOURS } from '../../../ui/status.tsx'
import { issuesTexts } from './texts.ts'
import styles from './issues.module.css'

export type ViewName = 'open' | Status
const VIEWS: readonly ViewName[] = ['open', 'unresolved', 'regressed', 'escalated', 'ignored', 'resolved']

/** The status view of an address; null for another combination of statuses. */
export function statusView(status: readonly Status[] | null): ViewName | null {
  if (status === null) return null
  if (status.length === OPEN.length && OPEN.every((one) => status.includes(one))) return 'open'
  return status.length === 1 ? (status[0] ?? null) : null
}

type ViewsProps = {
  view: ViewName | null
  /** A saved view is shown unchanged: its tab is the selected one. */
  isSaved: boolean
  search: IssuesSearch
  /** Absent during a search, which has no counts by status. */
  counts: Partial<Record<Status, number>> | null
}

const CAP = 10_000

export const StatusViews = memo(function StatusViews({ view, isSaved, search, counts }: ViewsProps) {
  const countOf = (name: ViewName): number | null => {
    if (counts === null) return null
    return name === 'open' ? OPEN.reduce((sum, status) => sum + (counts[status] ?? 0), 0) : (counts[name] ?? 0)
  }
  return (
    <nav className={classNames(styles.views, fitStyles.icons14, choiceStyles.choices)} aria-label={issuesTexts.views}>
      {VIEWS.map((name) => {
        const count = countOf(name)
        return (
          <Link
            key={name}
            {...paths.issues({
              ...search,
              status: name === 'open' ? undefined : [name],
              view: isSaved && name === view ? undefined : search.view,
              cursor: undefined,
            })}
            activeOptions={{ exact: true }}
            aria-current={name === view && !isSaved ? 'page' : undefined}
          >
            {name === 'open' ? null : <Icon name={`st-${name}`} className={STATUS_COLOURS[name]} />}
            {issuesTexts.view[name]}
            {count === null ? null : (
              <span className={styles.viewCount}>{count >= CAP ? `${formatCount(CAP)}+` : formatCount(count)}</span>
            )}
          </Link>
        )
      })}
    </nav>
  )
})
