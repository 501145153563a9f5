import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { SecureVersion } from 'node:tls'

/** A request as it arrived. */
export type ReceivedRequest = {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Names as sent, each followed by its value. */
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  /** When the header lines were complete, on the clock of `Date.now()`, with fractions. */
  readonly receivedAtMs: number
}

/** How the receiver answers one request. A number is that status without a body. */
export type Answer =
  | number
  | {
      /** Default 200. */
      readonly status?: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string | Buffer
      /** So many bytes instead of `body`. */
      readonly bodySizeBytes?: number
      /** Waits before the header line. */
      readonly delayMs?: number
      /** Sends the header lines immediately, then one byte of the body in each interval. */
      readonly dripMs?: number
    }
  | {
      /**
       * `hang` sends nothing and keeps the connection, `hang-body` sends the header lines of a 200 and keeps it,
       * `reset` ends it with a RST, `close` with a FIN.
       */
      readonly fault: 'hang' | 'hang-body' | 'reset' | 'close'
      readonly delayMs?: number
    }
  | {
      /** These bytes instead of an HTTP response; the connection is closed behind them. */
      readonly raw: string | Buffer
      /** One byte in each interval. */
      readonly dripMs?: number
    }

export type ReceiverOptions = {
  /** Called when the body is complete. Default: 200 for every request. */
  readonly respond?: (request: ReceivedRequest) => Answer | Promise<Answer>
  /** Default `127.0.0.1`. */
  readonly host?: string
  readonly tls?: {
    readonly key: string
    readonly cert: string
    readonly minVersion?: SecureVersion
    readonly maxVersion?: SecureVersion
    readonly ciphers?: string
  }
  /** False: `requests` stays empty, for measurements. */
  readonly keepRequests?: boolean
}

export type Receiver = {
  /** `http://127.0.0.1:<port>`, without a path. */
  readonly url: string
  readonly port: number
  /** In order of arrival of their last byte. */
  readonly requests: ReceivedRequest[]
  /** Connections accepted so far. */
  readonly connections: () => number
  /** Connections open now. */
  readonly openConnections: () => number
  /** Ends all connections. */
  close(): Promise<void>
  /** It then answers as long as the process runs, and does not keep it alive. */
  unref(): void
}

/** A local HTTP server that records what it receives and answers each request as `respond` says: the receiving side of a webhook. */
export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const host = options.host ?? '127.0.0.1'
  const requests: ReceivedRequest[] = []
  const sockets = new Set<Socket>()
  const timers = new Set<NodeJS.Timeout>()
  let accepted = 0

  const later = (work: () => void, delayMs: number): void => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      work()
    }, delayMs)
    timers.add(timer)
  }

  const drip = (bytes: Buffer, dripMs: number, write: (byte: Buffer) => void, end: () => void): void => {
    if (bytes.length === 0) return end()
    write(bytes.subarray(0, 1))
    later(() => drip(bytes.subarray(1), dripMs, write, end), dripMs)
  }

  const send = (answer: Answer, response: ServerResponse): void => {
    const socket = response.socket
    if (socket === null) return
    if (typeof answer === 'number') {
      response.writeHead(answer).end()
    } else if ('fault' in answer) {
      // Below TLS, where only a TCP socket can send a RST.
      if (answer.fault === 'reset')
        for (const tcp of sockets) if (tcp.remotePort === socket.remotePort) tcp.resetAndDestroy()
      if (answer.fault === 'close') socket.end()
      if (answer.fault === 'hang-body') response.writeHead(200, { 'content-length': '10' }).flushHeaders()
    } else if ('raw' in answer) {
      const bytes = Buffer.from(answer.raw)
      if (answer.dripMs === undefined) socket.end(bytes)
      else
        drip(
          bytes,
          answer.dripMs,
          (byte) => socket.write(byte),
          () => socket.end(),
        )
    } else {
      const body = answer.bodySizeBytes === undefined ? (answer.body ?? '') : Buffer.alloc(answer.bodySizeBytes, 'x')
      response.writeHead(answer.status ?? 200, answer.headers)
      if (answer.dripMs === undefined) {
        response.end(body)
      } else {
        response.flushHeaders()
        drip(
          Buffer.from(body),
          answer.dripMs,
          (byte) => response.write(byte),
          () => response.end(),
        )
      }
    }
  }

  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const receivedAtMs = performance.timeOrigin + performance.now()
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const received: ReceivedRequest = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(parts),
        receivedAtMs,
      }
      if (options.keepRequests !== false) requests.push(received)
      const reply = (answer: Answer): void => {
        const delayMs = typeof answer === 'object' && 'delayMs' in answer ? (answer.delayMs ?? 0) : 0
        if (delayMs > 0) later(() => send(answer, response), delayMs)
        else send(answer, response)
      }
      const answer = options.respond?.(received) ?? 200
      if (answer instanceof Promise) void answer.then(reply, () => reply(500))
      else reply(answer)
    })
  }

  const server = options.tls === undefined ? createServer(onRequest) : createTlsServer(options.tls, onRequest)
  // The other end decides how long a connection stays.
  server.keepAliveTimeout = 0
  server.on('connection', (socket: Socket) => {
    accepted += 1
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
  })
  // A client that refuses our certificate.
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  const scheme = options.tls === undefined ? 'http' : 'https'
  return {
    url: `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    requests,
    connections: () => accepted,
    openConnections: () => sockets.size,
    unref: () => void server.unref(),
    async close() {
      for (const timer of timers) clearTimeout(timer)
      const closed = new Promise((resolve) => {
        server.close(resolve)
      })
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
