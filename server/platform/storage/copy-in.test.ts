import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CopyRows } from './copy-in.ts'

/** The bytes of the one field that `write` adds. */
function field(write: (rows: CopyRows) => void): Buffer {
  const rows = new CopyRows()
  write(rows)
  const stream = Buffer.concat(rows.finish())
  return stream.subarray(19 + 4, -2)
}

test('whole numbers are eight bytes, as PostgreSQL stores them', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), (value) => {
      expect(field((rows) => rows.int64(value)).readBigInt64BE()).toBe(BigInt(value))
    }),
  )
  for (const value of [0, -1, 2 ** 32, -(2 ** 32), 2 ** 31, 2 ** 53 - 1, 1 - 2 ** 53])
    expect(field((rows) => rows.int64(value)).readBigInt64BE()).toBe(BigInt(value))
  expect(() => new CopyRows().int64(2 ** 53)).toThrow(RangeError)
})

test('times are microseconds since 2000, in any century', () => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), (time) => {
      const micros = BigInt(time.getTime() - Date.UTC(2000, 0)) * 1000n
      expect(field((rows) => rows.time(time)).readBigInt64BE()).toBe(micros)
    }),
  )
  expect(() => new CopyRows().time(new Date(Number.NaN))).toThrow(RangeError)
})

test('days are counted from 2000', () => {
  const rows = new CopyRows()
  for (const day of ['2000-01-01', '2000-01-02', '2000-01-02', '1999-12-31', '2026-11-20']) rows.day(day)
  const stream = Buffer.concat(rows.finish())
  expect([0, 1, 2, 3, 4].map((index) => stream.readInt32BE(19 + index * 8 + 4))).toEqual([0, 1, 1, -1, 9820])
})
