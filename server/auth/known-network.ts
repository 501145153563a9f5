import type { App } from '../context/app.ts'
import { sessionAddresses } from './auth.queries.ts'
import { networkOf } from './network.ts'

export const KNOWN_NETWORK_DAYS = 90

const DAY_MS = 86_400_000

/** Whether this user had a session from the client's network within 90 days. */
export async function isKnownNetwork(app: App, userId: string, ip: string): Promise<boolean> {
  const since = new Date(app.clock.now().getTime() - KNOWN_NETWORK_DAYS * DAY_MS)
  const network = networkOf(ip)
  if (network === 'unknown') return false
  return (await sessionAddresses(app.db, userId, since)).some((address) => networkOf(address) === network)
}
