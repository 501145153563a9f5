import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, type ReactNode } from 'react'
import { alertQuery, type Alert, type AlertDelivery } from '../../api/alert-queries.ts'
import { call } from '../../api/call.ts'
import { useChange } from '../../api/change.ts'
import { usePolling } from '../../api/live.ts'
import { paths } from '../../address/paths.ts'
import { useAcknowledge } from '../../subjects/alerts/acknowledge.ts'
import { AlertStateMark } from '../../subjects/alerts/alert-state.tsx'
import { alertTexts } from '../../subjects/alerts/alert-texts.ts'
import { isCounting } from '../../subjects/alerts/delivery-look.ts'
import { DeliveryState } from '../../subjects/alerts/delivery-state.tsx'
import {
  CHANNEL_ICONS,
  deliveryAnswer,
  deliveryLook,
  formatMeasured,
  formatMinutes,
} from '../../subjects/alerts/look.ts'
import { useCan } from '../../app/can.ts'
import { useKeys } from '../../app/keys.ts'
import { PageQuery } from '../../frames/page-query.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import fitStyles from '../../ui/fit.module.css'
import { formatExact } from '../../ui/format.ts'
import { Icon } from '../../ui/icon.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { Spacer, Toolbar } from '../../ui/stack.tsx'
import { Severity } from '../../ui/status.tsx'
import { Minor, ShortId } from '../../ui/text.tsx'
import { Time } from '../../ui/time.tsx'
import { alertsTexts } from './texts.ts'
import styles from './alert-detail.module.css'
import typeStyles from '../../ui/type.module.css'

const texts = alertsTexts.detail

/** One alert: why it fired, its state, and each of its deliveries. */
export function AlertDetail({ alertId, onClose }: { alertId: string; onClose: () => void }) {
  const place = useRef<HTMLDivElement>(null)
  const alert = useQuery({ ...alertQuery(alertId), refetchInterval: usePolling(15_000) })
  const may = useCan('alerts.write')
  const acknowledge = useAcknowledge()
  const { data } = alert
  const acknowledgeNow = () => {
    if (data?.state === 'firing') acknowledge.mutate(data)
  }
  useKeys([
    ...(may.allowed
      ? [{ keys: 'e', label: alertsTexts.acknowledgeKey, group: 'Page' as const, run: acknowledgeNow }]
      : []),
    { keys: 'escape', label: texts.close, group: 'Page', run: onClose, sheetOnly: true },
  ])
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const focused = document.activeElement
    const isHidden = focused instanceof HTMLElement && focused.getClientRects().length === 0
    if (focused === null || focused === document.body || isHidden) element.focus({ preventScroll: true })
  }, [])
  return (
    <div ref={place} className={classNames(styles.place, fitStyles.detail)} tabIndex={-1}>
      <Card
        title={data?.title ?? texts.what}
        header={
          <>
            <Spacer />
            <IconButton size="sm" look="ghost" icon="x" label={`${texts.close} (Esc)`} onClick={onClose} />
          </>
        }
      >
        <PageQuery
          query={alert}
          what={texts.what}
          heightPx={360}
          inCard
          missing={
            <EmptyState kind="missing" title={texts.gone}>
              {texts.goneText}
            </EmptyState>
          }
        >
          {(found) => <Detail alert={found} why={may.why} onAcknowledge={acknowledgeNow} />}
        </PageQuery>
      </Card>
    </div>
  )
}

type DetailProps = { alert: Alert; why: string | undefined; onAcknowledge: () => void }

function Detail({ alert, why, onAcknowledge }: DetailProps) {
  return (
    <div className={styles.detail}>
      <p className={styles.head}>
        <AlertStateMark state={alert.state} />
        <Severity severity={alert.severity} />
      </p>
      <p className={styles.explanation}>{alert.explanation}</p>
      <Toolbar>
        {alert.state === 'firing' ? (
          <Button size="sm" look="primary" keys={why === undefined ? 'e' : undefined} why={why} onClick={onAcknowledge}>
            {texts.acknowledge}
          </Button>
        ) : null}
        {alert.state === 'firing' || alert.state === 'acknowledged' ? <ResolveButton alert={alert} why={why} /> : null}
        <CopyButton size="sm" look="ghost" text={location.href} said={texts.linkCopied}>
          {texts.copyLink}
        </CopyButton>
      </Toolbar>
      <Facts alert={alert} />
      <h3>{texts.deliveries}</h3>
      {alert.deliveries.length === 0 ? (
        <Minor as="p">{texts.none}</Minor>
      ) : (
        <ul className={styles.deliveries} aria-label={texts.deliveries}>
          {alert.deliveries.map((delivery, index) => (
            // A delivery that was never written has no id.
            <Delivery key={delivery.id ?? `${index} ${delivery.purpose}`} delivery={delivery} />
          ))}
        </ul>
      )}
    </div>
  )
}

