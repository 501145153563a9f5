import { connect, type Socket } from 'node:net'
import { randomBytes } from 'node:crypto'
import { type BenchEvent, type Coding, EventHead } from './payloads.ts'

/**
 * A load generator that leaves the processor to the service: bare keep-alive sockets, prebuilt requests, one response
 * parsed per packet. Each event has a new id.
 */

export type LoadOptions = {
  /** Base URL of the service. */
  readonly url: string
  readonly projectNumber: number
  readonly publicKey: string
  readonly events: readonly BenchEvent[]
  /** The coding the events were made with; gzip where it is not given. */
  readonly coding?: Coding
  /** Whether each body keeps its user, release and value; by default they differ with each request. */
  readonly isFixed?: boolean
  readonly connections: number
  /**
   * Requests that a connection sends in one packet, without waiting for the answers between; only without a rate. Default 1.
   * The service takes 17.
   */
  readonly pipelined?: number
  /**
   * Requests per second, sent without waiting for earlier responses; a function is called repeatedly; null: as fast as
   * responses arrive.
   */
  readonly ratePerSecond: number | (() => number) | null
  readonly durationMs: number
  /** Called with every id that was acknowledged. */
  readonly onAccepted?: (id: string) => void
  /** Called with every response and the milliseconds since its request was sent; status 0: the connection broke. */
  readonly onAnswer?: (status: number, ms: number) => void
  /** Stops after so many requests; null: by time alone. */
  readonly maxRequests?: number | null
  /** Called repeatedly: whether to stop early. */
  readonly isOver?: () => boolean
}

export type LoadResult = {
  readonly sent: number
  /** Responses by status; 0 counts requests whose connection broke. */
  readonly answers: ReadonlyMap<number, number>
  readonly accepted: number
  /** From the first request to the last response. */
  readonly elapsedMs: number
  /** Latency of acknowledged requests, in milliseconds; at a fixed rate from the time the request was due. */
  readonly latency: Histogram
}

/** Sends load and waits for the last response. */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const { hostname, port } = new URL(options.url)
  const requests = new RequestFactory(options)
  const latency = new Histogram()
  const answers = new Map<number, number>()
  let sent = 0
  let accepted = 0
  const started = performance.now()
  let lastAnswerMs = started
  const isOver = (): boolean =>
    performance.now() - started >= options.durationMs ||
    (options.maxRequests != null && sent >= options.maxRequests) ||
    options.isOver?.() === true

  const idle: Connection[] = []
  /** Due times of requests that found no idle connection. */
  const due: number[] = []
  const all: Connection[] = []

  await Promise.all(
    Array.from({ length: options.connections }, async () => {
      const connection = await Connection.open(hostname, Number(port), (status, id, sinceMs) => {
        lastAnswerMs = performance.now()
        answers.set(status, (answers.get(status) ?? 0) + 1)
        options.onAnswer?.(status, lastAnswerMs - connection.sentMs)
        if (status === 200) {
          accepted++
          latency.add(lastAnswerMs - sinceMs)
          options.onAccepted?.(id)
        }
        if (!connection.isBusy) next(connection)
      })
      all.push(connection)
    }),
  )

  const { pipelined = 1 } = options
  const send = (connection: Connection, sinceMs: number): void => {
    sent += pipelined
    connection.send(requests, pipelined, sinceMs)
  }
  const next = (connection: Connection): void => {
    if (connection.isBroken) return
    if (options.ratePerSecond === null) {
      if (!isOver()) send(connection, performance.now())
      return
    }
    const sinceMs = due.shift()
    if (sinceMs === undefined) idle.push(connection)
    else send(connection, sinceMs)
  }

  if (options.ratePerSecond === null) {
    for (const connection of all) next(connection)
  } else {
    idle.push(...all)
    const { ratePerSecond } = options
    const rate = typeof ratePerSecond === 'function' ? ratePerSecond : () => ratePerSecond
    let nextDue = performance.now()
    await new Promise<void>((resolve) => {
      const tick = (): void => {
        if (isOver()) return resolve()
        const everyMs = 1000 / rate()
        for (const now = performance.now(); nextDue <= now; nextDue += everyMs) {
          // They take turns: the service closes those that are idle for a minute, perhaps while a request is on its way.
          let connection = idle.shift()
          while (connection?.isBroken === true) connection = idle.shift()
          if (connection === undefined) due.push(nextDue)
          else send(connection, nextDue)
        }
        setTimeout(tick, 1)
      }
      tick()
    })
    due.length = 0
  }
  // The last responses, for at most 15 s; what is still missing counts as 0.
  const deadline = (options.ratePerSecond === null ? started + options.durationMs : performance.now()) + 15_000
  while (all.some((connection) => connection.isBusy) && performance.now() < deadline) await pause(5)
  while (options.ratePerSecond === null && !isOver() && all.some((connection) => !connection.isBroken)) await pause(20)
  while (all.some((connection) => connection.isBusy) && performance.now() < deadline) await pause(5)
  for (const connection of all) connection.close()
  return { sent, answers, accepted, elapsedMs: lastAnswerMs - started, latency }
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })

