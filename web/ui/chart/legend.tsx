import { classNames } from '../class-names.ts'
import fitStyles from '../fit.module.css'
import { toneClass, type ChartTone } from './tones.ts'
import styles from './legend.module.css'

/** The colour of a series beside its name. */
export const Key = ({ tone, mark }: { tone: ChartTone; mark: 'bar' | 'line' }) => (
  <i
    className={classNames(styles.key, fitStyles.ownColour, mark === 'line' && styles.stroke, toneClass(tone))}
    aria-hidden="true"
  />
)

/** The names of the series with their colours. */
export function ChartLegend({
  series,
  mark = 'bar',
  className,
}: {
  series: readonly { label: string; tone: ChartTone }[]
  mark?: 'bar' | 'line'
  /** Class name of the place. */
  className?: string
}) {
  return (
    <span className={classNames(styles.legend, className)}>
      {series.map((one) => (
        <span key={one.label}>
          <Key tone={one.tone} mark={mark} />
          {one.label}
        </span>
      ))}
    </span>
  )
}
