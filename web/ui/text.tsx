import type { ComponentPropsWithoutRef, ElementType } from 'react'
import { classNames } from './class-names.ts'
import styles from './text.module.css'

type MinorElement = 'span' | 'p' | 'small' | 'li'

type MinorProps<E extends MinorElement> = ComponentPropsWithoutRef<E> & { as?: E; bad?: boolean }

/** Small grey text beside or below what matters more; `bad` says that something is wrong. */
export function Minor<E extends MinorElement = 'span'>({ as, bad = false, className, ...rest }: MinorProps<E>) {
  const Element = (as ?? 'span') as ElementType
  return <Element {...rest} className={classNames(styles.minor, className)} data-bad={bad ? '' : undefined} />
}

/** Short ID of an issue, such as `SHOP-12`. */
export const ShortId = ({ className, ...rest }: ComponentPropsWithoutRef<'span'>) => (
  <span {...rest} className={classNames(styles.id, className)} />
)
