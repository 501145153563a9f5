import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { projectShard, SHARDS, threadOfShard } from './entry.ts'
import { isInFile } from './file-records.ts'

/**
 * Hands committed rows to the digest thread of the same process, which then need not be read back. For rows of the table
 * it is an offer only: what was not handed over, or got lost with a thread, is read from it. Rows of the file reach digestion
 * only this way; those that got lost are reported, and moved into the table.
 */
export type HandOver = {
  /** Whether the digest thread reads the shard of a project now. Its rows need no notification. */
  takes(projectNumber: number): boolean
  /**
   * Passes a committed row, whose bytes then belong to the digest thread; a row that finds no place is not passed.
   * @param id null when it is not known: the row is read from the table
   */
  pass(row: CommittedRow, id: number | null): void
  /**
   * Keeps a place for a row that is to be written to the file. None while a row of the project before it was not handed over:
   * then the next one goes to the table too, and is read after those.
   */
  hold(projectNumber: number, bytes: number): Place | null
}
/** A place in a digest thread, for a row of the file. */
export type Place = {
  /** @returns false when the thread does not read the shard any more */
  pass(row: CommittedRow & { readonly bytes: ArrayBuffer }, id: number): boolean
  /** Without a row. */
  release(): void
}
/** Hears from the digest threads about rows of the file that were handed over. */
export type FileRowsListener = {
  /** A batch recorded them. */
  settled(ids: readonly number[]): void
  /** No digest thread has them any more, and perhaps no batch recorded them. */
  move(ids: Iterable<number>): void
}
/** From the digest thread: ids of rows of the file. */
export type FileRowsMessage = { readonly settled: readonly number[] } | { readonly lost: readonly number[] }

export type ThreadHandOver = HandOver & {
  /** Ends what was handed over before, and returns the other end for a new digest thread. */
  connect(): HandOverEnd
  /** To be called when the digest thread ended. */
  disconnect(): void
}

export type CommittedRow = {
  readonly projectNumber: number
  readonly receivedAtMs: number
  /** The bodies, then the packed entries; nothing else refers to this memory. Null when the row is not handed over. */
  readonly bytes: ArrayBuffer | null
  readonly bodyBytes: number
}

/** The end that a digest thread gets at its start; `port` must be transferred. */
export type HandOverEnd = { readonly port: MessagePort; readonly shared: SharedArrayBuffer }

export type RowMessage = {
  readonly projectNumber: number
  /** Rows of the project before this one were not handed over. */
  readonly hasGap: boolean
  /** Null: rows of the project after the last one were not handed over. */
  readonly row: {
    readonly id: number
    readonly receivedAtMs: number
    readonly bytes: ArrayBuffer
    readonly bodyBytes: number
  } | null
}

/** Maximum bytes that wait in the digest threads. */
export const MAX_HANDED_BYTES = 24 * 1024 * 1024
/** A project takes at most this multiple of the free bytes, so that a flood in one leaves a quarter to the others. */
const MAX_PER_FREE = 3

/** Projects are counted in this many groups: those of one group share its part. */
const GROUPS = 256
const groupOf = (projectNumber: number): number => projectNumber % GROUPS

/** The numbers that both threads see: per shard whether it is read, the bytes that wait, in all and per group of projects. */
const sharedNumbers = (shared: SharedArrayBuffer) => {
  const numbers = new Int32Array(shared)
  return {
    taken: numbers.subarray(0, SHARDS),
    all: numbers.subarray(SHARDS, SHARDS + 1),
    waiting: numbers.subarray(SHARDS + 1),
  }
}
const SHARED_BYTES = (SHARDS + 1 + GROUPS) * Int32Array.BYTES_PER_ELEMENT
type SharedNumbers = ReturnType<typeof sharedNumbers>

const addWaiting = ({ all, waiting }: SharedNumbers, projectNumber: number, bytes: number): void => {
  Atomics.add(all, 0, bytes)
  Atomics.add(waiting, groupOf(projectNumber), bytes)
}

/**
 * The end of the intake.
 * @param listener of rows of the file, where there is one
 * @param maxBytes for tests, and for one of several threads
 */
