import { Icon, type IconName } from './icon.tsx'
import styles from './badge.module.css'

export type BadgeTone = 'violet' | 'vermilion' | 'blue' | 'amber' | 'red' | 'green' | 'plain'

type BadgeProps = { tone: BadgeTone; icon?: IconName; children: string }

/** A short remark on a row or beside a title: new, back in a release, missing symbols. */
export const Badge = ({ tone, icon, children }: BadgeProps) => (
  <span className={styles.badge} data-tone={tone}>
    {icon === undefined ? null : <Icon name={icon} />}
    {children}
  </span>
)
