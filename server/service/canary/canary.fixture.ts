import { startDeliverer } from '../../platform/outbox/start-deliverer.ts'
import type { TestServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { canaryChannel } from './canary-channel.ts'
import { selectSnapshot } from './canary.queries.ts'
import type { CanaryReport } from './canary.api.ts'
import { type Canary, readCanary } from './create-canary.ts'

/** The canary of a service that has one. */
export function canaryOf({ service }: TestServer): Canary {
  if (service.canary === null) throw new Error('the canary is switched off')
  return service.canary
}

/** Watches for a time, looking every 15 seconds as a busy process does. */
export async function watch(t: TestServer, ms: number, canary = canaryOf(t)): Promise<CanaryReport> {
  await canary.tick()
  for (let left = ms; left > 0; left -= 15_000) {
    t.clock.advance(Math.min(left, 15_000))
    await canary.tick()
  }
  return readCanary(t.app)
}

/** Delivers what waits, and looks. */
export async function deliver(t: TestServer): Promise<CanaryReport> {
  const deliverer = startDeliverer(t.app, [canaryChannel])
  await waitFor('the arrival', () => hasNewestArrived(t))
  await deliverer.stop(2_000)
  await canaryOf(t).tick()
  return readCanary(t.app)
}

const hasNewestArrived = async ({ app }: TestServer): Promise<boolean> =>
  (await selectSnapshot(app.db)).run?.isArrived === true

/** One run, from the request to its arrival. */
export async function wholeRun(t: TestServer): Promise<CanaryReport> {
  await canaryOf(t).tick()
  await t.service.drain()
  return deliver(t)
}

export const runsOf = async ({ app }: TestServer): Promise<number> =>
  (await app.db.query<{ n: number }>('select count(*) as n from canary_runs')).rows[0]?.n ?? 0
