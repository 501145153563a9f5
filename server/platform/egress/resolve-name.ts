import { lookup, Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'

/** All addresses of a name, in the order to try them. @throws the error of the resolver, such as ENOTFOUND */
export type ResolveName = (name: string) => Promise<string[]>

type SystemResolverOptions = {
  /** DNS servers, `address:port`, instead of those of the system; for tests. */
  readonly servers?: readonly string[]
  readonly hostsFile?: string
  /** getaddrinfo. */
  readonly bySystem?: ResolveName
}

/** Two tries end well within the clock of an attempt. */
const DNS_TIMEOUT_MS = 1_500
const DNS_TRIES = 2
/** The most negative answers that wait for the system's opinion. */
const MAX_WAITING = 100

const resolveBySystem: ResolveName = async (name) =>
  (await lookup(name, { all: true, order: 'verbatim' })).map(({ address }) => address)

/**
 * Resolves names as the system does, without letting a dead name server delay other names: getaddrinfo blocks one of two
 * threads for the whole process, for up to half a minute. So names with a dot are asked of the DNS directly, which blocks
 * nothing. getaddrinfo answers for names without a dot and names in the hosts file, which the operator's network knows;
 * and, in its own turn, for names that the DNS does not know (search domains, further name services).
 */
export function createSystemResolver(options: SystemResolverOptions = {}): ResolveName {
  const bySystem = options.bySystem ?? resolveBySystem
  const running = new Map<string, Promise<string[]>>()
  const local = inTurn()
  const unknown = inTurn()
  let dns: Resolver | undefined

  const byDns = async (name: string): Promise<string[]> => {
    if (dns === undefined) {
      dns = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES })
      if (options.servers !== undefined) dns.setServers(options.servers)
    }
    // IPv4 first: a network whose IPv6 leads nowhere costs each connection 250 ms.
    const results = await Promise.allSettled([dns.resolve4(name), dns.resolve6(name)])
    const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
    if (addresses.length > 0) return addresses
    const [reason] = results.flatMap((result): unknown[] => (result.status === 'rejected' ? [result.reason] : []))
    throw reason
  }

  const resolve = async (name: string): Promise<string[]> => {
    if (!name.includes('.') || (await inHostsFile(name, options.hostsFile ?? '/etc/hosts')))
      return local.run(() => bySystem(name))
    try {
      return await byDns(name)
    } catch (error) {
      if (!isUnknown(error) || unknown.waiting() >= MAX_WAITING) throw error
      return unknown.run(() => bySystem(name))
    }
  }

  return (name) => {
    const known = running.get(name)
    if (known !== undefined) return known
    const resolving = resolve(name).finally(() => running.delete(name))
    running.set(name, resolving)
    return resolving
  }
}

/** The DNS has no such name or no address for it, or there is no DNS server at all. */
function isUnknown(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  return code === 'ENOTFOUND' || code === 'ENODATA' || code === 'ECONNREFUSED'
}

async function inHostsFile(name: string, file: string): Promise<boolean> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.split('\n').some((line) => {
    const [address, ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/)
    return address !== '' && names.includes(name.toLowerCase())
  })
}

type Turns = { run<T>(work: () => Promise<T>): Promise<T>; readonly waiting: () => number }

/** One piece of work at a time. */
function inTurn(): Turns {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return {
    waiting: () => waiting,
    run(work) {
      waiting += 1
      const mine = last.then(work).finally(() => (waiting -= 1))
      last = mine.catch(() => {})
      return mine
    },
  }
}
