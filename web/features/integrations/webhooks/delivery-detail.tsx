import { useQuery } from '@tanstack/react-query'
import { Fragment, useEffect, useRef, useState, type ReactNode, type RefObject } from 'react'
import { ApiError } from '../../../api/call.ts'
import { usePolling } from '../../../api/live.ts'
import { deliveryQuery, type WebhookAttempt, type WebhookDeliveryDetail } from '../../../api/webhook-queries.ts'
import { useKeys } from '../../../app/keys.ts'
import { QueryError } from '../../../frames/query-error.tsx'
import { appTexts } from '../../../app/texts.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button, IconButton } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { DisclosureIcon } from '../../../ui/disclosure-icon.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { formatDuration } from '../../../ui/format.ts'
import { Json } from '../../../ui/highlight.tsx'
import { KeyValues } from '../../../ui/key-values.tsx'
import { Menu } from '../../../ui/menu.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Spacer } from '../../../ui/stack.tsx'
import { Minor } from '../../../ui/text.tsx'
import { AttemptList } from './attempt-list.tsx'
import { isCounting } from '../../../subjects/alerts/delivery-look.ts'
import { DeliveryState } from '../../../subjects/alerts/delivery-state.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { attemptAnswer, findLastAttempt, webhookDeliveryLook, prettyJson } from './model.ts'
import { useReplay } from './replays.ts'
import { webhooksTexts } from './texts.ts'
import styles from './delivery-detail.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = webhooksTexts.detail

type DeliveryDetailProps = { deliveryId: string; isPaused: boolean; onClose: () => void }

/** One delivery: its schedule, what was sent and what came back. */
export function DeliveryDetail({ deliveryId, isPaused, onClose }: DeliveryDetailProps) {
  const place = useRef<HTMLDivElement>(null)
  const delivery = useQuery({
    ...deliveryQuery(deliveryId),
    refetchInterval: usePolling(15_000),
    meta: { quiet: true },
  })
  const replay = useReplay(deliveryId)
  const { data, error } = delivery
  const why = data?.is_erased === true ? texts.erased : undefined
  const replayNow = () => {
    if (data !== undefined && why === undefined) replay.mutate({ retries: false })
  }
  useKeys([
    { keys: 'shift+r', label: texts.replayKeys, group: 'Page', run: replayNow },
    { keys: 'escape', label: texts.close, group: 'Page', run: onClose, sheetOnly: true },
  ])
  useShown(place)
  return (
    <div ref={place} className={classNames(fitStyles.detail, fitStyles.shrinks)} tabIndex={-1}>
      <Card
        title={<TypeName type={data?.type ?? texts.title} />}
        header={
          <>
            <Spacer />
            <Button
              size="sm"
              look="primary"
              icon="rotate"
              title={`${texts.replay} (Shift R)`}
              busy={replay.isPending}
              why={why}
              onClick={replayNow}
            >
              {texts.replay}
            </Button>
            <Menu
              label={texts.replayOptions}
              align="end"
              trigger={<IconButton size="sm" look="ghost" icon="down" label={texts.replayOptions} />}
              entries={[
                {
                  label: texts.withRetries,
                  icon: 'rotate',
                  why,
                  onSelect: () => replay.mutate({ retries: true }),
                },
              ]}
            />
            <IconButton size="sm" look="ghost" icon="x" label={texts.close} onClick={onClose} />
          </>
        }
      >
        {data !== undefined ? (
          <Detail delivery={data} isPaused={isPaused} />
        ) : error === null ? (
          <Skeleton heightPx={320} label={appTexts.loading} />
        ) : error instanceof ApiError && error.status === 404 ? (
          <EmptyState kind="missing" title={texts.gone}>
            {texts.goneText}
          </EmptyState>
        ) : (
          <QueryError what={texts.what} error={error} onRetry={() => void delivery.refetch()} />
        )}
      </Card>
    </div>
  )
}

/** The type as a title; it may break after a dot. */
const TypeName = ({ type }: { type: string }) => (
  <span className={`${typeStyles.mono} ${styles.title}`}>
    {type.split('.').map((part, index) => (
      // The parts keep their order.
      <Fragment key={`${index} ${part}`}>
        {index === 0 ? null : (
          <>
            .<wbr />
          </>
        )}
        {part}
      </Fragment>
    ))}
  </span>
)

