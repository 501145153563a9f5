import type { ComponentPropsWithoutRef, ElementType } from 'react'
import { classNames } from './class-names.ts'
import { NO_DATA } from './format.ts'
import styles from './text.module.css'
import typeStyles from './type.module.css'

type MinorElement = 'span' | 'p' | 'small' | 'li'

type MinorProps<E extends MinorElement> = ComponentPropsWithoutRef<E> & { as?: E; bad?: boolean }

/** Small grey text beside or below what matters more; `bad` says that something is wrong. */
export function Minor<E extends MinorElement = 'span'>({ as, bad = false, className, ...rest }: MinorProps<E>) {
  const Element = (as ?? 'span') as ElementType
  return <Element {...rest} className={classNames(styles.minor, className)} data-bad={bad ? '' : undefined} />
}

/** Stands in place of a figure that is not known. */
export const NoData = () => <span className={typeStyles.quiet}>{NO_DATA}</span>

/** Short ID of an issue, such as `SHOP-12`. */
export const ShortId = ({ className, ...rest }: ComponentPropsWithoutRef<'span'>) => (
  <span {...rest} className={classNames(styles.id, className)} />
)
