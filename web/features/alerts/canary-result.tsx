import { useQuery } from '@tanstack/react-query'
import { canaryQuery } from '../../api/canary-query.ts'
import type { AnswerOf } from '../../api/call.ts'
import { classNames } from '../../ui/class-names.ts'
import fitStyles from '../../ui/fit.module.css'
import { formatClock } from '../../ui/format.ts'
import { Icon } from '../../ui/icon.tsx'
import { alertsTexts } from './texts.ts'
import styles from './canary-result.module.css'
import typeStyles from '../../ui/type.module.css'

type CanaryReport = AnswerOf<'GET /api/alerts/canary'>

/** The result of the end-to-end test: whether alerts arrive at all. */
export function CanaryResult() {
  const canary = useQuery(canaryQuery)
  if (canary.data === undefined) return null
  const { icon, tone, text } = canaryLook(canary.data)
  return (
    <p
      className={classNames(styles.canary, fitStyles.icons14)}
      title={canary.data.explanation === '' ? undefined : canary.data.explanation}
    >
      <Icon name={icon} className={tone} />
      <span>{text}</span>
    </p>
  )
}

function canaryLook({
  state,
  last_arrived_at: arrivedAt,
  last_started_at: startedAt,
  failed_step: step,
}: CanaryReport) {
  const texts = alertsTexts.canary
  if (state === 'off') return { icon: 'info', tone: undefined, text: texts.off } as const
  if (state === 'ok' && arrivedAt !== null)
    return { icon: 'check', tone: typeStyles.green, text: texts.passed(formatClock(arrivedAt)) } as const
  if (state === 'pending' || startedAt === null) return { icon: 'clock', tone: undefined, text: texts.never } as const
  const reason = step === null ? texts.states[state] : texts.stoppedAt[step]
  return {
    icon: 'warn',
    tone: state === 'late' ? typeStyles.amber : typeStyles.red,
    text: texts.failed(formatClock(startedAt), reason),
  } as const
}
