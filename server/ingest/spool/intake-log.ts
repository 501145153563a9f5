import type { NewRow, OwnBacklog } from './spool.queries.ts'
import { spoolPart } from './entry.ts'

/** A row of the spool on its way through the log. */
export type LogRow = NewRow & {
  /** Whose share of the log it uses; null when it is not known. */
  readonly orgId: string | null
}

/** A message of the log, or the messages that hold one large row. */
export type LogEntry = {
  /** The sequences of its first and its last message. */
  readonly firstSequence: number
  readonly sequence: number
  readonly id: string | null
  /** When the log stored it, on the clock of its server. */
  readonly storedAtMs: number
  /** Null when it is none of ours. */
  readonly row: NewRow | null
}

export type LogState = {
  /** Identifies the stream: one that was made again counts from 1. */
  readonly created: string
  readonly firstSequence: number
  readonly lastSequence: number
  readonly bytes: number
}

/** How a stream is set up, for `faultline doctor`. */
export type LogSetup = {
  readonly serverVersion: string
  readonly replicas: number
  /** Replicas that are up and have everything. */
  readonly currentReplicas: number
  readonly maxBytes: number
  /** Settings that make the stream lose what it acknowledged, in words. */
  readonly faults: readonly string[]
}

/** A replicated log in front of the spool, which takes requests while the database is away. */
export type IntakeLog = {
  /** The name of the stream. */
  readonly name: string
  readonly maxBytes: number
  /** Bytes of a row that fit into one message. */
  maxRowBytes(): number
  /**
   * Stores rows; resolves when the log acknowledged all of them.
   * @throws NotStoredError when none is stored; another error when some may be
   */
  append(rows: readonly LogRow[]): Promise<void>
  state(): Promise<LogState>
  /** The contents of the log by project; sizes are estimates. */
  backlogs(): Promise<readonly OwnBacklog[]>
  /** A message; null when the log does not hold it. */
  message(sequence: number): Promise<Pick<LogEntry, 'id' | 'storedAtMs'> | null>
  /** The next entries in order, at least one when there is one. They may leave out what the replica that answers lacks. */
  read(afterSequence: number, max: { readonly rows: number; readonly bytes: number }): Promise<LogEntry[]>
  /** Deletes all messages before a sequence. */
  trim(beforeSequence: number): Promise<void>
  setup(): Promise<LogSetup>
  /** Since the start. */
  readonly figures: { stored: number; retries: number; errors: number }
  close(): Promise<void>
}

/** The log refused, or was not there: nothing was stored. */
export class NotStoredError extends Error {}

/** There is no connection yet, or none any more; the process that opened the log reports why. */
export class NotConnectedError extends NotStoredError {}

const HEAD = /^1 (\d{1,10}) (\d{1,16}) (\d{1,7}) (\d{1,10})\n/
const MAX_HEAD_BYTES = 64

/** The bytes of a row in the log: a line of numbers, the packed entries, the bodies. */
export function packRow({ projectNumber, receivedAt, entryCount, entries, body }: NewRow): Buffer {
  const head = `1 ${projectNumber} ${receivedAt.getTime()} ${entryCount} ${entries.length}\n`
  return Buffer.concat([Buffer.from(head), entries, body])
}

/** The reverse of {@link packRow}; null for bytes that are none of ours. Shares memory with them. */
export function unpackRow(bytes: Buffer): NewRow | null {
  const head = HEAD.exec(bytes.toString('latin1', 0, MAX_HEAD_BYTES))
  if (head === null) return null
  const [projectNumber = 0, receivedAtMs = 0, entryCount = 0, entriesBytes = 0] = head.slice(1).map(Number)
  const start = head[0].length
  if (projectNumber > 2 ** 31 - 1 || start + entriesBytes > bytes.length) return null
  return {
    part: spoolPart(projectNumber),
    projectNumber,
    receivedAt: new Date(receivedAtMs),
    entryCount,
    entries: bytes.subarray(start, start + entriesBytes),
    body: bytes.subarray(start + entriesBytes),
  }
}
