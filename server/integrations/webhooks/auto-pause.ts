import { z } from 'zod'
import { selectOwners } from '../../identity/auth/auth.queries.ts'
import { systemActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { defineTask } from '../../platform/jobs/task.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import { changeLane } from '../../platform/outbox/change-lane.ts'
import { isHopeless } from './endpoint-health.ts'
import { lockForAutoPause, markAutoPaused } from './auto-pause.queries.ts'
import { AUTO_PAUSE_JOB } from './settle-webhooks.ts'

/** Pauses an endpoint that has failed for days, if it still does, and mails the owners of its organisation. */
export async function autoPause(app: App, endpointId: string): Promise<void> {
  await app.tx(async (tx) => {
    const endpoint = await lockForAutoPause(tx, endpointId)
    if (endpoint === undefined || endpoint.lastAttemptAt === null) return
    const { orgId, url, failingSince, failedAttempts, lastAttemptAt } = endpoint
    if (failingSince === null || !isHopeless({ failingSince, failedAttempts }, lastAttemptAt)) return
    await changeLane(tx, endpointId, { isPaused: true })
    await markAutoPaused(tx, endpointId, app.clock.now())
    await recordFacts(tx, factContext(app, systemActor('deliveries')), [
      {
        kind: 'webhook.endpoint.auto_paused',
        orgId,
        endpointId,
        data: { failing_since: failingSince.toISOString(), failed_attempts: failedAttempts },
      },
    ])
    const owners = await selectOwners(tx, orgId)
    await enqueueMails(
      tx,
      app,
      orgId,
      owners.map(({ id, email, name }) => ({
        type: 'webhook.endpoint.auto_paused',
        userId: id,
        to: email,
        subject: 'A webhook endpoint was paused',
        name,
        paragraphs: [
          `Faultline paused the webhook endpoint ${url}.`,
          `It has answered no delivery with a success since ${failingSince.toISOString()}, in ${failedAttempts} attempts.`,
          'Its deliveries are kept. Resume it when the receiver works again.',
        ],
        action: { label: 'Show webhooks', url: `${app.config.publicUrl}/org/webhooks` },
      })),
    )
  })
}

export const autoPauseTask = defineTask({
  name: AUTO_PAUSE_JOB,
  payload: z.object({ endpointId: z.uuid() }),
  run: (app, { endpointId }) => autoPause(app, endpointId),
})