/** Prebuilt requests: only the start of the body is written again for each. */
class RequestFactory {
  readonly #start: EventHead
  readonly #events: readonly { head: Buffer; rest: Buffer; release: number | undefined }[]
  readonly #run = randomBytes(8).toString('hex')
  #count = 0
  head: Buffer
  rest: Buffer

  constructor({ url, projectNumber, publicKey, events, coding = 'gzip', isFixed = false }: LoadOptions) {
    const { host } = new URL(url)
    this.#start = new EventHead(coding, 0, isFixed ? events.length : undefined)
    const encoding = coding === 'gzip' ? 'content-encoding: gzip\r\n' : ''
    this.#events = events.map(({ rest, release }) => ({
      head: Buffer.from(
        `POST /api/${projectNumber}/envelope/?sentry_version=7&sentry_key=${publicKey}&sentry_client=sentry.javascript.node%2F11.12.0 HTTP/1.1\r\n` +
          `host: ${host}\r\nuser-agent: sentry.javascript.node/11.12.0\r\n${encoding}content-length: ${this.#start.bytes.length + rest.length}\r\n\r\n`,
      ),
      rest,
      release,
    }))
    const [first] = this.#events
    if (first === undefined) throw new Error('no events to send')
    this.head = first.head
    this.rest = first.rest
  }

  /** Start of the body; overwritten by {@link next}. */
  get start(): Buffer {
    return this.#start.bytes
  }

  /** Advances to the next request and returns its id. */
  next(): string {
    // A prime step visits all issues before their variants repeat.
    const event = this.#events[(this.#count * 37) % this.#events.length]
    if (event !== undefined) {
      this.head = event.head
      this.rest = event.rest
    }
    this.#count++
    const id = this.#run + this.#count.toString(16).padStart(16, '0')
    this.#start.next(id, event?.release)
    return id
  }
}

const END_OF_BODY = '}'.charCodeAt(0)
const START_OF_ANSWER = 'HTTP/1.1 '

class Connection {
  readonly #socket: Socket
  readonly #onAnswer: (status: number, id: string, sinceMs: number) => void
  /** Ids of the requests whose answers are missing, the oldest first. */
  #ids: string[] = []
  #sinceMs = 0
  sentMs = 0
  #partial: Buffer | null = null
  isBroken = false

  private constructor(socket: Socket, onAnswer: (status: number, id: string, sinceMs: number) => void) {
    this.#socket = socket
    this.#onAnswer = onAnswer
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('close', () => this.#broke())
    socket.on('error', () => this.#broke())
  }

  static open(
    host: string,
    port: number,
    onAnswer: (status: number, id: string, sinceMs: number) => void,
  ): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, noDelay: true }, () => {
        socket.off('error', reject)
        resolve(new Connection(socket, onAnswer))
      })
      socket.once('error', reject)
    })
  }

  get isBusy(): boolean {
    return this.#ids.length > 0
  }

  send(requests: RequestFactory, count: number, sinceMs: number): void {
    this.#sinceMs = sinceMs
    this.sentMs = performance.now()
    const packets: Buffer[] = []
    for (let at = 0; at < count; at++) {
      this.#ids.push(requests.next())
      // One packet, and a copy: the header's bytes are reused for the next request.
      packets.push(Buffer.concat([requests.head, requests.start, requests.rest]))
    }
    const [only] = packets
    this.#socket.write(only !== undefined && count === 1 ? only : Buffer.concat(packets))
  }

  /** Responses end in `}`: all of them are JSON objects. */
  #receive(chunk: Buffer): void {
    if (!this.isBusy) return
    const answers = this.#partial === null ? chunk : Buffer.concat([this.#partial, chunk])
    if (answers[answers.length - 1] !== END_OF_BODY) {
      this.#partial = answers
      return
    }
    this.#partial = null
    for (let at = 0; at !== -1; at = answers.indexOf(START_OF_ANSWER, at + 1))
      this.#onAnswer(Number(answers.toString('latin1', at + 9, at + 12)), this.#ids.shift() ?? '', this.#sinceMs)
  }

  #broke(): void {
    if (this.isBroken) return
    this.isBroken = true
    for (const id of this.#ids.splice(0)) this.#onAnswer(0, id, this.#sinceMs)
  }

  close(): void {
    this.#socket.destroy()
  }
}

/** Latencies in buckets of 2 % width: percentiles without keeping every value. */
export class Histogram {
  static readonly #smallestMs = 0.01
  static readonly #growth = Math.log(1.02)
  readonly #counts: number[] = []
  count = 0

  add(ms: number): void {
    const bucket = Math.max(0, Math.ceil(Math.log(ms / Histogram.#smallestMs) / Histogram.#growth))
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.count++
  }

  /** Upper bound of the bucket the percentile falls into, milliseconds; 0 when nothing was added. */
  percentile(p: number): number {
    let left = Math.ceil((p / 100) * this.count)
    for (let bucket = 0; bucket < this.#counts.length; bucket++) {
      left -= this.#counts[bucket] ?? 0
      if (left <= 0) return Histogram.#smallestMs * Math.exp(bucket * Histogram.#growth)
    }
    return 0
  }
}
