import { useQuery } from '@tanstack/react-query'
import { failedDeliveriesQuery, type DeliveryView, type WebhookEndpoint } from '../../../api/webhook-queries.ts'
import { QueryError } from '../../../frames/query-error.tsx'
import { appTexts } from '../../../app/texts.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { formatCount } from '../../../ui/format.ts'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Toolbar } from '../../../ui/stack.tsx'
import { endpointHost } from './model.ts'
import { useReplayMany } from './replays.ts'
import { webhooksTexts } from './texts.ts'

const texts = webhooksTexts.deliveries

type ReplayFailedDialogProps = { endpoint: WebhookEndpoint; view: DeliveryView; onClose: () => void }

/** Confirms that the failed deliveries are sent again: their receiver may handle an event twice. */
export function ReplayFailedDialog({ endpoint, view, onClose }: ReplayFailedDialogProps) {
  const failed = useQuery(failedDeliveriesQuery(endpoint.id, view))
  const replay = useReplayMany()
  const items = failed.data?.items ?? []
  const total = failed.data?.total ?? 0
  const host = endpointHost(endpoint.url)
  return (
    <Dialog open onClose={onClose} title={texts.replayFailedTitle}>
      {failed.data !== undefined ? (
        <p>
          {items.length === 0
            ? texts.noneFailed
            : total > items.length
              ? texts.replayNewestText(items.length, formatCount(total), host)
              : texts.replayFailedText(items.length, host)}
        </p>
      ) : failed.error === null ? (
        <Skeleton heightPx={44} label={appTexts.loading} />
      ) : (
        <QueryError what={texts.what} error={failed.error} onRetry={() => void failed.refetch()} />
      )}
      <Toolbar align="end">
        <Button onClick={onClose}>{appTexts.cancel}</Button>
        <Button
          look="primary"
          icon="rotate"
          data-autofocus
          busy={replay.isPending || failed.isPending}
          why={items.length === 0 ? texts.noneFailed : undefined}
          onClick={() =>
            replay.mutate(
              items.map(({ id }) => id),
              { onSuccess: onClose },
            )
          }
        >
          {texts.replaySelected(items.length)}
        </Button>
      </Toolbar>
    </Dialog>
  )
}
