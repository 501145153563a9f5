import type { KeyboardEventHandler, ReactNode } from 'react'
import { Icon, type IconName } from '../icon.tsx'
import { Card, CardHeader } from '../card.tsx'
import { classNames } from '../class-names.ts'
import fitStyles from '../fit.module.css'
import { Minor } from '../text.tsx'
import typeStyles from '../type.module.css'
import styles from './chart-card.module.css'

type ChartCardProps = {
  title: string
  /** The unit of the values. */
  unit: string
  legend?: ReactNode
  /** After the legend. */
  tools?: ReactNode
  /** One sentence under the chart. */
  note?: ReactNode
  noteIcon?: IconName
  /** A `ChartTable`. */
  table?: ReactNode
  /** Takes the whole row of its grid. */
  large?: boolean
  onKeyDown?: KeyboardEventHandler
  children: ReactNode
}

/** A chart with its title, unit, legend, finding and table. */
export function ChartCard(props: ChartCardProps) {
  const { title, unit, legend, tools, note, noteIcon = 'info', table, large = false, onKeyDown, children } = props
  return (
    <Card as="figure" className={styles.card} data-large={large ? '' : undefined} onKeyDown={onKeyDown}>
      <CardHeader as="figcaption">
        <h2>{title}</h2>
        <Minor>{unit}</Minor>
        {legend === undefined ? null : <span className={classNames(styles.legend, fitStyles.atEnd)}>{legend}</span>}
        {tools === undefined ? null : <span className={styles.tools}>{tools}</span>}
      </CardHeader>
      <div className={styles.body}>{children}</div>
      {note === undefined && table === undefined ? null : (
        <div className={classNames(styles.foot, typeStyles.links)}>
          {note === undefined ? null : (
            <span>
              <Icon name={noteIcon} />
              <span>{note}</span>
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
