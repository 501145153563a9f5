import type { IncomingMessage } from 'node:http'

/** A body of any route but an upload must be complete after this time; also what is left of a refused one. */
export const BODY_TIMEOUT_MS = 30_000

const timers = new WeakMap<IncomingMessage, NodeJS.Timeout>()

/** Ends the connection when the body of a request is not complete in time, from now on; replaces an earlier limit. */
export function limitBodyTime(request: IncomingMessage, timeoutMs: number): void {
  const earlier = timers.get(request)
  clearTimeout(earlier)
  timers.set(
    request,
    setTimeout(() => request.destroy(), timeoutMs),
  )
  if (earlier !== undefined) return
  const stop = () => clearTimeout(timers.get(request))
  request.once('end', stop)
  request.once('close', stop)
}
