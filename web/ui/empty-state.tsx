import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import { Icon, type IconName } from './icon.tsx'
import { Toolbar } from './stack.tsx'
import styles from './empty-state.module.css'
import typeStyles from './type.module.css'

const ICONS = {
  good: 'st-resolved',
  filtered: 'filter',
  setup: 'plus',
  missing: 'search',
  refused: 'lock',
  failed: 'warn',
} as const satisfies Record<string, IconName>

type EmptyStateProps = {
  /**
   * good: no problems. filtered: hidden by filters. setup: no data yet. missing: nothing has this address. refused: for other
   * roles. failed: an error, which screen readers announce. Without a kind there is no icon.
   */
  kind?: keyof typeof ICONS
  title: string
  /** Level of the title; `h1` where nothing else is on the page. */
  heading?: 'h1' | 'h2' | 'h3'
  /** The meaning of the empty state, in one sentence. */
  children?: ReactNode
  /** Buttons for what to do next. */
  actions?: ReactNode
}

/** Stands in place of a list, a chart or a page that has nothing to show. */
export function EmptyState({ kind, title, heading: Heading = 'h3', children, actions }: EmptyStateProps) {
  return (
    <div
      className={classNames(styles.empty, typeStyles.mediumNames)}
      data-kind={kind}
      role={kind === 'failed' ? 'alert' : undefined}
    >
      {kind === undefined ? null : <Icon name={ICONS[kind]} />}
      <Heading>{title}</Heading>
      {children === undefined ? null : <p>{children}</p>}
      {actions === undefined ? null : <Toolbar>{actions}</Toolbar>}
    </div>
  )
}
