import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { projectShard, SHARDS, threadOfShard } from './entry.ts'

/**
 * Hands committed rows to the digest thread of the same process, which then need not be read back. It is an offer only:
 * the table holds every row, and what was not handed over, or got lost with a thread, is read from it.
 */
export type HandOver = {
  /** Whether the digest thread reads the shard of a project now. Its rows need no notification. */
  takes(projectNumber: number): boolean
  /**
   * Passes a committed row, whose bytes then belong to the digest thread; a row that finds no place is not passed.
   * @param id null when it is not known: the row is read from the table
   */
  pass(row: CommittedRow, id: number | null): void
}
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

/** The end of the intake. @param maxBytes for tests, and for one of several threads */
export function createHandOver(maxBytes = () => MAX_HANDED_BYTES): ThreadHandOver {
  let port: MessagePort | null = null
  let { taken, all, waiting } = sharedNumbers(new SharedArrayBuffer(SHARED_BYTES))
  /** Projects whose last row was not handed over. */
  const gaps = new Set<number>()

  const disconnect = (): void => {
    port?.close()
    port = null
  }

  const hasPlace = (projectNumber: number, bytes: number): boolean => {
    const free = maxBytes() - Atomics.load(all, 0)
    return bytes <= free && Atomics.load(waiting, groupOf(projectNumber)) + bytes <= MAX_PER_FREE * free
  }

  const takes = (projectNumber: number): boolean =>
    port !== null && Atomics.load(taken, projectShard(projectNumber)) === 1

  return {
    takes,
    pass({ projectNumber, receivedAtMs, bytes, bodyBytes }, id) {
      if (port === null) return
      if (id === null || bytes === null || !takes(projectNumber) || !hasPlace(projectNumber, bytes.byteLength)) {
        // Once: the digest thread then reads from the table until it finds nothing more.
        if (!gaps.has(projectNumber)) port.postMessage({ projectNumber, hasGap: true, row: null } satisfies RowMessage)
        gaps.add(projectNumber)
        return
      }
      Atomics.add(all, 0, bytes.byteLength)
      Atomics.add(waiting, groupOf(projectNumber), bytes.byteLength)
      const row = { id, receivedAtMs, bytes, bodyBytes }
      const hasGap = gaps.delete(projectNumber)
      port.postMessage({ projectNumber, hasGap, row } satisfies RowMessage, [bytes])
    },
    connect() {
      disconnect()
      gaps.clear()
      const shared = new SharedArrayBuffer(SHARED_BYTES)
      ;({ taken, all, waiting } = sharedNumbers(shared))
      const channel = new MessageChannel()
      port = channel.port1
      // It must not keep the process alive.
      port.unref()
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

/** A hand-over to one thread, until it is divided. */
export function createHandOvers(): HandOvers {
  let threads = 1
  const each = new Map<number, ThreadHandOver>()
  const to = (thread: number): ThreadHandOver => {
    const known = each.get(thread) ?? createHandOver(() => MAX_HANDED_BYTES / threads)
    each.set(thread, known)
    return known
  }
  const threadOf = (projectNumber: number): ThreadHandOver => to(threadOfShard(projectShard(projectNumber), threads))
  return {
    to,
    divide: (into) => void (threads = into),
    takes: (projectNumber) => threadOf(projectNumber).takes(projectNumber),
    pass: (row, id) => threadOf(row.projectNumber).pass(row, id),
  }
}

/** The end of the digest thread. */
type HandedOver = {
  /** Tells the intake which shards are read. */
  take(shard: number, isTaken: boolean): void
  /** To be called when bytes of a project no longer wait. */
  free(projectNumber: number, bytes: number): void
  close(): void
}

export function openHandedOver({ port, shared }: HandOverEnd, onMessage: (message: RowMessage) => void): HandedOver {
  const { taken, all, waiting } = sharedNumbers(shared)
  port.on('message', onMessage)
  port.unref()
  return {
    take: (shard, isTaken) => void Atomics.store(taken, shard, isTaken ? 1 : 0),
    free(projectNumber, bytes) {
      Atomics.sub(all, 0, bytes)
      Atomics.sub(waiting, groupOf(projectNumber), bytes)
    },
    close() {
      for (let shard = 0; shard < SHARDS; shard++) Atomics.store(taken, shard, 0)
      port.close()
    },
  }
}