function ResolveButton({ alert, why }: { alert: Alert; why: string | undefined }) {
  const resolve = useChange({
    send: () => call('POST /api/alerts/:alertId/resolve', { params: { alertId: alert.id } }),
    same: () => alert.id,
    touches: () => [['alerts']],
    said: () => texts.resolved,
    failed: texts.notResolved,
  })
  return (
    <Button size="sm" icon="check" why={why} busy={resolve.isPending} onClick={() => resolve.mutate(undefined)}>
      {texts.resolve}
    </Button>
  )
}

const Row = ({ name, children }: { name: string; children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

function Facts({ alert }: { alert: Alert }) {
  const { issue, acknowledged_by: person, acknowledged_at: ackedAt, resolved_at: endedAt, state } = alert
  const measured = formatMeasured(alert.value, alert.unit)
  const threshold = formatMeasured(alert.threshold, alert.unit)
  return (
    <KeyValues className={styles.facts}>
      {issue === null ? null : (
        <Row name={texts.issue}>
          <Link className={typeStyles.link} {...paths.issue(issue.id)}>
            <ShortId>{issue.short_id}</ShortId> {issue.title}
          </Link>
        </Row>
      )}
      <Row name={texts.rule}>
        <Link className={typeStyles.link} {...paths.alertRule(alert.rule_id)}>
          {alert.rule_name}
        </Link>
      </Row>
      <Row name={texts.trigger}>{alertTexts.triggers[alert.trigger_type]}</Row>
      <Row name={texts.project}>{alert.project.name}</Row>
      {measured === null ? null : <Row name={texts.measured}>{measured}</Row>}
      {threshold === null ? null : <Row name={texts.threshold}>{threshold}</Row>}
      {alert.window === null ? null : <Row name={texts.window}>{formatMinutes(alert.window)}</Row>}
      <Row name={texts.fired}>{formatExact(alert.fired_at)}</Row>
      {ackedAt === null ? null : (
        <Row name={texts.acknowledged}>
          {person === null ? formatExact(ackedAt) : texts.by(person.name, formatExact(ackedAt))}
        </Row>
      )}
      {alert.escalated_at === null ? null : <Row name={texts.escalated}>{formatExact(alert.escalated_at)}</Row>}
      {endedAt === null ? null : (
        <Row name={state === 'expired' ? texts.ended.expired : texts.ended.resolved}>
          {alert.resolved_reason === null
            ? formatExact(endedAt)
            : texts.endedBecause(formatExact(endedAt), alert.resolved_reason)}
        </Row>
      )}
    </KeyValues>
  )
}

function Delivery({ delivery }: { delivery: AlertDelivery }) {
  const answer = deliveryAnswer(delivery)
  const isBad = delivery.state === 'failed'
  return (
    <li className={classNames(styles.delivery, typeStyles.mediumNames)}>
      <Icon name={CHANNEL_ICONS[delivery.action_type]} className={typeStyles.quiet} />
      <div>
        <b>{alertTexts.channels[delivery.action_type]}</b>{' '}
        <Minor>
          {alertTexts.purposes[delivery.purpose]}, <Time at={delivery.created_at} />
        </Minor>
        <p className={classNames(typeStyles.mono, typeStyles.soft, fitStyles.breaks)}>{delivery.target}</p>
        {answer === null ? null : (
          <p className={styles.answer} data-bad={isBad ? '' : undefined}>
            {answer}
          </p>
        )}
      </div>
      <div className={styles.outcome}>
        <DeliveryState counts={isCounting(delivery)} lookAt={(now) => deliveryLook(delivery, now)} />
        {delivery.attempts === 0 ? null : <Minor>{alertTexts.deliveries.attempts(delivery.attempts)}</Minor>}
      </div>
    </li>
  )
}
