import type { WebhookDelivery } from '../../../api/webhook-queries.ts'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { attemptMarks, marksSentence } from './model.ts'
import styles from './delivery-marks.module.css'

/** The six attempts of a delivery: discs were delivered, squares failed. */
export const DeliveryMarks = ({ delivery }: { delivery: WebhookDelivery }) => (
  <span
    className={classNames(styles.marks, fitStyles.ownColours)}
    role="img"
    aria-label={marksSentence(delivery)}
    title={marksSentence(delivery)}
  >
    {attemptMarks(delivery).map((mark, index) => (
      // The attempts keep their order.
      <i key={`${index} ${mark}`} data-mark={mark} />
    ))}
  </span>
)
