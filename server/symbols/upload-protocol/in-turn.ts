import type { App } from '../../platform/context/app.ts'
import { perApp } from '../../platform/context/per-app.ts'
import { unavailable } from '../../platform/kernel/errors.ts'

/** Files on their way may take 2.5 GiB of the disk each, and are read and written several times. */
const MAX_WAITING = 20

type Queue = { last: Promise<unknown>; length: number }
const queuesOf = perApp(() => new Map<string, Queue>())

/**
 * Runs the works of an organisation one after the other.
 * @throws AppError unavailable when many wait
 */
export async function inTurn<T>(app: App, orgId: string, work: () => Promise<T>): Promise<T> {
  const queues = queuesOf(app)
  const queue = queues.get(orgId) ?? { last: Promise.resolve(), length: 0 }
  if (queue.length > MAX_WAITING)
    throw unavailable('Too many files are put together at once. Try again in a few seconds.', 5)
  queues.set(orgId, queue)
  queue.length++
  const own = queue.last.then(work)
  queue.last = own.catch(() => {})
  try {
    return await own
  } finally {
    if (--queue.length === 0) queues.delete(orgId)
  }
}
