import type { ReactNode } from 'react'
import { Minor } from '../../../ui/text.tsx'
import styles from '../../../frames/settings.module.css'
import { classNames } from '../../../ui/class-names.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import typeStyles from '../../../ui/type.module.css'

/** A setting in a list: what it is called and does, and its control. */
export function SettingRow({ title, more, children }: { title: string; more: string; children: ReactNode }) {
  return (
    <li className={classNames(styles.row, typeStyles.mediumNames, narrowStyles.wrapsAt600)}>
      <div>
        <b>{title}</b>
        <Minor as="p">{more}</Minor>
      </div>
      {children}
    </li>
  )
}
