import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { recentAlertsQuery } from '../../../api/attention-queries.ts'
import type { Alert } from '../../../api/alert-queries.ts'
import { paths } from '../../../address/paths.ts'
import { useAcknowledge, useAcknowledgeAll } from '../../../subjects/alerts/acknowledge.ts'
import { alertTexts } from '../../../subjects/alerts/alert-texts.ts'
import { firingFirst, formatMeasured } from '../../../subjects/alerts/look.ts'
import { useCan } from '../../../app/can.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { appTexts } from '../../../app/texts.ts'
import { Button } from '../../../ui/button.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { Severity } from '../../../ui/status.tsx'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { inboxTexts } from './texts.ts'
import inboxStyles from './inbox.module.css'
import styles from './alerts-panel.module.css'
import typeStyles from '../../../ui/type.module.css'

/** The newest alerts, those that are firing first. */
export function AlertsPanel({ onClose }: { onClose: () => void }) {
  const recent = useQuery(recentAlertsQuery)
  const may = useCan('alerts.write')
  const all = useAcknowledgeAll()
  const acknowledge = useAcknowledge()
  const alerts = firingFirst(recent.data?.items ?? [])
  return (
    <section aria-label={inboxTexts.alerts}>
      <header className={inboxStyles.head}>
        <h2 className={typeStyles.hidden}>{inboxTexts.alerts}</h2>
        {(recent.data?.unread_count ?? 0) === 0 ? null : (
          <Button size="sm" look="ghost" why={may.why} busy={all.isPending} onClick={() => all.mutate(null)}>
            {alertTexts.acknowledgeAll}
          </Button>
        )}
      </header>
      <PageQuery
        query={recent}
        what={inboxTexts.alerts}
        inCard
        waiting={<p className={classNames(inboxStyles.none, typeStyles.inkNames)}>{appTexts.loading}</p>}
      >
        {() =>
          alerts.length === 0 ? (
            <p className={classNames(inboxStyles.none, typeStyles.inkNames)}>
              <b>{inboxTexts.noAlerts}</b>
              {inboxTexts.noAlertsText}
            </p>
          ) : (
            <ul className={classNames(inboxStyles.list, fitStyles.divided)}>
              {alerts.map((alert) => (
                <AlertRow
                  key={alert.id}
                  alert={alert}
                  why={may.why}
                  onOpen={onClose}
                  onAcknowledge={() => acknowledge.mutate(alert)}
                />
              ))}
            </ul>
          )
        }
      </PageQuery>
      <p className={styles.foot}>
        <Link className={typeStyles.link} {...paths.alertHistory()} onClick={onClose}>
          {inboxTexts.allAlerts}
        </Link>
      </p>
    </section>
  )
}

type AlertRowProps = { alert: Alert; why: string | undefined; onOpen: () => void; onAcknowledge: () => void }

function AlertRow({ alert, why, onOpen, onAcknowledge }: AlertRowProps) {
  const value = formatMeasured(alert.value, alert.unit)
  const isFiring = alert.state === 'firing'
  const trigger = alertTexts.triggers[alert.trigger_type]
  return (
    <li className={classNames(styles.row, choiceStyles.underlineLinks)} data-firing={isFiring ? '' : undefined}>
      <Severity severity={alert.severity} word={false} />
      <div className={classNames(fitStyles.shrinks, fitStyles.breaks)}>
        <Link {...paths.alertHistory({ alert: alert.id })} onClick={onOpen}>
          {alert.title}
        </Link>
        <Minor as="p">
          {value === null ? trigger : `${trigger} ${value}`},{' '}
          {isFiring
            ? alert.project.name
            : alert.state === 'acknowledged' && alert.acknowledged_by !== null
              ? inboxTexts.acknowledgedBy(alert.acknowledged_by.name)
              : alertTexts.states[alert.state].toLowerCase()}
          , <Time at={alert.fired_at} />
        </Minor>
      </div>
      {isFiring ? (
        <Button size="sm" why={why} onClick={onAcknowledge}>
          {alertTexts.acknowledge}
          <span className={typeStyles.hidden}>{alertTexts.which(alert.title)}</span>
        </Button>
      ) : null}
    </li>
  )
}
