import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { z } from 'zod'
import type { Caller } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { perApp } from '../../platform/context/app.ts'
import { rateLimited, unauthenticated, unavailable } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import { addJob } from '../../platform/jobs/task.ts'
import type { codeHostRoutes } from './code-host.api.ts'
import { insertDelivery, measureWaiting, noteRefused, selectCodeHost } from './code-hosts.queries.ts'
import { DELIVERY_JOB, oneByOne } from './job-names.ts'
import { openSecret } from './secrets.ts'
import { findVendor } from './vendors.ts'

type Result = z.infer<(typeof codeHostRoutes)['takeCodeHostDelivery']['response']>

export type Delivery = {
  readonly projectId: string
  readonly headers: IncomingHttpHeaders
  readonly content: AsyncIterable<Buffer>
}

/** The share of a project, so that one that sends much fills no disk: its deliveries that wait. */
const MAX_WAITING = 2_000
const MAX_WAITING_BYTES = 64 * 1024 * 1024
/** Bodies of all requests that one process holds at a time. */
const MAX_HELD_BYTES = 100 * 1024 * 1024

const compress = promisify(gzip)
const heldBytes = perApp(() => ({ bytes: 0 }))

/**
 * Takes a delivery: its signature over the bytes as they arrived, once for its id. The work is a job.
 * @throws AppError unauthenticated (project, connection or signature: the same answer), too_large, rate_limited (too many
 *   deliveries of the project wait), unavailable (too many bytes arrive)
 */
export async function takeDelivery(
  app: App,
  caller: Caller,
  { projectId, headers, content }: Delivery,
): Promise<Result> {
  // Without a connection the body is not read.
  const host = isUuid(projectId) ? await selectCodeHost(app.db, projectId.toLowerCase()) : undefined
  if (host === undefined) throw refused()
  const vendor = findVendor(host.provider)
  const secret = await openSecret(app, host)
  return holding(app, content, async (body) => {
    const now = app.clock.now()
    if (!vendor.verify(headers, body, secret, now)) {
      await noteRefused(app.db, host.project_id, now)
      throw refused()
    }
    const { id, event } = vendor.head(headers)
    if (event === 'ping') return { result: 'pong' }
    const deliveryId = id === null || id.length > 100 ? createHash('sha256').update(body).digest('hex') : id
    const packed = await compress(body)
    const { ip } = caller.origin
    const isNew = await app.tx(async (tx) => {
      const { waiting, bytes } = await measureWaiting(tx, host.project_id)
      if (waiting >= MAX_WAITING || bytes + packed.length > MAX_WAITING_BYTES)
        throw rateLimited('Too many deliveries of this project wait for their turn. Send it again later.', 60)
      const inserted = await insertDelivery(tx, {
        project_id: host.project_id,
        delivery_id: deliveryId,
        event: event.slice(0, 60),
        received_at: now,
        ip,
        request_id: caller.requestId,
        state: 'waiting',
        body: packed,
      })
      if (inserted)
        await addJob(tx, DELIVERY_JOB, { projectId: host.project_id, deliveryId }, oneByOne(host.project_id))
      return inserted
    })
    return { result: isNew ? 'accepted' : 'known' }
  })
}

/** One sentence, whatever failed: who guesses learns nothing. */
const refused = () => unauthenticated('This delivery is not signed with the secret of this project.')

/** Reads the body within the bound of the process, and gives its room back afterwards. */
async function holding<T>(app: App, content: AsyncIterable<Buffer>, work: (body: Buffer) => Promise<T>): Promise<T> {
  const held = heldBytes(app)
  const chunks: Buffer[] = []
  let own = 0
  try {
    for await (const chunk of content) {
      if (held.bytes + chunk.length > MAX_HELD_BYTES)
        throw unavailable('Too many deliveries arrive at once. Send it again later.', 10)
      held.bytes += chunk.length
      own += chunk.length
      chunks.push(chunk)
    }
    return await work(Buffer.concat(chunks))
  } finally {
    held.bytes -= own
  }
}
