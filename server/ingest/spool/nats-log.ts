import { setTimeout as delay } from 'node:timers/promises'
import type * as jetstream from '@nats-io/jetstream'
import type { JetStreamClient, JetStreamManager, StoredMsg, StreamConfig } from '@nats-io/jetstream'
import type * as nats from '@nats-io/transport-node'
import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node'
import { errorText } from '../../platform/kernel/errors.ts'
import type { IntakeLogSettings } from '../../config/intake-log.ts'
import type { App } from '../../platform/context/app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import {
  type IntakeLog,
  type LogEntry,
  type LogRow,
  NotConnectedError,
  NotStoredError,
  packRow,
  unpackRow,
} from './intake-log.ts'
import type { OwnBacklog } from './spool.queries.ts'

type Nats = typeof nats
type JetStream = typeof jetstream
type Link = {
  readonly client: Nats
  readonly connection: NatsConnection
  readonly js: JetStreamClient
  readonly manager: JetStreamManager
}

/** An SDK waits for its answer: a leader that was lost is replaced within seconds. */
const APPEND_TIMEOUT_MS = 9_000
const ATTEMPT_MS = 2_000
const REQUEST_MS = 3_000
const RETRY_MS = 100
const RECONNECT_MS = 250
/** A server that answers none of two pings is left for another one. */
const PING_MS = 1_500
/** Far longer than an append is tried: a repeated message is stored once. */
const DUPLICATE_WINDOW_MS = 120_000
/** Size of a message, also where the server takes larger ones: others wait behind it. */
const MAX_MESSAGE_BYTES = 1024 * 1024
/** Subject, headers and what the server adds. */
const MESSAGE_OVERHEAD_BYTES = 4 * 1024
/** Position and number of the messages that hold one row. */
export const PART_HEADER = 'Faultline-Part'
export const ID_HEADER = 'Nats-Msg-Id'
/** `maximum bytes exceeded`, `insufficient resources`, `message size exceeds maximum allowed`. */
const REFUSALS: ReadonlySet<number> = new Set([10_077, 10_023, 10_054])
const STREAM_NOT_FOUND = 10_059
/** Atomic batches of messages, with ids. */
const MIN_SERVER = [2, 12] as const

/**
 * Opens the log in a JetStream stream. Connects, and connects again, in the background.
 * @param keeps whether a missing stream is created, and one of another size is changed
 */
