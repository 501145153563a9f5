import type { Client } from 'undici'
import { connectGuarded, Refusal, type ConnectionSteps, type Guard, type Target } from './connect.ts'

export type ConnectionBounds = {
  /** Connections of one group to one scheme, host and port. */
  readonly perOrigin: number
  readonly inAll: number
}

/** One connection, used by one request at a time. */
export type Connection = {
  readonly client: Client
  /** Steps of the connector for the present request; null on a reused connection. */
  readonly steps: ConnectionSteps | null
  readonly remoteIp: string | null
  /** Keeps the connection for the next request. Only after a complete answer. */
  release(): void
  /** Ends the connection, or the attempt to connect. A request that still runs on it fails. */
  drop(): void
}

/** A group and an origin: connections are for one share only. */
export type Share = {
  readonly group: string | undefined
  readonly origin: string
}

export type Connections = {
  /** Never waits. @throws Refusal `EGRESS_BUSY` when the share or the process has no connection left */
  take(share: Share, target: Target): Promise<Connection>
  close(): Promise<void>
}

/** Without a hint of the server. A server that closes an idle connection earlier than we do makes a request fail. */
const IDLE_MS = 2_000
/** With a `Keep-Alive` hint. */
const MAX_IDLE_MS = 8_000
/** Time by which the hint is shortened, for the way of the last request. */
const IDLE_MARGIN_MS = 1_000
const MAX_RESPONSE_HEADERS_BYTES = 16_384

type Held = {
  readonly client: Client
  readonly share: string
  readonly aborting: AbortController
  steps: ConnectionSteps | null
  remoteIp: string | null
  connected: boolean
  idle: boolean
  ended: boolean
}

/**
 * Connections for requests, kept while idle. A client of undici holds one connection; undici's own pool would queue
 * requests inside it, and does not say which connection a request used.
 */
export function createConnections(guard: Guard, bounds: ConnectionBounds): Connections {
  const byShare = new Map<string, Set<Held>>()
  /** Longest idle first. */
  const idle = new Set<Held>()
  let inAll = 0
  let closed = false

  const end = (held: Held): void => {
    if (held.ended) return
    held.ended = true
    inAll -= 1
    idle.delete(held)
    const ofShare = byShare.get(held.share)
    ofShare?.delete(held)
    if (ofShare?.size === 0) byShare.delete(held.share)
    held.aborting.abort()
    void held.client.destroy()
  }

  const open = async (share: string, origin: string, target: Target): Promise<Held> => {
    const { default: UndiciClient } = await import('undici/lib/dispatcher/client.js')
    if (closed) throw new Refusal('EGRESS_CLOSED', 'The service is stopping.')
    const ofShare = byShare.get(share) ?? new Set()
    if (ofShare.size >= bounds.perOrigin)
      throw new Refusal('EGRESS_BUSY', `There are already ${bounds.perOrigin} requests to ${origin}.`)
    if (inAll >= bounds.inAll) {
      const [longestIdle] = idle
      if (longestIdle === undefined)
        throw new Refusal('EGRESS_BUSY', `There are already ${bounds.inAll} outgoing requests.`)
      end(longestIdle)
    }
    const client = new UndiciClient(origin, {
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: MAX_RESPONSE_HEADERS_BYTES,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: MAX_IDLE_MS,
      keepAliveTimeoutThreshold: IDLE_MARGIN_MS,
      // One clock for the whole attempt is kept outside.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (_options, callback) => {
        const steps: ConnectionSteps = { step: 'dns', dnsMs: null, connectMs: null, tlsMs: null, remoteIp: null }
        held.steps = steps
        connectGuarded(target, guard, steps, held.aborting.signal).then(
          (socket) => {
            held.remoteIp = steps.remoteIp
            if (held.ended) socket.destroy()
            else callback(null, socket)
          },
          (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
        )
      },
    })
    const held: Held = {
      client,
      share,
      aborting: new AbortController(),
      steps: null,
      remoteIp: null,
      connected: false,
      idle: false,
      ended: false,
    }
    client.on('connect', () => void (held.connected = true))
    client.on('disconnect', () => {
      held.connected = false
      // A request that undici has not sent yet connects again.
      if (held.idle) end(held)
    })
    inAll += 1
    byShare.set(share, ofShare.add(held))
    return held
  }

  const takeIdle = (share: string): Held | undefined => {
    for (const held of byShare.get(share) ?? []) {
      if (!held.idle) continue
      idle.delete(held)
      held.idle = false
      held.steps = null
      return held
    }
    return undefined
  }

  return {
    async take({ group, origin }, target) {
      const share = `${origin} ${group ?? ''}`
      const held = takeIdle(share) ?? (await open(share, origin, target))
      return {
        client: held.client,
        get steps() {
          return held.steps
        },
        get remoteIp() {
          return held.remoteIp
        },
        release() {
          if (held.ended) return
          if (!held.connected || closed) return end(held)
          held.idle = true
          idle.add(held)
        },
        drop: () => end(held),
      }
    },
    async close() {
      closed = true
      const all = [...byShare.values()].flatMap((ofShare) => [...ofShare])
      for (const held of all) end(held)
      await Promise.all(all.map((held) => held.client.destroy()))
    },
  }
}
