import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import styles from './code-box.module.css'

type CodeBoxProps = {
  /** The kind of code: a file, a terminal. */
  title: ReactNode
  /** At the end of the title, such as a button that copies. */
  action: ReactNode
  className?: string | undefined
  /** A `pre`. */
  children: ReactNode
}

/** Source to read or copy, in a frame with its name. */
export const CodeBox = ({ title, action, className, children }: CodeBoxProps) => (
  <div className={classNames(styles.box, className)}>
    <header>
      {title}
      {action}
    </header>
    {children}
  </div>
)
