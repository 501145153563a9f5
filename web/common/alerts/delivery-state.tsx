import type { AlertDelivery } from '../../api/alert-queries.ts'
import { Icon } from '../../ui/icon.tsx'
import { useNow } from '../../ui/now.ts'
import { deliveryLook, isCounting } from './look.ts'
import styles from './delivery-state.module.css'

/** The state of a delivery: icon, words and colour. The time until a retry counts down. */
export const DeliveryState = ({ delivery }: { delivery: AlertDelivery }) =>
  isCounting(delivery) ? <Counting delivery={delivery} /> : <State delivery={delivery} now={0} />

function Counting({ delivery }: { delivery: AlertDelivery }) {
  const now = useNow('second')
  return <State delivery={delivery} now={now} />
}

function State({ delivery, now }: { delivery: AlertDelivery; now: number }) {
  const { tone, icon, text } = deliveryLook(delivery, now)
  return (
    <span className={styles.state} data-tone={tone}>
      <Icon name={icon} />
      {text}
    </span>
  )
}
