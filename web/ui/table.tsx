import type { ComponentPropsWithoutRef, ReactNode } from 'react'
import { classNames } from './class-names.ts'
import styles from './table.module.css'

export type TableProps = {
  /** The name of the table where it is wider than its card: it is scrolled sideways, also with the keys. */
  scrollLabel?: string
  /** In a narrow container each row is a card, whose cells the page places in a grid. */
  cards?: boolean
  className?: string | undefined
  /** `thead` of `ColumnHead`s, `tbody` of rows that begin with `<th scope="row">`. */
  children: ReactNode
}

/** The frame of a table. `DataTable` makes its rows of data; a page writes them itself only where they are no data. */
export function Table({ scrollLabel, cards = false, className, children }: TableProps) {
  const table = (
    <table className={classNames(styles.table, className)} data-cards={cards ? '' : undefined}>
      {children}
    </table>
  )
  if (scrollLabel === undefined) return table
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={styles.scroll} role="region" aria-label={scrollLabel} tabIndex={0}>
      {table}
    </div>
  )
}

type CellProps = Pick<ComponentPropsWithoutRef<'th'>, 'className' | 'title' | 'aria-sort' | 'children'>

/** The head of a column; `numeric` above figures. */
export const ColumnHead = ({ numeric = false, ...rest }: CellProps & { numeric?: boolean | undefined }) => (
  <th scope="col" {...rest} data-numeric={numeric ? '' : undefined} />
)

/** A cell with a figure. */
export const NumberCell = (props: CellProps) => <td {...props} data-numeric="" />