export function openNatsLog(settings: IntakeLogSettings, log: App['log'], { keeps = true } = {}): IntakeLog {
  const { stream, maxBytes } = settings
  const figures = { stored: 0, retries: 0, errors: 0 }
  const closing = new AbortController()
  let link: Link | null = null
  let problem = ''
  const connect = async (): Promise<Link | null> => {
    link = await connectUntil(settings, closing.signal, keeps, (error, attempt) => {
      if (attempt === 0) log.warn({ err: errorText(error) }, 'the intake log cannot be used yet; this is tried again')
      problem = `: ${errorText(error)}`
    })
    if (problem !== '' && link !== null) log.info('the intake log is connected')
    problem = ''
    // It connects again by itself, unless the server says not to.
    void link?.connection.closed().then(() => {
      link = null
      if (!closing.signal.aborted) linking = connect()
    })
    return link
  }
  let linking = connect()
  const linked = (): Link => {
    if (link === null) throw new NotConnectedError(`the intake log is not connected${problem}`)
    return link
  }
  const maxPayload = (): number =>
    Math.min(MAX_MESSAGE_BYTES, link?.connection.info?.max_payload ?? MAX_MESSAGE_BYTES) - MESSAGE_OVERHEAD_BYTES

  const append = async (row: LogRow): Promise<void> => {
    const deadlineMs = performance.now() + APPEND_TIMEOUT_MS
    const bytes = packRow(row)
    const id = newId()
    let mayBeStored = false
    for (;;) {
      const isWhole = bytes.length <= maxPayload()
      const subject = subjectOf(stream, row, Math.min(bytes.length, maxPayload()))
      try {
        const { js, client } = linked()
        if (isWhole) await js.publish(subject, bytes, { msgID: id, timeout: ATTEMPT_MS })
        else await appendParts(js, client, subject, cut(bytes, maxPayload()), () => (mayBeStored = true))
        figures.stored++
        return
      } catch (error) {
        const code = apiCode(error)
        if (isWhole) mayBeStored ||= code === null && !(error instanceof NotStoredError)
        const isRefused = code !== null && REFUSALS.has(code)
        // Once its parts may be there, sending them again could store them twice.
        if (isRefused || (mayBeStored && !isWhole) || performance.now() > deadlineMs || closing.signal.aborted) {
          figures.errors++
          throw mayBeStored ? error : new NotStoredError(errorText(error), { cause: error })
        }
        figures.retries++
        await delay(RETRY_MS)
      }
    }
  }

  /** Messages in order, as one replica has them. */
  const readMessages = async (seq: number, batch: number, bytes: number): Promise<StoredMsg[]> => {
    const messages: StoredMsg[] = []
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => reject(new Error('the intake log does not answer')), REQUEST_MS)
    try {
      await linked().manager.direct.getBatch(stream, {
        seq,
        batch,
        max_bytes: bytes,
        callback: (done, message) => {
          if (done === null) messages.push(message)
          else if (done.err === undefined || /no results|message not found/i.test(done.err.message)) resolve()
          else reject(done.err)
        },
      })
      await promise
    } finally {
      clearTimeout(timer)
    }
    return messages
  }

  return {
    name: stream,
    maxBytes,
    maxRowBytes: maxPayload,
    figures,
    async append(rows) {
      const results = await Promise.allSettled(rows.map(append))
      const failures = results.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
      if (failures.length === 0) return
      const [first] = failures
      const isNoneStored = failures.length === rows.length && failures.every((one) => one instanceof NotStoredError)
      throw isNoneStored
        ? new NotStoredError(errorText(first), { cause: first })
        : new Error(errorText(first), { cause: first })
    },
    async state() {
      const { created, state } = await linked().manager.streams.info(stream)
      return { created, firstSequence: state.first_seq, lastSequence: state.last_seq, bytes: state.bytes }
    },
    async backlogs() {
      const { state } = await linked().manager.streams.info(stream, { subjects_filter: '>' })
      return Object.entries(state.subjects ?? {}).flatMap(([subject, count]) => backlogOf(subject, count) ?? [])
    },
    async message(sequence) {
      const found = sequence < 1 ? null : await linked().manager.streams.getMessage(stream, { seq: sequence })
      return found === null ? null : { id: idOf(found), storedAtMs: found.time.getTime() }
    },
    async read(afterSequence, max) {
      const messages = await readMessages(afterSequence + 1, max.rows, max.bytes)
      const first = partOf(messages[0])
      while (first !== null && messages.length > 0 && messages.length < first.count) {
        const more = await readMessages((messages.at(-1)?.seq ?? 0) + 1, first.count - messages.length, max.bytes)
        if (more.length === 0) break
        messages.push(...more)
      }
      return toEntries(messages)
    },
    async trim(beforeSequence) {
      await linked().manager.streams.purge(stream, { seq: beforeSequence })
    },
    async setup() {
      await Promise.race([linking, delay(REQUEST_MS)])
      const { connection, manager } = linked()
      const { config, cluster } = await manager.streams.info(stream)
      const version = connection.info?.version ?? '0'
      const others = cluster?.replicas ?? []
      return {
        serverVersion: version,
        replicas: config.num_replicas,
        currentReplicas: 1 + others.filter(({ current, offline }) => current && offline !== true).length,
        maxBytes: config.max_bytes,
        faults: [
          ...findFaults(config, version),
          ...(config.max_bytes === maxBytes ? [] : ['its size is not SPOOL_MAX_MB']),
          ...(config.num_replicas === settings.replicas ? [] : ['its replicas are not SPOOL_REPLICAS']),
        ],
      }
    },
    async close() {
      closing.abort()
      await (await linking.catch(() => null))?.connection.close()
    },
  }
}

