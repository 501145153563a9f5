import { useState } from 'react'
import choiceStyles from '../choice.module.css'
import { classNames } from '../class-names.ts'
import fitStyles from '../fit.module.css'
import { Icon } from '../icon.tsx'
import tableStyles from '../table.module.css'
import styles from './chart-table.module.css'

type Figures = {
  head: readonly string[]
  /** The cells of each row; the first names the row. */
  rows: readonly (readonly string[])[]
}

/** The values of a chart as a table. */
export function FigureTable({ head, rows }: Figures) {
  return (
    <table className={styles.figures}>
      <thead>
        <tr>
          {head.map((name) => (
            <th scope="col" key={name}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name = '', ...cells], index) => (
          // Times repeat on a day when the clocks change.
          <tr key={`${index} ${name}`}>
            <th scope="row">{name}</th>
            {cells.map((cell, column) => (
              <td key={head[column + 1]}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The values of a chart as a table, closed at first; its rows are drawn when it opens. */
export function ChartTable({
  label,
  className,
  ...figures
}: Figures & { label: string; className?: string | undefined }) {
  const [open, setOpen] = useState(false)
  return (
    <details
      className={classNames(styles.table, className)}
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary className={classNames(choiceStyles.lightens, fitStyles.icons13)}>
        <Icon name="issues" />
        <span>{label}</span>
      </summary>
      {open ? (
        <div className={tableStyles.scroll}>
          <FigureTable {...figures} />
        </div>
      ) : null}
    </details>
  )
}
