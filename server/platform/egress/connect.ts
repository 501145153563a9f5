import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { judgeAddress, type AddressRules } from './judge-address.ts'
import type { OwnAddresses } from './own-addresses.ts'
import type { ResolveName } from './resolve-name.ts'

export type Guard = {
  readonly rules: AddressRules
  readonly own: OwnAddresses
  readonly resolveName: ResolveName
  /** Further trusted certificates, PEM. */
  readonly ca: readonly string[] | undefined
}

export type Target = {
  readonly secure: boolean
  /** A name, or an address without brackets. */
  readonly host: string
  readonly port: number
}

/** The steps of one connection; the caller reads how far it came and how long each step took. */
export type ConnectionSteps = {
  step: 'dns' | 'connect' | 'tls' | 'connected'
  dnsMs: number | null
  connectMs: number | null
  tlsMs: number | null
  remoteIp: string | null
}

/** A rule of this service refuses the target; nothing was sent. */
export class Refusal extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.name = 'Refusal'
    this.code = code
  }
}

/**
 * Resolves a name once, judges all of its addresses and connects to one of exactly these: a second look-up could return
 * another address than the one that was judged.
 * @param signal ends the attempt at any step and destroys its socket
 * @throws Refusal, the error of the resolver, the socket or TLS, or the signal's reason
 */
export async function connectGuarded(
  target: Target,
  guard: Guard,
  steps: ConnectionSteps,
  signal: AbortSignal,
): Promise<Socket> {
  const startedMs = performance.now()
  const addresses = isIP(target.host) === 0 ? await guard.resolveName(target.host) : [target.host]
  steps.dnsMs = performance.now() - startedMs
  signal.throwIfAborted()
  await judgeAll(target, addresses, guard)
  signal.throwIfAborted()

  steps.step = 'connect'
  const connectingMs = performance.now()
  const socket = await connected(
    connectTcp({
      host: target.host,
      port: target.port,
      noDelay: true,
      // Node tries the next address of a name after 250 ms.
      autoSelectFamily: true,
      lookup: (_name, options, callback) => {
        const judged = addresses.map((address) => ({ address, family: isIP(address) }))
        if (options.all === true) callback(null, judged)
        else callback(null, judged[0]?.address ?? '', judged[0]?.family)
      },
    }),
    'connect',
    signal,
  )
  steps.connectMs = performance.now() - connectingMs
  steps.remoteIp = socket.remoteAddress ?? null
  if (!target.secure) {
    steps.step = 'connected'
    return socket
  }

  steps.step = 'tls'
  const securingMs = performance.now()
  const secured = await connected(
    connectTls({
      socket,
      host: target.host,
      // An address is no server name (RFC 6066, 3); the certificate is then compared with `host`.
      servername: isIP(target.host) === 0 ? target.host : '',
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: true,
      ...(guard.ca === undefined ? {} : { ca: [...guard.ca] }),
    }),
    'secureConnect',
    signal,
  )
  steps.tlsMs = performance.now() - securingMs
  steps.step = 'connected'
  return secured
}

async function judgeAll(target: Target, addresses: readonly string[], guard: Guard): Promise<void> {
  const points = isIP(target.host) === 0 ? `${target.host} resolves to` : 'The URL points to'
  if (addresses.length === 0) throw new Refusal('EGRESS_ADDRESS', `${points} no address.`)
  for (const address of addresses) {
    const refusal = judgeAddress(address, guard.rules) ?? (await guard.own.judge(address, target.port))
    // Without the address: it would describe the operator's network.
    if (refusal !== null)
      throw new Refusal('EGRESS_ADDRESS', `${points} ${refusal}, which this installation does not allow.`)
  }
}

function connected<S extends Socket | TLSSocket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<S> {
  const { promise, resolve, reject } = Promise.withResolvers<S>()
  const onAbort = (): void => void socket.destroy()
  const onError = (error: Error): void => {
    socket.destroy()
    reject(error)
  }
  const onClose = (): void => reject(signal.aborted ? (signal.reason as Error) : new Error('the connection was closed'))
  signal.addEventListener('abort', onAbort, { once: true })
  socket.once('error', onError)
  socket.once('close', onClose)
  socket.once(event, () => resolve(socket))
  if (signal.aborted) onAbort()
  return promise.finally(() => {
    signal.removeEventListener('abort', onAbort)
    socket.off('close', onClose)
  })
}
