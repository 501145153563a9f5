import { type IntakeLog, type LogEntry, NotStoredError, packRow, unpackRow } from '#server/ingest/spool/intake-log.ts'

type Stored = { readonly sequence: number; readonly id: string; readonly storedAtMs: number; readonly bytes: Buffer }

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

export function memoryLog({ nowMs, maxBytes = 1_000_000 }: { nowMs: () => number; maxBytes?: number }): MemoryLog {
  const messages: Stored[] = []
  const owners: { orgId: string; projectNumber: number; bytes: number }[] = []
  let [created, next, ids] = [0, 1, 0]
  const bytes = (): number => messages.reduce((sum, one) => sum + one.bytes.length, 0)
  const entryOf = ({ sequence, id, storedAtMs, bytes: packed }: Stored): LogEntry => ({
    firstSequence: sequence,
    sequence,
    id,
    storedAtMs,
    row: unpackRow(packed),
  })
  const log: MemoryLog = {
    name: 'memory',
    maxBytes,
    messages,
    failure: null,
    hidden: new Set(),
    figures: { stored: 0, retries: 0, errors: 0 },
    maxRowBytes: () => 100_000,
    async append(rows) {
      if (log.failure !== null) throw log.failure
      for (const row of rows) {
        const packed = packRow(row)
        if (bytes() + packed.length > maxBytes) throw new NotStoredError('full')
        owners.push({ orgId: row.orgId ?? '-', projectNumber: row.projectNumber, bytes: packed.length })
        messages.push({ sequence: next++, id: `${ids++}`, storedAtMs: nowMs(), bytes: packed })
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
      return found === undefined ? null : entryOf(found)
    },
    read: async (after, max) =>
      messages
        .filter(({ sequence }) => sequence > after && !log.hidden.has(sequence))
        .slice(0, max.rows)
        .map(entryOf),
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
