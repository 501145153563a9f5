import type { App } from '../../platform/context/app.ts'
import { type AttemptResult, type ClaimedDelivery, NotSentError, type Send } from '../../platform/outbox/channel.ts'
import type { OwnHeader } from '#shared/webhook-headers.ts'
import type { Opener } from '../../platform/storage/seal.ts'
import { lenientOpener } from '../../identity/auth/lenient-sealer.ts'
import { openHeaders } from './own-headers.ts'
import { secretPlace } from './secrets.ts'
import { secretsOfAttempt, type SecretVersion } from './secrets-of-attempt.ts'
import { selectSending, type SendingRow } from './sending.queries.ts'
import { sendRequest } from '../../platform/requests/send-request.ts'
import { confidentialPattern } from '../../platform/requests/mask-echo.ts'
import { loggedHeaders, requestHeaders } from '../../platform/requests/webhook-request.ts'

/** Null when it cannot be opened. */
type OpenSecret = SecretVersion & { readonly secret: string | null }

/** An endpoint with what its requests need. */
type Sending = {
  readonly url: string
  readonly current: number
  readonly secrets: readonly OpenSecret[]
  readonly isStandard: boolean
  /** Null when they cannot be opened. */
  readonly ownHeaders: readonly OwnHeader[] | null
}

/**
 * Reads the endpoints of a batch with one query, and one for the keys of each organisation. Opened secrets live as long as the batch: opening one takes less than
 * signing a body, and a rotation needs no cache to be dropped.
 */
export async function prepareWebhooks(app: App, batch: readonly ClaimedDelivery[]): Promise<Send> {
  const pinned = new Map(
    batch.map(({ laneId, secretVersion }) => [
      `${laneId}/${secretVersion}`,
      { endpointId: laneId, version: secretVersion },
    ]),
  )
  const rows = await selectSending(app.db, [...pinned.values()], app.clock.now())
  const openers = new Map<string, Opener>()
  for (const orgId of new Set(rows.map((row) => row.org_id))) openers.set(orgId, await lenientOpener(app, orgId))
  const endpoints = new Map<string, Sending>()
  for (const [id, ofEndpoint] of Map.groupBy(rows, (row) => row.id)) endpoints.set(id, opened(app, openers, ofEndpoint))
  return (delivery, signal) => {
    const endpoint = endpoints.get(delivery.laneId)
    // Its lane is closed: a worker ends the delivery with the reason of the lane.
    if (endpoint === undefined) return Promise.reject(new NotSentError('The endpoint was deleted.'))
    return send(app, endpoint, delivery, signal)
  }
}

/** An attempt that ends before a request. */
const UNREADABLE: AttemptResult = {
  outcome: 'failed',
  status: null,
  errorCode: 'secret_unreadable',
  errorText: 'The secret or the headers of the endpoint cannot be read. Set them again.',
  durationMs: 0,
  details: {},
}

function opened(app: App, openers: ReadonlyMap<string, Opener>, rows: readonly SendingRow[]): Sending {
  const [row] = rows
  const opener = row === undefined ? undefined : openers.get(row.org_id)
  if (row === undefined || opener === undefined) throw new Error('no rows of an endpoint')
  const { id, org_id: orgId, url, secret_version: current, headers_sealed: sealed, standard_headers: isStandard } = row
  // Neither other endpoints of the batch nor attempts with another secret may wait for what cannot be opened.
  const openedOrNull = <T>(open: () => T): T | null => {
    try {
      return open()
    } catch (error) {
      app.log.error({ err: error, endpoint_id: id }, 'a secret or the headers of a webhook endpoint cannot be opened')
      return null
    }
  }
  return {
    url,
    current,
    isStandard,
    secrets: rows.map(({ version, secret_sealed, overlap_until }) => ({
      version,
      overlapUntil: overlap_until,
      secret: openedOrNull(() => opener.open(secret_sealed, secretPlace(orgId, id, version)).toString()),
    })),
    ownHeaders: openedOrNull(() => openHeaders(opener, orgId, id, sealed)),
  }
}

/** Signs with the time of this moment, and sends. Redirects are answers like any other. */
async function send(
  app: App,
  { url, current, secrets, isStandard, ownHeaders }: Sending,
  { id, laneId, messageId, type, body, trigger, secretVersion: pinned }: ClaimedDelivery,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const at = app.clock.now()
  const signing = secretsOfAttempt(secrets, current, { trigger, pinned, now: at })
  const keys = signing.flatMap(({ secret }) => secret ?? [])
  if (ownHeaders === null || keys.length < signing.length) return UNREADABLE
  const headers = requestHeaders({
    eventId: messageId,
    deliveryId: id,
    type,
    body,
    secrets: keys,
    isStandard,
    ownHeaders,
    version: app.config.version,
    at,
  })
  return sendRequest(
    app,
    {
      url,
      headers,
      body,
      // An endpoint that hangs takes no connections of others at the same host.
      group: laneId,
      loggedHeaders: loggedHeaders(headers, ownHeaders),
      confidential: confidentialPattern(keys, ownHeaders),
    },
    signal,
  )
}