export function createHandOver(
  maxBytes = () => MAX_HANDED_BYTES,
  listener: FileRowsListener | null = null,
): ThreadHandOver {
  let port: MessagePort | null = null
  let numbers = sharedNumbers(new SharedArrayBuffer(SHARED_BYTES))
  /** Rows of the file that the thread has. */
  let inThread = new Set<number>()
  /** Projects whose last row was not handed over. */
  const gaps = new Set<number>()

  const disconnect = (): void => {
    port?.close()
    port = null
  }

  const hasPlace = (projectNumber: number, bytes: number): boolean => {
    const free = maxBytes() - Atomics.load(numbers.all, 0)
    return bytes <= free && Atomics.load(numbers.waiting, groupOf(projectNumber)) + bytes <= MAX_PER_FREE * free
  }

  const takes = (projectNumber: number): boolean =>
    port !== null && Atomics.load(numbers.taken, projectShard(projectNumber)) === 1

  const hold = (projectNumber: number, bytes: number): Place | null => {
    const [to, places, ids] = [port, numbers, inThread]
    if (to === null || !takes(projectNumber) || !hasPlace(projectNumber, bytes)) return null
    addWaiting(places, projectNumber, bytes)
    const release = (): void => addWaiting(places, projectNumber, -bytes)
    return {
      release,
      pass(row, id) {
        if (port !== to || !takes(projectNumber)) {
          release()
          return false
        }
        if (isInFile(id)) ids.add(id)
        const { receivedAtMs, bytes, bodyBytes } = row
        const hasGap = gaps.delete(projectNumber)
        const message = { projectNumber, hasGap, row: { id, receivedAtMs, bytes, bodyBytes } } satisfies RowMessage
        to.postMessage(message, [bytes])
        return true
      },
    }
  }

  return {
    takes,
    hold: (projectNumber, bytes) => (gaps.has(projectNumber) ? null : hold(projectNumber, bytes)),
    pass(row, id) {
      if (port === null) return
      const { projectNumber, bytes } = row
      const place = id === null || bytes === null ? null : hold(projectNumber, bytes.byteLength)
      if (place !== null && id !== null && bytes !== null) {
        place.pass({ ...row, bytes }, id)
        return
      }
      // Once: the digest thread then reads from the table until it finds nothing more.
      if (!gaps.has(projectNumber)) port.postMessage({ projectNumber, hasGap: true, row: null } satisfies RowMessage)
      gaps.add(projectNumber)
    },
    connect() {
      // The channel before stays open until its thread closes it, which then has reported what it settled.
      gaps.clear()
      const shared = new SharedArrayBuffer(SHARED_BYTES)
      numbers = sharedNumbers(shared)
      const channel = new MessageChannel()
      const [to, ids] = [channel.port1, new Set<number>()]
      port = to
      inThread = ids
      to.on('message', (message: FileRowsMessage) => {
        const named = 'settled' in message ? message.settled : message.lost
        for (const id of named) ids.delete(id)
        if ('settled' in message) listener?.settled(named)
        else listener?.move(named)
      })
      to.on('close', () => {
        if (port === to) port = null
        listener?.move(ids)
        ids.clear()
      })
      // It must not keep the process alive.
      to.unref()
      return { port: channel.port2, shared }
    },
    disconnect,
  }
}

/** To the digest threads of a process, each of which has shards of its own. */
export type HandOvers = HandOver & {
  /** The hand-over to a thread, which has to connect again when its shards change. */
  readonly to: (thread: number) => ThreadHandOver
  /** Divides the shards among so many threads. */
  divide(threads: number): void
}

/** A hand-over to one thread, until it is divided. @param listener of rows of the file, where there is one */
export function createHandOvers(listener: FileRowsListener | null = null): HandOvers {
  let threads = 1
  const each = new Map<number, ThreadHandOver>()
  const to = (thread: number): ThreadHandOver => {
    const known = each.get(thread) ?? createHandOver(() => MAX_HANDED_BYTES / threads, listener)
    each.set(thread, known)
    return known
  }
  const threadOf = (projectNumber: number): ThreadHandOver => to(threadOfShard(projectShard(projectNumber), threads))
  return {
    to,
    divide: (into) => void (threads = into),
    takes: (projectNumber) => threadOf(projectNumber).takes(projectNumber),
    pass: (row, id) => threadOf(row.projectNumber).pass(row, id),
    hold: (projectNumber, bytes) => threadOf(projectNumber).hold(projectNumber, bytes),
  }
}

/** The end of the digest thread. */
type HandedOver = {
  /** Tells the intake which shards are read. */
  take(shard: number, isTaken: boolean): void
  /** To be called when bytes of a project no longer wait. */
  free(projectNumber: number, bytes: number): void
  /** Rows of the file that a batch recorded. */
  settled(ids: readonly number[]): void
  /** Rows of the file that the thread will not record. */
  lost(ids: readonly number[]): void
  close(): void
}

export function openHandedOver({ port, shared }: HandOverEnd, onMessage: (message: RowMessage) => void): HandedOver {
  const numbers = sharedNumbers(shared)
  port.on('message', onMessage)
  port.unref()
  const send = (message: FileRowsMessage): void => port.postMessage(message)
  return {
    take: (shard, isTaken) => void Atomics.store(numbers.taken, shard, isTaken ? 1 : 0),
    free: (projectNumber, bytes) => addWaiting(numbers, projectNumber, -bytes),
    settled: (ids) => send({ settled: ids }),
    lost: (ids) => send({ lost: ids }),
    close() {
      for (let shard = 0; shard < SHARDS; shard++) Atomics.store(numbers.taken, shard, 0)
      port.close()
    },
  }
}
