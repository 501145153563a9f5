import { type IntakeLog, NotStoredError, packRow } from '#server/ingest/spool/intake-log.ts'
import { ID_HEADER, type LogMessage, PART_HEADER, toEntries } from '#server/ingest/spool/nats-log.ts'

type Stored = {
  readonly sequence: number
  readonly id: string
  /** Position and number of the messages that hold one row; empty for a whole one. */
  readonly part: string
  readonly storedAtMs: number
  readonly bytes: Buffer
}

/** An intake log in memory, which can fail and lose as a real one. */
export type MemoryLog = IntakeLog & {
  readonly messages: Stored[]
  /** The next appends fail with it; null ends that. */
  failure: Error | null
  /** Sequences that the replica which answers reads lacks. */
  hidden: ReadonlySet<number>
  /** Forgets the newest messages, as servers that lost what they had not written. */
  loseLast(count: number): void
  /** Begins a new stream. */
  recreate(): void
}

export function memoryLog({
  nowMs,
  maxBytes = 1_000_000,
  maxMessageBytes = 100_000,
}: {
  nowMs: () => number
  maxBytes?: number
  maxMessageBytes?: number
}): MemoryLog {
  const messages: Stored[] = []
  const owners: { orgId: string; projectNumber: number; bytes: number }[] = []
  let [created, next, ids] = [0, 1, 0]
  const bytes = (): number => messages.reduce((sum, one) => sum + one.bytes.length, 0)
  const messageOf = ({ sequence, id, part, storedAtMs, bytes: data }: Stored): LogMessage => ({
    seq: sequence,
    time: new Date(storedAtMs),
    data,
    header: { get: (name) => ({ [ID_HEADER]: id, [PART_HEADER]: part })[name] ?? '' },
  })
  const log: MemoryLog = {
    name: 'memory',
    maxBytes,
    messages,
    failure: null,
    hidden: new Set(),
    figures: { stored: 0, retries: 0, errors: 0 },
    maxRowBytes: () => maxMessageBytes,
    async append(rows) {
      if (log.failure !== null) throw log.failure
      for (const row of rows) {
        const packed = packRow(row)
        if (bytes() + packed.length > maxBytes) throw new NotStoredError('full')
        owners.push({ orgId: row.orgId ?? '-', projectNumber: row.projectNumber, bytes: packed.length })
        const id = ids++
        const count = Math.ceil(packed.length / maxMessageBytes)
        for (let index = 0; index < count; index++)
          messages.push({
            sequence: next++,
            id: count === 1 ? `${id}` : `${id}.${index}`,
            part: count === 1 ? '' : `${index + 1}/${count}`,
            storedAtMs: nowMs(),
            bytes: packed.subarray(index * maxMessageBytes, (index + 1) * maxMessageBytes),
          })
      }
    },
    state: async () => ({
      created: String(created),
      firstSequence: messages[0]?.sequence ?? next,
      lastSequence: next - 1,
      bytes: bytes(),
    }),
    backlogs: async () => owners.map(({ bytes: size, ...owner }) => ({ ...owner, entries: 1, bytes: size })),
    message: async (sequence) => {
      const found = messages.find((one) => one.sequence === sequence)
      return found ?? null
    },
    read: async (after, max) =>
      toEntries(
        messages
          .filter(({ sequence }) => sequence > after && !log.hidden.has(sequence))
          .slice(0, max.rows)
          .map(messageOf),
      ),
    async trim(before) {
      while ((messages[0]?.sequence ?? before) < before) messages.shift()
    },
    setup: async () => ({ serverVersion: '2.15.1', replicas: 3, currentReplicas: 3, maxBytes, faults: [] }),
    close: async () => {},
    loseLast(count) {
      messages.splice(-count)
      next -= count
    },
    recreate() {
      messages.splice(0)
      created++
      next = 1
    },
  }
  return log
}
