import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../../platform/context/app.ts'
import { MINUTE_MS, DAY_MS } from '../../platform/kernel/day.ts'
import type { AttemptResult, Channel, ClaimedDelivery } from '../../platform/outbox/channel.ts'
import { hyphenate } from '../../platform/kernel/ids.ts'
import { TRACKER_CHANNEL } from './record-trackers.ts'
import type { RemoteTicket } from './tracker.ts'
import { TrackerError } from './tracker-error.ts'
import { changeTicket, lockTicket, selectIntegrations, selectTicket } from './trackers.queries.ts'
import { markGone } from './mark-gone.ts'
import { withTracker } from './with-tracker.ts'

const Reopening = z.object({ issue_id: z.string(), sentence: z.string() })

/** Changes tickets; the lane of an integration has its id, and its changes go one after the other. */
export const trackerChannel: Channel = {
  name: TRACKER_CHANNEL,
  // Beyond a day, so that a member can connect the tracker again when its credentials were revoked.
  delaysMs: [0, MINUTE_MS / 2, 2 * MINUTE_MS, 10 * MINUTE_MS, 60 * MINUTE_MS, 360 * MINUTE_MS, DAY_MS, DAY_MS],
  timeoutMs: 25_000,
  prepare: (app) => Promise.resolve((delivery) => reopen(app, delivery)),
  async settled(tx, _app, attempts) {
    for (const { delivery, isExhausted } of attempts) {
      const { issue_id: issueId } = readBody(delivery)
      if (!isExhausted) continue
      const ticket = await lockTicket(tx, issueId)
      // It counts as it was: the next regression tries again.
      if (ticket?.remote_state === 'reopening') await changeTicket(tx, issueId, { remote_state: 'closed' })
    }
  },
}

const readBody = ({ body }: ClaimedDelivery) => Reopening.parse(JSON.parse(body.toString()))

async function reopen(app: App, delivery: ClaimedDelivery): Promise<AttemptResult> {
  const startedMs = app.clock.monotonicMs()
  const ended = (result: Partial<AttemptResult> & Pick<AttemptResult, 'outcome'>): AttemptResult => ({
    status: null,
    errorCode: null,
    errorText: null,
    durationMs: app.clock.monotonicMs() - startedMs,
    details: {},
    ...result,
  })
  const { issue_id: issueId, sentence } = readBody(delivery)
  const [[integration], ticket] = await Promise.all([
    selectIntegrations(app.db, [delivery.laneId]),
    selectTicket(app.db, issueId),
  ])
  // The issue, the link or the integration is gone: nothing is left to do.
  if (integration === undefined || ticket?.external_id == null || ticket.state !== 'linked')
    return ended({ outcome: 'delivered' })
  const { external_id: externalId } = ticket
  const comment = `${sentence} ${app.config.publicUrl}/issues/${issueId}`
  try {
    const remote = await withTracker(app, integration, (tracker) =>
      tracker.reopen(externalId, comment, commentIdOf(delivery.messageId)),
    )
    await app.tx((tx) => writeReopened(app, tx, issueId, externalId, remote))
    return ended({ outcome: 'delivered' })
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error
    const { status, message, kind, retryAfterMs } = error
    return ended({
      outcome: 'failed',
      status,
      errorCode: kind,
      errorText: message,
      ...(kind === 'refused' || kind === 'forbidden' ? { isFinal: true } : {}),
      ...(retryAfterMs === null ? {} : { retryAfterMs }),
    })
  }
}

async function writeReopened(
  app: App,
  tx: Parameters<typeof lockTicket>[0],
  issueId: string,
  externalId: string,
  remote: RemoteTicket | null,
): Promise<void> {
  const ticket = await lockTicket(tx, issueId)
  if (ticket?.external_id !== externalId || ticket.state !== 'linked') return
  if (remote === null) return markGone(app, tx, ticket)
  await changeTicket(tx, issueId, { remote_state: 'open', remote_status: remote.status, checked_at: app.clock.now() })
}

/** A UUID of version 4 in form, the same for each attempt. */
function commentIdOf(messageId: string): string {
  const hex = createHash('sha256').update(messageId).digest('hex')
  return hyphenate(`${hex.slice(0, 12)}4${hex.slice(13, 16)}8${hex.slice(17, 32)}`)
}
