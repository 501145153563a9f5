import type { ReactNode } from 'react'
import { Icon, type IconName } from '../../../ui/icon.tsx'
import typeStyles from '../../../ui/type.module.css'
import styles from './empty-place.module.css'

type EmptyPlaceProps = {
  icon: IconName
  title: string
  text: string
  /** The way to fill it. */
  children?: ReactNode
}

/** A line in place of the content of a card: what is missing, and what to do. */
export const EmptyPlace = ({ icon, title, text, children }: EmptyPlaceProps) => (
  <div className={styles.place}>
    <Icon name={icon} className={typeStyles.quiet} />
    <p>
      <b className={typeStyles.strong}>{title}</b> {text}
    </p>
    {children}
  </div>
)
