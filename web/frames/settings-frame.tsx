import { Outlet, useLocation } from '@tanstack/react-router'
import { usePageTitle } from '../app/page-title.ts'
import { UnsavedGuard } from '../forms/unsaved.tsx'
import choiceStyles from '../ui/choice.module.css'
import { classNames } from '../ui/class-names.ts'
import fitStyles from '../ui/fit.module.css'
import { useLayoutEffect, useRef, type ReactElement, type ReactNode } from 'react'
import { PageHead } from '../ui/page-head.tsx'
import styles from './settings-frame.module.css'
import settingsStyles from './settings.module.css'
import { PageMain } from '../ui/page-main.tsx'

type SettingsFrameProps = {
  /** Accessible name of the list of topics. */
  name: string
  heading: string
  /** For tables: as wide as the page, not as wide as a form. */
  wide?: boolean
  /** Links to the topics. */
  children: readonly ReactElement[]
}

/** The frame of settings pages: topics on the left, on small screens in a row above. */
export function SettingsFrame({ name, heading, wide = false, children }: SettingsFrameProps) {
  const topics = useRef<HTMLUListElement>(null)
  const { pathname } = useLocation()
  // Scrolls the present topic into view, without scrolling the page.
  useLayoutEffect(() => {
    const row = topics.current
    const link = row?.querySelector('[aria-current]')?.getBoundingClientRect()
    if (row == null || link === undefined) return
    const edge = row.getBoundingClientRect()
    if (link.right > edge.right || link.left < edge.left)
      row.scrollLeft += (link.left + link.right - edge.left - edge.right) / 2
  }, [pathname])
  return (
    <PageMain>
      <div className={styles.columns}>
        <nav className={classNames(styles.subnav, choiceStyles.choices)} aria-label={name}>
          <h2>{heading}</h2>
          <ul ref={topics}>
            {children.map((link) => (
              <li key={link.key}>{link}</li>
            ))}
          </ul>
        </nav>
        <div className={`${fitStyles.shrinks} ${settingsStyles.page}`} data-wide={wide ? '' : undefined}>
          <UnsavedGuard>
            <Outlet />
          </UnsavedGuard>
        </div>
      </div>
    </PageMain>
  )
}

/** The head of a settings page. */
export function SettingsHead({
  title,
  of,
  lead,
  actions,
}: {
  title: string
  of: string | null
  lead: string
  actions?: ReactNode
}) {
  usePageTitle(of === null ? title : `${title}, ${of}`)
  return (
    <PageHead className={styles.head} actions={actions}>
      <div>
        <h1>{title}</h1>
        <p>{lead}</p>
      </div>
    </PageHead>
  )
}
