import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { WebhooksSearch } from '../address/search.ts'
import { call, type AnswerOf } from './call.ts'
import { dayRange } from './day-range.ts'

export type WebhookEndpoint = AnswerOf<'GET /api/webhooks'>['items'][number]
export type DeliveryPage = AnswerOf<'GET /api/webhooks/:endpointId/deliveries'>
export type WebhookDelivery = DeliveryPage['items'][number]
export type WebhookDeliveryDetail = AnswerOf<'GET /api/webhook-deliveries/:deliveryId'>
export type WebhookAttempt = WebhookDeliveryDetail['attempts'][number]

export type DeliveryView = Pick<WebhooksSearch, 'state' | 'type' | 'from' | 'to' | 'after'>

/** The filters as the API takes them. */
function filterOf({ state, type, from, to }: DeliveryView) {
  return {
    ...(state === undefined
      ? {}
      : { state: 'failed' as const, retrying: state === 'retrying' ? ('true' as const) : ('false' as const) }),
    type,
    ...dayRange(from, to),
  }
}

const DELIVERIES_PER_PAGE = 25

/** One page of an endpoint's deliveries, newest first. */
export const deliveriesQuery = (endpointId: string, view: DeliveryView) =>
  queryOptions({
    queryKey: ['webhooks', 'deliveries', endpointId, view],
    queryFn: ({ signal }) =>
      call('GET /api/webhooks/:endpointId/deliveries', {
        params: { endpointId },
        query: { ...filterOf(view), limit: String(DELIVERIES_PER_PAGE), cursor: view.after },
        signal,
      }),
    // Only rows of the same endpoint: rows of another would be replayed by mistake.
    placeholderData: (before, query) => (query?.queryKey[2] === endpointId ? before : undefined),
  })

/** The number of deliveries in a state, for the buttons that filter by it. */
export const deliveryCountQuery = (endpointId: string, view: DeliveryView) =>
  queryOptions({
    queryKey: ['webhooks', 'deliveries', endpointId, 'count', view],
    queryFn: async ({ signal }) => {
      const { total, total_capped: isCapped = false } = await call('GET /api/webhooks/:endpointId/deliveries', {
        params: { endpointId },
        query: { ...filterOf(view), limit: '1' },
        signal,
      })
      return { total, isCapped }
    },
    placeholderData: keepPreviousData,
  })

/** The newest failed deliveries, as many as one call replays. */
export const failedDeliveriesQuery = (endpointId: string, view: DeliveryView) =>
  queryOptions({
    queryKey: ['webhooks', 'deliveries', endpointId, 'failed', view],
    queryFn: ({ signal }) =>
      call('GET /api/webhooks/:endpointId/deliveries', {
        params: { endpointId },
        query: { ...filterOf(view), limit: '100' },
        signal,
      }),
  })

export const deliveryQuery = (deliveryId: string) =>
  queryOptions({
    queryKey: ['webhooks', 'delivery', deliveryId],
    queryFn: ({ signal }) => call('GET /api/webhook-deliveries/:deliveryId', { params: { deliveryId }, signal }),
    placeholderData: keepPreviousData,
  })
