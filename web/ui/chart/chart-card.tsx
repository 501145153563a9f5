import type { ReactNode } from 'react'
import { Icon } from '../icon.tsx'
import { Card, CardHeader } from '../card.tsx'
import { Minor } from '../text.tsx'
import styles from './chart-card.module.css'

type ChartCardProps = {
  title: string
  /** The unit of the values. */
  unit: string
  legend?: ReactNode
  /** One sentence under the chart. */
  note?: string
  /** A `ChartTable`. */
  table?: ReactNode
  children: ReactNode
}

/** A chart with its title, unit, legend, finding and table. */
export function ChartCard({ title, unit, legend, note, table, children }: ChartCardProps) {
  return (
    <Card as="figure" className={styles.card}>
      <CardHeader as="figcaption">
        <h2>{title}</h2>
        <Minor>{unit}</Minor>
        {legend === undefined ? null : <span className={styles.legend}>{legend}</span>}
      </CardHeader>
      <div className={styles.body}>{children}</div>
      {note === undefined && table === undefined ? null : (
        <div className={styles.foot}>
          {note === undefined ? null : (
            <span>
              <Icon name="info" />
              {note}
            </span>
          )}
          {table}
        </div>
      )}
    </Card>
  )
}

/** Replaces a chart without data, at the same height. */
export const ChartNothing = ({ children }: { children: ReactNode }) => <div className={styles.nothing}>{children}</div>
