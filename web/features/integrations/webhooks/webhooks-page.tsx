import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { usePolling } from '../../../api/live.ts'
import { webhookEndpointsQuery } from '../../../api/attention-queries.ts'
import type { WebhookEndpoint } from '../../../api/webhook-queries.ts'
import { useCan } from '../../../app/can.ts'
import { useKeys } from '../../../app/keys.ts'
import { usePrefs } from '../../../app/prefs.ts'
import { QueryError } from '../../../frames/query-error.tsx'
import { RestrictedPage } from '../../../frames/restricted-page.tsx'
import { appTexts } from '../../../app/texts.ts'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import narrowStyles from '../../../ui/narrow.module.css'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { DeliveryDetail } from './delivery-detail.tsx'
import { Deliveries } from './deliveries.tsx'
import { AutoPausedNote, EndpointCards } from './endpoint-cards.tsx'
import { EndpointDialog } from './endpoint-dialog.tsx'
import { EndpointList } from './endpoint-list.tsx'
import { chooseEndpoint, endpointHost } from './model.ts'
import { NoEndpoint } from './no-endpoint.tsx'
import { FreshSecretBox, type FreshSecret } from './fresh-secret.tsx'
import { webhooksTexts } from './texts.ts'
import { VerifyDialog } from './verify-dialog.tsx'
import styles from './webhooks-page.module.css'

const route = getRouteApi('/signed-in/shell/org/webhooks')
const MAX_ENDPOINTS = 20

/** The webhooks page: endpoints, and the deliveries of the selected one. */
export function WebhooksPage() {
  const [verifying, setVerifying] = useState(false)
  const [adding, setAdding] = useState(false)
  const [fresh, setFresh] = useState<FreshSecret | null>(null)
  const may = useCan('webhooks.write')
  const navigate = route.useNavigate()
  const endpoints = useQuery({
    ...webhookEndpointsQuery,
    enabled: may.allowed,
    refetchInterval: usePolling(15_000),
    meta: { quiet: true },
  })
  const isFull = (endpoints.data?.total ?? 0) >= MAX_ENDPOINTS
  useKeys(
    may.allowed && !isFull
      ? [{ keys: 'n', label: webhooksTexts.add, group: 'Page' as const, run: () => setAdding(true) }]
      : [],
  )
  return (
    <RestrictedPage
      title={webhooksTexts.title}
      lead={webhooksTexts.lead}
      needs="webhooks.read"
      actions={
        <>
          <Button look="ghost" icon="book" onClick={() => setVerifying(true)}>
            {webhooksTexts.verify}
          </Button>
          <Button
            look="primary"
            icon="plus"
            keys={isFull ? undefined : 'n'}
            why={isFull ? webhooksTexts.full : undefined}
            onClick={() => setAdding(true)}
          >
            {webhooksTexts.add}
          </Button>
        </>
      }
    >
      {fresh === null ? null : <FreshSecretBox fresh={fresh} onStored={() => setFresh(null)} />}
      {endpoints.data === undefined ? (
        endpoints.error === null ? (
          <Skeleton heightPx={420} label={appTexts.loading} />
        ) : (
          <Card>
            <QueryError
              what={webhooksTexts.endpoints}
              error={endpoints.error}
              onRetry={() => void endpoints.refetch()}
            />
          </Card>
        )
      ) : endpoints.data.items.length === 0 ? (
        <NoEndpoint onAdd={() => setAdding(true)} onVerify={() => setVerifying(true)} />
      ) : (
        <Endpoints endpoints={endpoints.data.items} onSecret={setFresh} />
      )}
      {verifying ? <VerifyDialog onClose={() => setVerifying(false)} /> : null}
      {adding ? (
        <EndpointDialog
          endpoint={null}
          onClose={() => setAdding(false)}
          onCreated={({ id, url, secret }) => {
            setFresh({ host: endpointHost(url), secret, isRotated: false })
            void navigate({ search: { endpoint: id } })
          }}
        />
      ) : null}
    </RestrictedPage>
  )
}

type EndpointsProps = { endpoints: readonly WebhookEndpoint[]; onSecret: (fresh: FreshSecret) => void }

function Endpoints({ endpoints, onSecret }: EndpointsProps) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  usePrefs()
  const selected = chooseEndpoint(endpoints, search.endpoint)
  if (selected === undefined) return null
  const close = () =>
    void navigate({ search: (before) => ({ ...before, delivery: undefined }), replace: true, resetScroll: false })
  return (
    <>
      <EndpointList endpoints={endpoints} selectedId={selected.id} />
      <div
        className={classNames(styles.columns, fitStyles.columns)}
        data-detail={search.delivery === undefined ? undefined : ''}
      >
        <div className={classNames(fitStyles.column, search.delivery !== undefined && narrowStyles.hiddenAt600)}>
          <AutoPausedNote endpoint={selected} />
          <Deliveries key={selected.id} endpoint={selected} search={search} />
          <EndpointCards endpoint={selected} onSecret={onSecret} />
        </div>
        {search.delivery === undefined ? null : (
          <DeliveryDetail
            key={search.delivery}
            deliveryId={search.delivery}
            isPaused={selected.state !== 'active'}
            onClose={close}
          />
        )}
      </div>
    </>
  )
}
