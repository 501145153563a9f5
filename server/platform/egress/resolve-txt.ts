import { Resolver } from 'node:dns/promises'
import type { ResolveTxt } from '../context/txt-records.ts'

/** All tries end before a request's own limit of time. */
const DNS_TIMEOUT_MS = 2_000
const DNS_TRIES = 2

/** @param servers DNS servers, `address:port`, instead of those of the system; for tests */
export function createTxtResolver(servers?: readonly string[]): ResolveTxt {
  return async (name) => {
    const dns = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES })
    if (servers !== undefined) dns.setServers(servers)
    try {
      return (await dns.resolveTxt(name)).map((parts) => parts.join(''))
    } catch (error) {
      if (isAbsent(error)) return []
      throw error
    }
  }
}

/** The DNS says that there is no such name or no such record. Every other failure proves nothing. */
function isAbsent(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  return code === 'ENOTFOUND' || code === 'ENODATA'
}
