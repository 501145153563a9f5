import { Icon, type IconName } from './icon.tsx'
import styles from './badge.module.css'

export type BadgeTone = 'violet' | 'vermilion' | 'blue' | 'amber' | 'red' | 'green' | 'plain'

type BadgeProps = { tone: BadgeTone; icon?: IconName; children: string }

/** A short note in a row or beside a title: new, regressed in a release. */
export const Badge = ({ tone, icon, children }: BadgeProps) => (
  <span className={styles.badge} data-tone={tone}>
    {icon === undefined ? null : <Icon name={icon} />}
    {children}
  </span>
)
