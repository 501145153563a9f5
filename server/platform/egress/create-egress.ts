import { EgressError, type Egress } from '../context/egress.ts'
import { AppError } from '../kernel/errors.ts'
import { createAttempt, type Attempt } from './attempt.ts'
import { checkUrl, urlHost, urlPort, type UrlRules } from './check-url.ts'
import { Refusal } from './connect.ts'
import { createConnections, type ConnectionBounds } from './connections.ts'
import { createOwnAddresses, type DatabaseAddress } from './own-addresses.ts'
import { createSystemResolver, type ResolveName } from './resolve-name.ts'

export type EgressOptions = UrlRules & {
  /** Ports of this machine on which this service listens; `protectPort` adds those that are known later. */
  readonly ownPorts: readonly number[]
  /** Called once, at the first connection. */
  readonly database: () => DatabaseAddress
  readonly resolveName?: ResolveName
  readonly bounds?: ConnectionBounds
  /** Trusted instead of the certificates of the system, PEM; for tests. */
  readonly ca?: readonly string[]
}

/** The outbox keeps at most 100 requests to an endpoint, which is a group, and 1,200 in all under way. */
const BOUNDS: ConnectionBounds = { perOrigin: 128, inAll: 1_300 }

/**
 * The guarded HTTP client for addresses that users typed: every address is judged when it connects, redirects, proxies
 * and cookies do not exist. Costs nothing until the first request.
 */
export function createEgress(options: EgressOptions): Egress {
  const resolveName = options.resolveName ?? createSystemResolver()
  let database: DatabaseAddress | undefined
  const own = createOwnAddresses(() => (database ??= options.database()), resolveName)
  for (const port of options.ownPorts) own.protectPort(port)
  const guard = { rules: options, own, resolveName, ca: options.ca }
  const connections = createConnections(guard, options.bounds ?? BOUNDS)
  const running = new Set<Attempt>()
  let closed = false

  return {
    checkUrl: (text) => checkUrl(text, options),
    protectPort: (port) => own.protectPort(port),
    async request(request) {
      const attempt = createAttempt(request)
      if (closed) throw attempt.failure(new Refusal('EGRESS_CLOSED', 'The service is stopping.'))
      running.add(attempt)
      try {
        const url = checkUrl(request.url, options)
        const target = { secure: url.protocol === 'https:', host: urlHost(url), port: urlPort(url) }
        return await attempt.run(url, await connections.take({ group: request.group, origin: url.origin }, target))
      } catch (error) {
        if (error instanceof EgressError) throw error
        throw attempt.failure(error instanceof AppError ? new Refusal('EGRESS_URL', error.message) : error)
      } finally {
        running.delete(attempt)
      }
    },
    async close() {
      closed = true
      for (const attempt of running) attempt.abort()
      await connections.close()
    },
  }
}
