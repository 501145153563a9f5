import { classNames } from '../class-names.ts'
import styles from './sparkline.module.css'

export type SparkTone = 'plain' | 'regressed' | 'escalated' | 'new'

const WIDTH = 120
const HEIGHT = 28
const TONE_CLASSES: Readonly<Record<SparkTone, string | undefined>> = {
  plain: undefined,
  regressed: styles.regressed,
  escalated: styles.escalated,
  new: styles.new,
}

const round = (value: number): number => Math.round(value * 10) / 10

/** Bars as one path each before and after the change of level. An empty bucket is a line of one unit. */
export function sparkPath(counts: readonly number[], max: number, from: number, to: number): string {
  const step = WIDTH / Math.max(1, counts.length)
  const width = round(step * 0.72)
  let path = ''
  for (let index = from; index < to; index++) {
    const height = max === 0 ? 1 : Math.max(1, round(((counts[index] ?? 0) / max) * (HEIGHT - 3)))
    path += `M${round(index * step)} ${round(HEIGHT - height)}h${width}v${height}h${-width}z`
  }
  return path
}

type SparklineProps = {
  /** Events per bucket, oldest first. */
  counts: readonly number[]
  /** A sentence with the finding. */
  label: string
  tone?: SparkTone
  /** First bucket after the change of level: from there the bars have the colour of the tone. */
  split?: number | null
  /** As wide as its box; the bars are stretched. */
  wide?: boolean
}

export function Sparkline({ counts, label, tone = 'plain', split = null, wide = false }: SparklineProps) {
  const max = Math.max(0, ...counts)
  const first = tone === 'plain' || split === null ? counts.length : Math.min(Math.max(0, split), counts.length)
  const at = round((first * WIDTH) / Math.max(1, counts.length) - 1)
  return (
    <svg
      className={classNames(styles.spark, first < counts.length && TONE_CLASSES[tone])}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio={wide ? 'none' : undefined}
      role="img"
      aria-label={label}
    >
      <path className={styles.before} d={sparkPath(counts, max, 0, first)} />
      {first === counts.length ? null : (
        <>
          <path className={styles.after} d={sparkPath(counts, max, first, counts.length)} />
          {/* At 0 the change was before the trend. */}
          {first === 0 ? null : <path className={styles.change} d={`M${at} 0V${HEIGHT}`} />}
        </>
      )}
    </svg>
  )
}
