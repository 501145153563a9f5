import { Link } from '@tanstack/react-router'
import type { Alert } from '../../../api/alert-queries.ts'
import { paths } from '../../../address/paths.ts'
import { AlertStateMark } from '../../../subjects/alerts/alert-state.tsx'
import { alertTexts } from '../../../subjects/alerts/alert-texts.ts'
import { isCounting } from '../../../subjects/alerts/delivery-look.ts'
import { DeliveryState } from '../../../subjects/alerts/delivery-state.tsx'
import { deliveryAnswer, deliveryLook } from '../../../subjects/alerts/look.ts'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { Icon } from '../../../ui/icon.tsx'
import { Time } from '../../../ui/time.tsx'
import typeStyles from '../../../ui/type.module.css'
import { issueTexts } from './texts.ts'
import styles from './alert-line.module.css'
import activityStyles from './activity.module.css'
import issueStyles from './issue.module.css'

/** An alert about the issue, with what its channels answered. */
export function AlertLine({ alert }: { alert: Alert }) {
  const sent = alert.deliveries.filter(({ purpose }) => purpose === 'fired' || purpose === 'escalated')
  return (
    <div className={classNames(issueStyles.act, typeStyles.links)}>
      <span className={classNames(issueStyles.actI, fitStyles.icons13)}>
        <Icon name="bell" />
      </span>
      <div className={classNames(activityStyles.actB, typeStyles.strongNames)}>
        <p>
          {issueTexts.alertFired} <Link {...paths.alertHistory({ alert: alert.id })}>{alert.rule_name}</Link>{' '}
          <AlertStateMark state={alert.state} /> <Time at={alert.fired_at} />
        </p>
        {sent.length === 0 ? null : (
          <ul className={classNames(styles.deliveries, typeStyles.small)} aria-label={issueTexts.alertDeliveries}>
            {sent.map((delivery, index) => (
              // A delivery that was never written has no id.
              <li key={delivery.id ?? `${index} ${delivery.action_type}`}>
                <span>
                  {alertTexts.channels[delivery.action_type]}
                  {delivery.target === '' ? null : ` ${delivery.target}`}
                </span>
                <DeliveryState counts={isCounting(delivery)} lookAt={(now) => deliveryLook(delivery, now)} />{' '}
                <span>{deliveryAnswer(delivery)}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  )
}
