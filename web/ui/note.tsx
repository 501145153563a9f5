import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import { Icon, type IconName } from './icon.tsx'
import narrowStyles from './narrow.module.css'
import styles from './note.module.css'

type NoteProps = {
  tone: 'amber' | 'red' | 'green' | 'blue' | 'plain'
  icon: IconName
  children: ReactNode
  action?: ReactNode
  role?: 'status' | 'alert'
}

/** A banner inside the page. */
export function Note({ tone, icon, children, action, role }: NoteProps) {
  return (
    <div className={classNames(styles.note, narrowStyles.wrapsAt352)} data-tone={tone} role={role}>
      <Icon name={icon} />
      <div>{children}</div>
      {action}
    </div>
  )
}
