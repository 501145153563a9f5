import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { judgeAddress, normalAddress } from './judge-address.ts'
import type { ResolveName } from './resolve-name.ts'

/** Host and port of our database. A host that begins with `/` is the directory of a unix socket. */
export type DatabaseAddress = { readonly host: string; readonly port: number }

export type OwnAddresses = {
  protectPort(port: number): void
  /** Whether address and port are those of this service or its database, for a sentence; null when they are not. */
  judge(address: string, port: number): Promise<string | null>
}

/** Refuses our own listeners and the database, even where their address is allowed. */
export function createOwnAddresses(database: () => DatabaseAddress, resolveName: ResolveName): OwnAddresses {
  const ports = new Set<number>()
  return {
    protectPort: (port) => void ports.add(port),
    async judge(address, port) {
      const ip = normalAddress(address)
      if (ports.has(port) && isOwnAddress(ip)) return 'this service'
      const { host, port: databasePort } = database()
      if (port !== databasePort) return null
      if (host.startsWith('/')) return isOwnAddress(ip) ? 'the database of this service' : null
      const its = await (isIP(host) === 0 ? resolveName(host) : Promise.resolve([host])).then(
        (addresses) => addresses.map(normalAddress),
        () => null,
      )
      // When its name does not resolve, nothing proves that this is another address.
      const same = its === null || its.includes(ip) || (its.some(isOwnAddress) && isOwnAddress(ip))
      return same ? 'the database of this service' : null
    },
  }
}

const LOOPBACK_ONLY = { allowed: [], loopbackOpen: false }

function isOwnAddress(ip: string): boolean {
  if (judgeAddress(ip, LOOPBACK_ONLY) === 'a loopback address') return true
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ address }) => normalAddress(address) === ip),
  )
}