/** Connects, keeps the stream as the settings say, and tries again until the signal. */
async function connectUntil(
  settings: IntakeLogSettings,
  signal: AbortSignal,
  keeps: boolean,
  onFailure: (error: unknown, attempt: number) => void,
): Promise<Link | null> {
  let connection: NatsConnection | null = null
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      const [client, stream] = await Promise.all([import('@nats-io/transport-node'), import('@nats-io/jetstream')])
      connection ??= await client.connect({ ...connectionOptions(settings, client), timeout: REQUEST_MS })
      const js = stream.jetstream(connection, { timeout: REQUEST_MS })
      const manager = await js.jetstreamManager()
      if (keeps) await keepStream(manager, settings, stream)
      return { client, connection, js, manager }
    } catch (error) {
      // One that its server closed for good is not used again.
      if (connection?.isClosed() === true) connection = null
      onFailure(error, attempt)
      await delay(RECONNECT_MS, undefined, { signal }).catch(() => {})
    }
  }
  await connection?.close()
  return null
}

const connectionOptions = (settings: IntakeLogSettings, client: Nats) => ({
  servers: [...settings.servers],
  name: 'faultline',
  maxReconnectAttempts: -1,
  // A server that starts may not know its users yet.
  ignoreAuthErrorAbort: true,
  reconnectTimeWait: RECONNECT_MS,
  pingInterval: PING_MS,
  ...(settings.user === null ? {} : { user: settings.user, pass: settings.password ?? '' }),
  ...(settings.token === null ? {} : { token: settings.token }),
  ...(settings.credentials === null
    ? {}
    : { authenticator: client.credsAuthenticator(new TextEncoder().encode(settings.credentials)) }),
  ...(settings.isTls ? { tls: settings.ca === null ? {} : { ca: settings.ca } } : {}),
})

/** A full stream refuses; nothing leaves it by age. */
async function keepStream(manager: JetStreamManager, settings: IntakeLogSettings, lib: JetStream): Promise<void> {
  const { stream: name, replicas, maxBytes } = settings
  try {
    const { config } = await manager.streams.info(name)
    if (config.max_bytes !== maxBytes || config.num_replicas !== replicas)
      await manager.streams.update(name, { max_bytes: maxBytes, num_replicas: replicas })
  } catch (error) {
    if (apiCode(error) !== STREAM_NOT_FOUND) throw error
    await manager.streams.add({
      name,
      subjects: [`${name}.>`],
      storage: lib.StorageType.File,
      retention: lib.RetentionPolicy.Limits,
      discard: lib.DiscardPolicy.New,
      num_replicas: replicas,
      max_bytes: maxBytes,
      duplicate_window: DUPLICATE_WINDOW_MS * 1_000_000,
      allow_direct: true,
      allow_atomic: true,
      deny_delete: true,
    })
  }
}

/** Stores messages in one piece, or none of them. @param onCommit called before the message that may store them */
async function appendParts(
  js: JetStreamClient,
  client: Nats,
  subject: string,
  parts: readonly Buffer[],
  onCommit: () => void,
): Promise<void> {
  const id = newId()
  const headersOf = (index: number): MsgHdrs => {
    const headers = client.headers()
    headers.set(ID_HEADER, `${id}.${index}`)
    headers.set(PART_HEADER, `${index + 1}/${parts.length}`)
    return headers
  }
  const end = parts.length - 1
  const batch = await js.startBatch(subject, parts[0], { headers: headersOf(0), timeout: ATTEMPT_MS })
  for (let index = 1; index < end; index++) batch.add(subject, parts[index], { headers: headersOf(index) })
  onCommit()
  // The client does not tell why a server refused a commit: after any failure the row may be stored.
  await batch.commit(subject, parts[end], { headers: headersOf(end), timeout: APPEND_TIMEOUT_MS })
}

