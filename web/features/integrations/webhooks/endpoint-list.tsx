import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { webhookEndpointsQuery } from '../../../api/attention-queries.ts'
import type { WebhookEndpoint } from '../../../api/webhook-queries.ts'
import { paths } from '../../../address/paths.ts'
import { Badge } from '../../../ui/badge.tsx'
import { IconButton } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { NO_DATA } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import { Menu } from '../../../ui/menu.tsx'
import narrowStyles from '../../../ui/narrow.module.css'
import { Switch } from '../../../ui/switch.tsx'
import { Minor } from '../../../ui/text.tsx'
import { DayBars } from './day-bars.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import { EndpointDialog } from './endpoint-dialog.tsx'
import { RecoverDialog } from './recover-dialog.tsx'
import { endpointAnswer, formatShare, endpointHost } from './model.ts'
import { webhooksTexts as texts } from './texts.ts'
import styles from './endpoint-list.module.css'
import typeStyles from '../../../ui/type.module.css'

type EndpointListProps = { endpoints: readonly WebhookEndpoint[]; selectedId: string }

/** The endpoints with their health; one is selected. */
export function EndpointList({ endpoints, selectedId }: EndpointListProps) {
  return (
    <Card aria-label={texts.endpoints} className={fitStyles.clips}>
      <ul className={fitStyles.divided}>
        {endpoints.map((endpoint) => (
          <EndpointRow key={endpoint.id} endpoint={endpoint} isSelected={endpoint.id === selectedId} />
        ))}
      </ul>
    </Card>
  )
}

function EndpointRow({ endpoint, isSelected }: { endpoint: WebhookEndpoint; isSelected: boolean }) {
  const host = endpointHost(endpoint.url)
  const answer = endpointAnswer(endpoint)
  const pause = usePause(endpoint.id)
  const isActive = endpoint.state === 'active'
  return (
    <li
      className={classNames(styles.row, choiceStyles.row, choiceStyles.selectable)}
      data-selected={isSelected ? '' : undefined}
    >
      <Health endpoint={endpoint} />
      <div className={classNames(styles.name, fitStyles.shrinks)}>
        <Link
          className={classNames(styles.url, choiceStyles.underlines, narrowStyles.breaksAt600, typeStyles.mono)}
          {...paths.webhooks({ endpoint: endpoint.id })}
          resetScroll={false}
          aria-current={isSelected}
        >
          {endpoint.url}
        </Link>
        <Minor as="p" className={fitStyles.ellipsis}>
          {endpoint.description === '' ? null : `${endpoint.description}, `}
          {endpoint.events.length === 0 ? texts.allEvents : texts.eventTypes(endpoint.events.length)}, {texts.secret}{' '}
          <span className={typeStyles.mono}>{endpoint.secret_prefix}…</span>
        </Minor>
      </div>
      <DayBars days={endpoint.days} successRate={endpoint.success_rate} />
      <span className={classNames(styles.share, narrowStyles.hiddenAt900)}>
        {endpoint.success_rate === null ? (
          <span className={typeStyles.quiet}>{NO_DATA}</span>
        ) : (
          formatShare(endpoint.success_rate)
        )}
      </span>
      <span className={styles.last}>
        {isActive ? (
          answer === null ? null : (
            <>
              <span className={typeStyles.hidden}>{texts.lastAnswer} </span>
              <Badge tone={answer.isGood ? 'green' : 'red'} {...(answer.isGood ? {} : { icon: 'warn' })}>
                {answer.text}
              </Badge>
            </>
          )
        ) : (
          <Badge tone="amber">{endpoint.state === 'paused' ? texts.pausedBadge : texts.autoPausedBadge}</Badge>
        )}
      </span>
      <Switch label={texts.enabled(host)} checked={isActive} onChange={(isOn) => pause.mutate({ isPaused: !isOn })} />
      <EndpointMenu endpoint={endpoint} host={host} />
    </li>
  )
}

function Health({ endpoint }: { endpoint: WebhookEndpoint }) {
  if (endpoint.needs_attention)
    return <Icon name="warn" className={classNames(styles.health, typeStyles.red)} label={texts.unhealthy} />
  return endpoint.last_attempt_at === null ? (
    <Icon name="clock" className={classNames(styles.health, typeStyles.quiet)} label={texts.unused} />
  ) : (
    <Icon name="check" className={classNames(styles.health, typeStyles.green)} label={texts.healthy} />
  )
}

/** Pauses and resumes an endpoint; the switch moves at once. */
export function usePause(endpointId: string) {
  const patch = (paused: boolean) =>
    call('PATCH /api/webhooks/:endpointId', { params: { endpointId }, body: { paused } })
  return useChange({
    send: ({ isPaused }: { isPaused: boolean }) => patch(isPaused),
    touches: () => [['webhooks']],
    guess: (client, { isPaused }) =>
      client.setQueryData(webhookEndpointsQuery.queryKey, (list) =>
        list === undefined
          ? list
          : {
              ...list,
              items: list.items.map((one) =>
                one.id === endpointId ? { ...one, state: isPaused ? ('paused' as const) : ('active' as const) } : one,
              ),
            },
      ),
    said: (_answer, { isPaused }) => (isPaused ? texts.paused : texts.resumed),
    undo: (_input, answer) => patch(answer.state === 'active'),
    failed: texts.notPaused,
  })
}

/** Sends a test event, which then appears in the log. */
export function useTestEvent(endpointId: string) {
  return useChange({
    send: () => call('POST /api/webhooks/:endpointId/test', { params: { endpointId } }),
    same: () => endpointId,
    touches: () => [['webhooks']],
    said: () => texts.testSent,
    failed: texts.notTested,
  })
}

function EndpointMenu({ endpoint, host }: { endpoint: WebhookEndpoint; host: string }) {
  const [open, setOpen] = useState<'edit' | 'recover' | 'delete' | null>(null)
  const test = useTestEvent(endpoint.id)
  const close = () => setOpen(null)
  return (
    <>
      <Menu
        label={texts.endpoint(host)}
        align="end"
        trigger={<IconButton look="ghost" icon="more" label={`${texts.more}: ${host}`} />}
        entries={[
          { label: texts.test, icon: 'send', onSelect: () => test.mutate(undefined) },
          { label: texts.recover, icon: 'rotate', onSelect: () => setOpen('recover') },
          { label: texts.edit, icon: 'pencil', onSelect: () => setOpen('edit') },
          { kind: 'separator' },
          { label: texts.remove, icon: 'trash', danger: true, onSelect: () => setOpen('delete') },
        ]}
      />
      {open === 'edit' ? <EndpointDialog endpoint={endpoint} onClose={close} /> : null}
      {open === 'recover' ? <RecoverDialog endpointId={endpoint.id} onClose={close} /> : null}
      {open === 'delete' ? <DeleteDialog endpoint={endpoint} onClose={close} /> : null}
    </>
  )
}
