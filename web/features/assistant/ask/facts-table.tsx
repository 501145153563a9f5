import type { ReactNode } from 'react'
import { ColumnHead, NumberCell, Table } from '../../../ui/table.tsx'
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
  const isNumeric = head.map((_, column) => rows.length > 0 && rows.every((row) => isFigure(row[column] ?? '')))
  return (
    <Table scrollLabel={label} className={className}>
      <thead>
        <tr>
          {head.map((cell, column) => (
            <ColumnHead key={column} numeric={isNumeric[column] === true}>
              {draw(cell)}
            </ColumnHead>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {head.map((_, column) => {
              const cell = draw(row[column] ?? '')
              if (column === 0)
                return (
                  <th key={column} scope="row">
                    {cell}
                  </th>
                )
              return isNumeric[column] === true ? (
                <NumberCell key={column}>{cell}</NumberCell>
              ) : (
                <td key={column}>{cell}</td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </Table>
  )
}
