import type { WebhookDelivery } from '../../api/webhook-queries.ts'
import { Icon } from '../../ui/icon.tsx'
import { useNow } from '../../ui/now.ts'
import { isCounting, lookOf } from './model.ts'
import styles from './delivery-state.module.css'

type DeliveryStateProps = { delivery: WebhookDelivery; isPaused: boolean }

/** The state of a delivery: icon, words and colour. The time until a retry counts down. */
export function DeliveryState(props: DeliveryStateProps) {
  return isCounting(props.delivery) ? <Counting {...props} /> : <State {...props} now={0} />
}

function Counting(props: DeliveryStateProps) {
  const now = useNow('second')
  return <State {...props} now={now} />
}

function State({ delivery, isPaused, now }: DeliveryStateProps & { now: number }) {
  const { tone, icon, text } = lookOf(delivery, isPaused, now)
  return (
    <span className={styles.state} data-tone={tone}>
      <Icon name={icon} />
      {text}
    </span>
  )
}
