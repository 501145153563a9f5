import { type WebhookEvent, webhookEvent } from '#shared/webhook-events.ts'
import { memberBehind, type FactContext, type RecordedFact } from '../../platform/context/actor.ts'
import { type FactKind, factKind, KINDS } from '../../history/facts/kinds.ts'
import { newPrefixedId } from '../../platform/kernel/ids.ts'
import type { Message, NewDelivery } from '../../platform/outbox/delivery.ts'
import { enqueue } from '../../platform/outbox/enqueue.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { eventBody } from './event-body.ts'
import { selectUserEmails, type FanOutEndpoint, selectOrgEndpoints } from './fan-out.queries.ts'

/** An event and the endpoints of one application that receive it. */
type Sent = {
  readonly fact: RecordedFact
  readonly event: WebhookEvent
  readonly appId: string
  readonly endpoints: readonly FanOutEndpoint[]
}

/**
 * Writes an event, and a delivery for each endpoint that takes it, for every fact whose kind is an event type. Nothing is
 * written, and nothing read, where there is none. The filter of an endpoint decides now, not when the delivery is sent.
 */
export async function recordWebhooks(tx: Tx, context: FactContext, facts: readonly RecordedFact[]): Promise<void> {
  const typed = facts.flatMap((fact) => {
    const event = eventOf(fact.kind)
    return event === undefined ? [] : [{ fact, event }]
  })
  if (typed.length === 0) return
  const endpoints = await selectOrgEndpoints(tx, [...new Set(typed.map(({ fact }) => fact.orgId))])
  if (endpoints.length === 0) return
  const sent = typed.flatMap(({ fact, event }) => bySeveralApplications(fact, event, endpoints))
  if (sent.length === 0) return

  const actingUserId = memberBehind(context.actor)?.userId ?? null
  const emails = await selectUserEmails(tx, [...new Set(sent.flatMap(({ fact }) => fact.userId ?? actingUserId ?? []))])
  const messages: Message[] = []
  const deliveries: NewDelivery[] = []
  for (const one of sent) {
    const { fact, event, appId } = one
    const messageId = fact.kind === TEST ? String(fact.data['event_id']) : newPrefixedId('evt')
    const userId = fact.userId ?? actingUserId
    messages.push({
      id: messageId,
      orgId: fact.orgId,
      type: event.type,
      userId,
      body: eventBody(event, {
        id: messageId,
        appId,
        userId,
        occurredAt: fact.at,
        data: {
          ...fact.data,
          ...commonData(context, fact, event, userId, userId === null ? undefined : emails.get(userId)),
        },
      }),
    })
    for (const endpoint of one.endpoints)
      deliveries.push({ messageId, laneId: endpoint.id, secretVersion: endpoint.secret_version })
  }
  await enqueue(tx, messages, deliveries)
}

const TEST = 'webhook.test'

const isFactKind = (kind: string): kind is FactKind => Object.hasOwn(KINDS, kind)

function eventOf(kind: string): WebhookEvent | undefined {
  const type = isFactKind(kind) ? factKind(kind).webhook : undefined
  return type === undefined ? undefined : webhookEvent(type)
}

/** One event per application, because the body names it. */
function bySeveralApplications(fact: RecordedFact, event: WebhookEvent, endpoints: readonly FanOutEndpoint[]): Sent[] {
  const taking = endpoints.filter(
    ({ id, org_id, events }) =>
      org_id === fact.orgId &&
      (fact.kind === TEST ? id === fact.endpointId : events.length === 0 || events.includes(event.type)),
  )
  return [...Map.groupBy(taking, ({ app_id }) => app_id)].map(([appId, ofApp]) => ({
    fact,
    event,
    appId,
    endpoints: ofApp,
  }))
}

function commonData(
  { actor }: FactContext,
  { orgId, sessionId, data }: RecordedFact,
  { method, type }: WebhookEvent,
  userId: string | null,
  email: string | undefined,
): Record<string, unknown> {
  const { origin } = actor
  // The session belongs to one organisation; the events of others do not name it.
  const ownSession = actor.kind === 'user' && actor.userId === userId && actor.orgId === orgId ? actor.sessionId : null
  return {
    email: email ?? null,
    ip: origin.kind === 'request' ? origin.ip : null,
    user_agent: origin.kind === 'request' ? origin.userAgent : null,
    session_id: sessionId ?? ownSession,
    method: data['method'] ?? method,
    ...(type.startsWith('signup.') ? { org_id: orgId, via: data['via'] ?? method } : {}),
  }
}
