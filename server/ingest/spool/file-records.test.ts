import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstIdAt, HEAD_BYTES, newToken, readRecords, recordHead, SEGMENT_BYTES } from './file-records.ts'

const FIRST = firstIdAt(new Date('2026-11-30T00:00:00Z'))

type Payload = { readonly bodies: Uint8Array; readonly entries: Uint8Array; readonly projectNumber: number }
const payloads = fc.array(
  fc.record({
    bodies: fc.uint8Array({ maxLength: 300 }),
    entries: fc.uint8Array({ maxLength: 60 }),
    projectNumber: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  }),
  { maxLength: 8 },
)

const rowsOf = (given: readonly Payload[], firstId: number) =>
  given.map(({ bodies, entries, projectNumber }, index) => ({
    id: firstId + index,
    projectNumber,
    receivedAtMs: 1_764_460_800_000 + index,
    entryCount: index + 1,
    bodyBytes: bodies.length,
    bytes: Buffer.concat([bodies, entries]),
  }))

/** Writes a use of the segment over what is there. @returns where each record ends */
function write(segment: Buffer, rows: ReturnType<typeof rowsOf>): number[] {
  const token = newToken()
  let at = 0
  return rows.map((row) => {
    const record = Buffer.concat([recordHead(token, row), row.bytes])
    record.copy(segment, at)
    at += record.length
    return at
  })
}

test('records come back whole, also where an earlier use wrote before and behind them', () => {
  fc.assert(
    fc.property(payloads, payloads, (earlier, later) => {
      const segment = Buffer.alloc(10_000)
      write(segment, rowsOf(earlier, FIRST))
      const rows = rowsOf(later, FIRST + earlier.length)
      write(segment, rows)
      expect(readRecords(segment)).toEqual(rows.length > 0 ? rows : rowsOf(earlier, FIRST))
    }),
  )
})

test('a torn or changed byte ends the segment before its record, and never invents a row', () => {
  fc.assert(
    fc.property(payloads, fc.nat(), fc.integer({ min: 1, max: 255 }), (given, place, change) => {
      const segment = Buffer.alloc(10_000)
      const rows = rowsOf(given, FIRST)
      const ends = write(segment, rows)
      const at = place % (ends.at(-1) ?? HEAD_BYTES)
      segment[at] = (segment[at] ?? 0) ^ change
      expect(readRecords(segment)).toEqual(rows.slice(0, ends.filter((end) => end <= at).length))
    }),
  )
})

test('an empty segment has no rows, and ids stay exact numbers until the year 2100', () => {
  expect(readRecords(Buffer.alloc(SEGMENT_BYTES))).toEqual([])
  expect(firstIdAt(new Date('2100-01-01T00:00:00Z')) + 1e9).toBeLessThan(Number.MAX_SAFE_INTEGER)
})
