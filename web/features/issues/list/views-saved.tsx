import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useLayoutEffect, useRef } from 'react'
import { toViewSearch, shows, viewsQuery, type SavedView } from '../../../api/view-queries.ts'
import { paths } from '../../../address/paths.ts'
import type { IssuesSearch } from '../../../address/search.ts'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { Icon } from '../../../ui/icon.tsx'
import typeStyles from '../../../ui/type.module.css'
import { viewTexts } from './view-texts.ts'
import issuesStyles from './issues.module.css'
import styles from './views-saved.module.css'

/** The width of the fade at the end of the bar, as in its style sheet. */
const FADE_PX = 28

/** The saved view of an address; null if it has none, or if the view was deleted. */
export function useSavedView(search: IssuesSearch): { view: SavedView | null; isChanged: boolean } {
  const { data: views = [] } = useQuery(viewsQuery)
  const view = views.find((one) => one.id === search.view) ?? null
  return { view, isChanged: view !== null && !shows(search, view) }
}

/** Tabs of saved views, after those of the statuses: the user's own first, then shared ones. */
export function SavedViews({ search }: { search: IssuesSearch }) {
  const { data: views = [] } = useQuery(viewsQuery)
  const { view: current, isChanged } = useSavedView(search)
  const chosen = useRef<HTMLAnchorElement>(null)
  const currentId = current?.id ?? null
  // Scrolls the selected tab into view, without scrolling the page.
  useLayoutEffect(() => {
    const bar = chosen.current?.closest<HTMLElement>('.viewbar')
    if (chosen.current === null || bar == null) return
    const [link, edge] = [chosen.current.getBoundingClientRect(), bar.getBoundingClientRect()]
    const end = edge.right - FADE_PX
    if (link.right > end) bar.scrollLeft += link.right - end
    else if (link.left < edge.left) bar.scrollLeft -= edge.left - link.left
  }, [currentId, views.length])
  if (views.length === 0) return null
  return (
    <nav
      className={classNames(issuesStyles.views, fitStyles.icons14, choiceStyles.choices, styles.viewsSaved)}
      aria-label={viewTexts.views}
    >
      {[...views]
        .sort((a, b) => Number(a.is_shared) - Number(b.is_shared))
        .map((view) => (
          <Link
            key={view.id}
            ref={view.id === currentId ? chosen : undefined}
            {...paths.issues(toViewSearch(view, search))}
            activeOptions={{ exact: true }}
            aria-current={view.id === currentId ? 'page' : undefined}
            title={view.is_shared ? `${view.name}, ${viewTexts.sharedOne}` : view.name}
          >
            {view.is_shared ? <Icon name="org" /> : null}
            <span className={styles.viewN}>{view.name}</span>
            {view.id === currentId && isChanged ? (
              <span className={classNames(issuesStyles.viewCount, typeStyles.softInCurrent)}>{viewTexts.changed}</span>
            ) : null}
          </Link>
        ))}
    </nav>
  )
}
