import type { ReactNode } from 'react'
import { DataTable, type Column } from '../../../ui/data-table.tsx'
import { isFigure } from './model.ts'

type FactsTableProps = {
  label: string
  /** The first row is the heads. */
  rows: readonly (readonly string[])[]
  draw?: (cell: string) => ReactNode
  className?: string | undefined
}

/** Rows of texts; columns of figures are aligned at their end. */
export function FactsTable({ label, rows: [head = [], ...rows], draw = (cell) => cell, className }: FactsTableProps) {
  return (
    <DataTable
      scrollLabel={label}
      className={className}
      rows={rows}
      keyOf={(_, index) => index}
      columns={head.map((name, column): Column<readonly string[]> => ({
        head: draw(name),
        numeric: rows.length > 0 && rows.every((row) => isFigure(row[column] ?? '')),
        cell: (row) => draw(row[column] ?? ''),
      }))}
    />
  )
}
