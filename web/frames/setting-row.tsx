import type { ReactNode } from 'react'
import { classNames } from '../ui/class-names.ts'
import fitStyles from '../ui/fit.module.css'
import narrowStyles from '../ui/narrow.module.css'
import { Minor } from '../ui/text.tsx'
import typeStyles from '../ui/type.module.css'
import styles from './settings.module.css'

type SettingRowProps = {
  title: string
  more?: ReactNode
  /** Says more about the title when it is pointed at. */
  hint?: string | undefined
  /** An icon or a control before the title. */
  start?: ReactNode
  className?: string | undefined
  /** Controls and facts at the end. */
  children?: ReactNode
}

/** A row of a list of settings: what it is called and does, and its controls. */
export const SettingRow = ({ title, more, hint, start, className, children }: SettingRowProps) => (
  <li className={classNames(styles.row, typeStyles.mediumNames, narrowStyles.wrapsAt600, className)}>
    {start}
    <div className={classNames(fitStyles.shrinks, fitStyles.breaks)} title={hint}>
      <b>{title}</b>
      {more === undefined ? null : <Minor as="p">{more}</Minor>}
    </div>
    {children}
  </li>
)
