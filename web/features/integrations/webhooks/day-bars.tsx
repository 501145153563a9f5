import type { WebhookEndpoint } from '../../../api/webhook-queries.ts'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import narrowStyles from '../../../ui/narrow.module.css'
import { daysSentence, dayTone } from './model.ts'
import styles from './day-bars.module.css'

type DayBarsProps = { days: WebhookEndpoint['days']; successRate: number | null }

/** One bar for each of the last thirty days: all delivered, some failed, all failed, nothing sent. */
export function DayBars({ days, successRate }: DayBarsProps) {
  const sentence = daysSentence(days, successRate)
  return (
    <span
      className={classNames(styles.bars, fitStyles.ownColours, narrowStyles.hiddenAt600)}
      role="img"
      aria-label={sentence}
      title={sentence}
    >
      {days.map((day) => (
        <i key={day.day} data-tone={dayTone(day)} />
      ))}
    </span>
  )
}
