import type { ComponentPropsWithoutRef, ElementType } from 'react'
import { classNames } from './class-names.ts'
import styles from './text.module.css'

type MinorElement = 'span' | 'p' | 'small' | 'li'

type MinorProps<E extends MinorElement> = ComponentPropsWithoutRef<E> & { as?: E }

/** Small grey text beside or below what matters more. */
export function Minor<E extends MinorElement = 'span'>({ as, className, ...rest }: MinorProps<E>) {
  const Element = (as ?? 'span') as ElementType
  return <Element {...rest} className={classNames(styles.minor, className)} />
}

/** Short ID of an issue, such as `SHOP-12`. */
export const ShortId = (props: ComponentPropsWithoutRef<'span'>) => <span {...props} className={styles.id} />
