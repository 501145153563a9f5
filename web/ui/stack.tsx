import type { ComponentPropsWithoutRef, ElementType, ReactNode } from 'react'
import { classNames } from './class-names.ts'
import styles from './stack.module.css'

type StackElement = 'div' | 'ul'

type StackProps<E extends StackElement> = ComponentPropsWithoutRef<E> & { as?: E }

/** Parts below one another, 8 px apart. */
export function Stack<E extends StackElement = 'div'>({ as, className, ...rest }: StackProps<E>) {
  const Element = (as ?? 'div') as ElementType
  return <Element {...rest} className={classNames(styles.stack, className)} />
}

type ToolbarProps = {
  /** `end` for the buttons that close a form or dialog. */
  align?: 'start' | 'end'
  className?: string | undefined
  children: ReactNode
}

/** Controls in a row, which wraps where it is too narrow. */
export const Toolbar = ({ align = 'start', className, children }: ToolbarProps) => (
  <div className={classNames(styles.toolbar, className)} data-align={align}>
    {children}
  </div>
)

/** Takes the room that is left in a row. */
export const Spacer = () => <span className={styles.spacer} data-spacer />