function cut(bytes: Buffer, size: number): Buffer[] {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) parts.push(bytes.subarray(at, at + size))
  return parts
}

/** The parts of a message that are read. */
export type LogMessage = Pick<StoredMsg, 'data' | 'seq' | 'time'> & { readonly header: Pick<MsgHdrs, 'get'> }

/** Rows of messages; without a last one whose messages are not all there. One that lacks others of its messages has no row. */
export function toEntries(messages: readonly LogMessage[]): LogEntry[] {
  const entries: LogEntry[] = []
  let open: { readonly first: number; readonly parts: Buffer[] } | null = null
  for (const message of messages) {
    const { data, seq } = message
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    const part = partOf(message)
    if (part === null || part.index === 1) open = { first: seq, parts: [bytes] }
    // The server stores the messages of a row in one piece.
    else if (open !== null && open.parts.length === part.index - 1) open.parts.push(bytes)
    else open = { first: seq, parts: [] }
    if (part !== null && part.index < part.count) continue
    entries.push({
      firstSequence: open.first,
      sequence: seq,
      id: idOf(message),
      storedAtMs: message.time.getTime(),
      row: unpackRow(open.parts.length === 1 ? bytes : Buffer.concat(open.parts)),
    })
    open = null
  }
  return entries
}

function partOf(message: LogMessage | undefined): { readonly index: number; readonly count: number } | null {
  const [, index, count] = /^(\d{1,4})\/(\d{1,4})$/.exec(message?.header.get(PART_HEADER) ?? '') ?? []
  return index === undefined || count === undefined ? null : { index: Number(index), count: Number(count) }
}

const idOf = ({ header }: LogMessage): string | null => header.get(ID_HEADER) || null

/** Whose a message is and its size as a power of two, so that the server can count the shares. */
const subjectOf = (stream: string, { orgId, projectNumber }: LogRow, bytes: number): string =>
  `${stream}.${orgId ?? '-'}.${projectNumber}.${Math.ceil(Math.log2(bytes))}`

function backlogOf(subject: string, count: number): OwnBacklog | null {
  const [, orgId, project, size] = subject.split('.')
  if (orgId === undefined || project === undefined || size === undefined) return null
  // Sizes are between one half and the whole of the power.
  return { projectNumber: Number(project), orgId, entries: count, bytes: count * 0.75 * 2 ** Number(size) }
}

/** Settings of a stream that lose what it acknowledged, or that moving needs. */
function findFaults(config: StreamConfig, serverVersion: string): string[] {
  const [major = 0, minor = 0] = serverVersion.split('.').map(Number)
  const persistMode: unknown = Reflect.get(config, 'persist_mode')
  const faults: readonly [boolean, string][] = [
    [
      major < MIN_SERVER[0] || (major === MIN_SERVER[0] && minor < MIN_SERVER[1]),
      `its server is ${serverVersion}, and ${MIN_SERVER.join('.')} is needed`,
    ],
    [config.storage !== 'file', 'it is in memory'],
    [config.discard !== 'new', 'it discards old messages when it is full'],
    [config.max_age > 0, 'it discards messages by age'],
    [config.max_msgs > 0 || config.max_msgs_per_subject > 0, 'its number of messages is limited'],
    [config.retention !== 'limits', `its retention is ${config.retention}`],
    [!config.allow_direct, 'it does not allow direct reads'],
    [config.allow_atomic !== true, 'it does not allow atomic batches'],
    [persistMode === 'async', 'it acknowledges before it writes'],
  ]
  return faults.filter(([isFault]) => isFault).map(([, text]) => text)
}

/** The code of a refusal of JetStream; null for every other failure. */
const apiCode = (error: unknown): number | null =>
  error instanceof Error && 'apiError' in error && 'code' in error && typeof error.code === 'number' ? error.code : null
