import { z } from 'zod'
import { type Answer, type ReceivedRequest, type Receiver, startReceiver } from './receiver.ts'

/** PagerDuty's Events API v2: checks events as documented, and keeps incidents by their keys. */

const routing_key = z.string().length(32)
const dedup_key = z.string().min(1).max(255)
const Link = z.strictObject({ href: z.url(), text: z.string().optional() })

const Trigger = z.strictObject({
  routing_key,
  event_action: z.literal('trigger'),
  dedup_key: dedup_key.optional(),
  payload: z.strictObject({
    summary: z.string().min(1).max(1_024),
    source: z.string().min(1),
    severity: z.enum(['critical', 'error', 'warning', 'info']),
    timestamp: z.iso.datetime({ offset: true }).optional(),
    component: z.string().optional(),
    group: z.string().optional(),
    class: z.string().optional(),
    custom_details: z.record(z.string(), z.unknown()).optional(),
  }),
  images: z.array(z.strictObject({ src: z.url(), href: z.url().optional(), alt: z.string().optional() })).optional(),
  links: z.array(Link).optional(),
  client: z.string().optional(),
  client_url: z.url().optional(),
})
const Change = z.looseObject({ routing_key, event_action: z.enum(['acknowledge', 'resolve']), dedup_key })
const PagerEvent = z.discriminatedUnion('event_action', [Trigger, Change])
export type PagerEvent = z.infer<typeof PagerEvent>

const MAX_EVENT_BYTES = 512 * 1024

export type Incident = {
  readonly key: string
  readonly summary: string
  state: 'triggered' | 'acknowledged' | 'resolved'
}

export type PagerReceiver = {
  /** For `PAGER_BASE_URL`. */
  readonly url: string
  /** Received events, in order. */
  readonly events: PagerEvent[]
  /** In the order in which they were opened. */
  readonly incidents: Incident[]
  readonly receiver: Receiver
}

/** An integration key of the right form. */
export const PAGER_KEY = '0f1e2d3c4b5a69788796a5b4c3d2e1f0'

/** @param fault what to answer instead; undefined where the pager answers itself */
export async function startPager(
  fault: (request: ReceivedRequest) => Answer | undefined = () => undefined,
): Promise<PagerReceiver> {
  const events: PagerEvent[] = []
  const incidents: Incident[] = []
  const invalid = (errors: readonly string[]): Answer => ({
    status: 400,
    body: JSON.stringify({ status: 'invalid event', message: 'Event object is invalid', errors }),
  })
  const take = (event: PagerEvent): void => {
    const key = event.dedup_key ?? `incident-${incidents.length}`
    const open = incidents.findLast((one) => one.key === key && one.state !== 'resolved')
    if (event.event_action === 'trigger') {
      if (open === undefined) incidents.push({ key, summary: event.payload.summary, state: 'triggered' })
    } else if (open !== undefined) open.state = event.event_action === 'resolve' ? 'resolved' : 'acknowledged'
  }
  const receiver = await startReceiver({
    respond(request) {
      const answer = fault(request)
      if (answer !== undefined) return answer
      if (request.path !== '/v2/enqueue' || request.method !== 'POST') return 404
      if (request.body.length > MAX_EVENT_BYTES) return 413
      let json: unknown
      try {
        json = JSON.parse(request.body.toString())
      } catch {
        return invalid(['Invalid JSON body'])
      }
      const parsed = PagerEvent.safeParse(json)
      if (!parsed.success)
        return invalid(parsed.error.issues.map(({ path, message }) => `'${path.join('.')}' ${message}`))
      events.push(parsed.data)
      take(parsed.data)
      const { dedup_key: key } = parsed.data
      return {
        status: 202,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ status: 'success', message: 'Event processed', dedup_key: key }),
      }
    },
  })
  return { url: receiver.url, events, incidents, receiver }
}
