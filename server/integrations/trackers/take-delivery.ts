import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import type { App } from '../../platform/context/app.ts'
import { invalid, unauthenticated } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import { addJob } from '../../platform/jobs/task.ts'
import type { TrackerProvider } from './config.ts'
import { trackerTokenHash } from './connect-tracker.ts'
import { FOLLOW_JOB } from './follow-ticket.ts'
import { selectVendor } from './open-vendor.ts'
import { TrackerError } from './tracker-error.ts'
import {
  changeIntegration,
  type IntegrationRow,
  selectByExternalId,
  selectByToken,
  selectIntegrations,
  selectOfProvider,
} from './trackers.queries.ts'
import { readConfig } from './with-tracker.ts'
import { readJsonText } from '../../platform/kernel/json.api.ts'

/** `@linear/sdk` refuses beyond, in both directions. */
const MAX_SKEW_MS = 60_000
/** Integrations whose secret is tried when the address does not name one. */
const MAX_TRIED = 50

export type TrackerDelivery = {
  readonly provider: TrackerProvider
  readonly integration?: string | undefined
  readonly token?: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/**
 * Takes a delivery: verifies its bytes and lets a job read what changed. Deliveries of one ticket that wait are one job.
 * @throws AppError unauthenticated, with one sentence whatever failed; invalid when it is verified and no JSON
 */
export async function takeDelivery(app: App, delivery: TrackerDelivery): Promise<void> {
  const row = await verify(app, delivery)
  if (row === null) throw unauthenticated('This request is not signed by a tracker that is connected.')
  const payload = readJsonText(delivery.body)
  if (payload === undefined) throw invalid('The body must be JSON.')
  if (delivery.provider === 'tracker_a' && !isOfNow(payload, app.clock.now()))
    throw unauthenticated('This request is not signed by a tracker that is connected.')
  await changeIntegration(app.db, row.id, { last_received_at: app.clock.now() })
  const externalId = selectVendor(app, await readConfig(app, row), row.id).ticketOf(payload)
  const ticket = externalId === null ? undefined : await selectByExternalId(app.db, row.id, externalId)
  if (ticket === undefined) return
  await addJob(app.db, FOLLOW_JOB, { issueId: ticket.issue_id }, { key: `${FOLLOW_JOB}/${ticket.issue_id}` })
}

async function verify(app: App, delivery: TrackerDelivery): Promise<IntegrationRow | null> {
  const { provider, integration, token } = delivery
  if (provider === 'tracker_b' && token !== undefined) {
    const digest = trackerTokenHash(token)
    const row = await selectByToken(app.db, provider, digest)
    // The index compares digests, which tell nothing about the token; this compares them in constant time.
    return row !== undefined && timingSafeEqual(row.token_hash, digest) ? row : null
  }
  const given = signatureOf(provider, delivery.headers)
  if (given === null) return null
  const rows =
    integration === undefined
      ? await selectOfProvider(app.db, provider, MAX_TRIED)
      : isUuid(integration)
        ? await selectIntegrations(app.db, [integration])
        : []
  for (const row of rows) {
    if (row.provider !== provider) continue
    const secret = await secretOf(app, row)
    if (secret === null) continue
    const made = createHmac('sha256', secret).update(delivery.body).digest()
    if (timingSafeEqual(made, given)) return row
  }
  return null
}

async function secretOf(app: App, row: IntegrationRow): Promise<string | null> {
  try {
    const config = await readConfig(app, row)
    return config.provider === 'codehost' ? null : config.webhook_secret
  } catch (error) {
    if (error instanceof TrackerError) return null
    throw error
  }
}

function signatureOf(provider: TrackerProvider, headers: IncomingHttpHeaders): Buffer | null {
  const names =
    provider === 'tracker_a' ? ['linear-signature', 'x-tracker-signature', 'x-hub-signature'] : ['x-hub-signature']
  const name = names.find((one) => headers[one] !== undefined)
  const value = name === undefined ? undefined : headers[name]
  const [, hex] = (typeof value === 'string' ? /^(?:sha256=)?([0-9a-fA-F]{64})$/.exec(value) : null) ?? []
  return hex === undefined ? null : Buffer.from(hex, 'hex')
}

function isOfNow(payload: unknown, now: Date): boolean {
  const stamped = z.looseObject({ webhookTimestamp: z.unknown().optional() }).safeParse(payload)
  if (!stamped.success || stamped.data.webhookTimestamp === undefined) return true
  const { webhookTimestamp: at } = stamped.data
  return typeof at === 'number' && Math.abs(now.getTime() - at) <= MAX_SKEW_MS
}