/** Brings the detail into view where it stands below the log; it takes the focus where it replaces the log. */
function useShown(place: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = place.current
    if (element === null) return
    element.scrollIntoView({ block: 'nearest' })
    const focused = document.activeElement
    const isHidden = focused instanceof HTMLElement && focused.getClientRects().length === 0
    if (focused === null || focused === document.body || isHidden) element.focus({ preventScroll: true })
  }, [place])
}

function Detail({ delivery, isPaused }: { delivery: WebhookDeliveryDetail; isPaused: boolean }) {
  const newest = findLastAttempt(delivery)
  const [chosenN, setChosenN] = useState<number | null>(null)
  const shown = delivery.attempts.find(({ n }) => n === chosenN) ?? newest
  const { reason } = delivery
  return (
    <div className={styles.detail}>
      <p className={styles.head}>
        <DeliveryState counts={isCounting(delivery)} lookAt={(now) => webhookDeliveryLook(delivery, isPaused, now)} />
        <span className={`${typeStyles.mono} ${styles.id}`}>{delivery.id}</span>
      </p>
      {reason === null ? null : <Minor as="p">{texts.endedWithout[reason] ?? reason}</Minor>}
      {delivery.is_erased ? <Minor as="p">{texts.erased}</Minor> : null}
      <AttemptList delivery={delivery} isPaused={isPaused} chosenN={shown?.n ?? null} onChoose={setChosenN} />
      <h3>{texts.request}</h3>
      {delivery.request_headers.length === 0 ? (
        <Minor as="p">{texts.requestNone}</Minor>
      ) : (
        <HeaderList headers={delivery.request_headers} />
      )}
      {delivery.body === null ? (
        <Minor as="p">{texts.bodyErased}</Minor>
      ) : (
        <Box label={texts.body} action={<CopyButton iconOnly text={delivery.body} said={texts.bodyCopied} />}>
          <Json source={prettyJson(delivery.body)} />
        </Box>
      )}
      {shown === undefined ? null : <Response attempt={shown} isNewest={shown === newest} />}
    </div>
  )
}

/** The answer to an attempt; an error word for word. */
function Response({ attempt, isNewest }: { attempt: WebhookAttempt; isNewest: boolean }) {
  const answer = attemptAnswer(attempt.status, attempt.error_code)
  const { response_body: body, error_text: error } = attempt
  return (
    <>
      <h3>
        {isNewest ? texts.answer : texts.answerOf(attempt.n)}
        {answer === null ? null : <Badge tone={answer.isGood ? 'green' : 'red'}>{answer.text}</Badge>}
      </h3>
      {error === null ? null : <Box label={texts.error}>{error}</Box>}
      {body === null || body === '' ? (
        error === null ? (
          <Minor as="p">{texts.noBody}</Minor>
        ) : null
      ) : (
        <Box label={texts.answer}>{prettyJson(body)}</Box>
      )}
      <details className={styles.more}>
        <summary>
          <DisclosureIcon />
          {texts.timings}
        </summary>
        <KeyValues className={classNames(styles.values, fitStyles.breakTerms)}>
          <Row name={texts.total}>{formatDuration(attempt.duration_ms)}</Row>
          {attempt.dns_ms === null ? null : <Row name={texts.dns}>{formatDuration(attempt.dns_ms)}</Row>}
          {attempt.connect_ms === null ? null : <Row name={texts.connect}>{formatDuration(attempt.connect_ms)}</Row>}
          {attempt.tls_ms === null ? null : <Row name={texts.tls}>{formatDuration(attempt.tls_ms)}</Row>}
          {attempt.remote_ip === null ? null : <Row name={texts.address}>{attempt.remote_ip}</Row>}
        </KeyValues>
        {attempt.response_headers.length === 0 ? null : (
          <>
            <h4>{texts.headers}</h4>
            <HeaderList headers={attempt.response_headers} />
          </>
        )}
      </details>
    </>
  )
}

const Row = ({ name, children }: { name: string; children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

const HeaderList = ({ headers }: { headers: readonly { readonly name: string; readonly value: string }[] }) => (
  <KeyValues className={classNames(styles.values, fitStyles.breakTerms)}>
    {headers.map(({ name, value }, index) => (
      // A header may repeat.
      <Row key={`${index} ${name}`} name={name}>
        {value}
      </Row>
    ))}
  </KeyValues>
)

/** Text that scrolls sideways, so it is focusable for keyboard users. */
const Box = ({ label, action, children }: { label: string; action?: ReactNode; children: ReactNode }) => (
  <div className={styles.box}>
    {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
    <pre tabIndex={0} role="region" aria-label={label}>
      <code>{children}</code>
    </pre>
    {action}
  </div>
)
