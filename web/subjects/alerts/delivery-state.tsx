import { classNames } from '../../ui/class-names.ts'
import fitStyles from '../../ui/fit.module.css'
import { Icon } from '../../ui/icon.tsx'
import { useNow } from '../../ui/now.ts'
import type { DeliveryLook } from './delivery-look.ts'
import styles from './delivery-state.module.css'

type DeliveryStateProps = { counts: boolean; lookAt: (now: number) => DeliveryLook }

/** The state of a delivery: icon, words and colour. The time until a retry counts down. */
export const DeliveryState = ({ counts, lookAt }: DeliveryStateProps) =>
  counts ? <Counting lookAt={lookAt} /> : <State look={lookAt(0)} />

function Counting({ lookAt }: Pick<DeliveryStateProps, 'lookAt'>) {
  return <State look={lookAt(useNow('second'))} />
}

const State = ({ look: { tone, icon, text } }: { look: DeliveryLook }) => (
  <span className={classNames(styles.state, fitStyles.icons14)} data-tone={tone}>
    <Icon name={icon} />
    {text}
  </span>
)
