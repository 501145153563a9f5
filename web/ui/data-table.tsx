import { Fragment, type ComponentPropsWithoutRef, type ReactNode } from 'react'
import { classNames } from './class-names.ts'
import narrowStyles from './narrow.module.css'
import { ColumnHead, Table, type TableProps } from './table.tsx'
import typeStyles from './type.module.css'

export type Column<Row> = {
  head: ReactNode
  /** Only screen readers say the head. */
  isHeadHidden?: boolean
  headTitle?: string
  headClass?: string | undefined
  cell: (row: Row, index: number) => ReactNode
  /** Figures, which stand at the end of their column. */
  numeric?: boolean
  /** The whole of a cell that may be cut, or a remark about it. */
  title?: (row: Row) => string | null | undefined
  /** Looks of the cells. */
  className?: string | undefined
  /** The column names its row; without such a column the first one does. */
  isName?: boolean
  /** The column is absent where the container is at most so wide. */
  hiddenAtPx?: 600 | 900
  /** Where rows are cards, a cell may say its head before its value (`data-label`). */
  label?: string
  sorted?: 'ascending' | 'descending' | undefined
}

type RowAttributes = ComponentPropsWithoutRef<'tr'> & Readonly<Record<`data-${string}`, string | undefined>>

type DataTableProps<Row> = Omit<TableProps, 'children'> & {
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row, index: number) => string | number
  rowAttributes?: (row: Row) => RowAttributes
  /** A further row below this one, such as its details. */
  below?: (row: Row) => ReactNode
}

const HIDDEN = { 600: narrowStyles.hiddenAt600, 900: narrowStyles.hiddenAt900 } as const

/** Rows of things of one kind, in columns that are data. */
export function DataTable<Row>({ columns, rows, keyOf, rowAttributes, below, ...table }: DataTableProps<Row>) {
  const named = columns.some(({ isName }) => isName)
  return (
    <Table {...table}>
      <thead>
        <tr>
          {columns.map(({ head, isHeadHidden, headTitle, headClass, numeric, hiddenAtPx, sorted }, place) => (
            <ColumnHead
              key={place}
              numeric={numeric}
              title={headTitle}
              aria-sort={sorted}
              className={classNames(headClass, hiddenAtPx && HIDDEN[hiddenAtPx]) || undefined}
            >
              {isHeadHidden === true ? <span className={typeStyles.hidden}>{head}</span> : head}
            </ColumnHead>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <Fragment key={keyOf(row, index)}>
            <tr {...rowAttributes?.(row)}>
              {columns.map(({ cell, title, numeric, className, isName, hiddenAtPx, label }, place) => {
                const Cell = (named ? isName === true : place === 0) ? 'th' : 'td'
                return (
                  <Cell
                    key={place}
                    scope={Cell === 'th' ? 'row' : undefined}
                    title={title?.(row) ?? undefined}
                    className={classNames(className, hiddenAtPx && HIDDEN[hiddenAtPx]) || undefined}
                    data-numeric={numeric === true ? '' : undefined}
                    data-label={label}
                  >
                    {cell(row, index)}
                  </Cell>
                )
              })}
            </tr>
            {below?.(row)}
          </Fragment>
        ))}
      </tbody>
    </Table>
  )
}
