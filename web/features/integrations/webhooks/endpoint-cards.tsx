import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { WebhookEndpoint } from '../../../api/webhook-queries.ts'
import { paths } from '../../../address/paths.ts'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { formatExact, formatLeft, formatMoment } from '../../../ui/format.ts'
import { Note } from '../../../ui/note.tsx'
import { useNow } from '../../../ui/now.ts'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { usePause } from './endpoint-list.tsx'
import { endpointHost, endpointName, shortId } from './model.ts'
import { RotateDialog } from './rotate-dialog.tsx'
import type { FreshSecret } from './fresh-secret.tsx'
import { webhooksTexts } from './texts.ts'
import styles from './endpoint-cards.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = webhooksTexts.cards

type EndpointCardsProps = { endpoint: WebhookEndpoint; onSecret: (fresh: FreshSecret) => void }

/** The selected endpoint: its secret, its event types and its last TLS error. */
export function EndpointCards({ endpoint, onSecret }: EndpointCardsProps) {
  const [rotating, setRotating] = useState(false)
  const { events, tls_error: tlsError } = endpoint
  return (
    <>
      <Card className={styles.cards} aria-label={webhooksTexts.endpoint(endpointName(endpoint.url))}>
        <div>
          <h3>{texts.secret}</h3>
          <p className={styles.secret}>
            <span className={typeStyles.mono}>{endpoint.secret_prefix}••••••</span>
            <Button size="sm" onClick={() => setRotating(true)}>
              {texts.rotate}
            </Button>
          </p>
          {endpoint.overlap_ends_at === null ? null : <Overlap endsAt={endpoint.overlap_ends_at} />}
          <Minor as="p">{texts.once}</Minor>
        </div>
        <div>
          <h3>{events.length === 0 ? texts.subscribedAll : texts.subscribed(events.length)}</h3>
          {events.length === 0 ? (
            <Minor as="p">{texts.subscribedAllText}</Minor>
          ) : (
            <ul className={styles.types}>
              {events.map((type) => (
                <li key={type} className={typeStyles.mono}>
                  {type}
                </li>
              ))}
            </ul>
          )}
        </div>
        <div>
          <h3>{texts.tlsError}</h3>
          {tlsError === null ? (
            <Minor as="p">{texts.noTlsError}</Minor>
          ) : (
            <>
              <p className={styles.verbatim}>{tlsError.text}</p>
              <Minor as="p">
                <Time at={tlsError.at} as="moment" />,{' '}
                <Link
                  className={typeStyles.link}
                  title={tlsError.delivery_id}
                  resetScroll={false}
                  {...paths.webhooks({ endpoint: endpoint.id, delivery: tlsError.delivery_id })}
                >
                  {shortId(tlsError.delivery_id)}
                </Link>
              </Minor>
            </>
          )}
        </div>
      </Card>
      {rotating ? (
        <RotateDialog
          endpoint={endpoint}
          onClose={() => setRotating(false)}
          onRotated={(secret) => onSecret({ host: endpointHost(endpoint.url), secret, isRotated: true })}
        />
      ) : null}
    </>
  )
}

function Overlap({ endsAt }: { endsAt: string }) {
  const now = useNow('second')
  if (!(Date.parse(endsAt) > now)) return null
  return (
    <p className={styles.overlap} title={formatExact(endsAt)}>
      {texts.overlap(formatMoment(endsAt, now), formatLeft(endsAt, now))}
    </p>
  )
}

/** Says that the service itself paused the endpoint, and resumes it. */
export function AutoPausedNote({ endpoint }: { endpoint: WebhookEndpoint }) {
  const pause = usePause(endpoint.id)
  if (endpoint.state !== 'auto_paused') return null
  return (
    <Note
      tone="amber"
      icon="warn"
      role="status"
      action={
        <Button size="sm" onClick={() => pause.mutate({ isPaused: false })}>
          {webhooksTexts.resume}
        </Button>
      }
    >
      <b>{webhooksTexts.autoPausedTitle}</b>
      <Minor as="p">{webhooksTexts.autoPausedText}</Minor>
    </Note>
  )
}
