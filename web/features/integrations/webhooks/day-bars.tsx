import type { WebhookEndpoint } from '../../../api/webhook-queries.ts'
import { daysSentence, toneOf } from './model.ts'
import styles from './day-bars.module.css'

type DayBarsProps = { days: WebhookEndpoint['days']; successRate: number | null }

/** One bar for each of the last thirty days: all delivered, some failed, all failed, nothing sent. */
export function DayBars({ days, successRate }: DayBarsProps) {
  const sentence = daysSentence(days, successRate)
  return (
    <span className={styles.bars} role="img" aria-label={sentence} title={sentence}>
      {days.map((day) => (
        <i key={day.day} data-tone={toneOf(day)} />
      ))}
    </span>
  )
}
