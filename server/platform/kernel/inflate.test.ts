import zlib from 'node:zlib'
import { expect, test } from 'vitest'
import { random } from '#bench/payloads.ts'
import { mutate } from '#test/torture/mutate.ts'
import { readIntakeSamples } from '#test/kit/samples.ts'
import { inflateInto, type InflateCoding } from './inflate.ts'

const api = { gzip: zlib.gunzipSync, deflate: zlib.inflateSync }
const pack = { gzip: zlib.gzipSync, deflate: zlib.deflateSync }
const codings = ['gzip', 'deflate'] as const
const out = Buffer.alloc(1024 * 1024 + 1)

/** The result as text to compare: the bytes, `too much`, or `broken`. */
function ours(raw: Buffer, coding: InflateCoding): string {
  const result = inflateInto(raw, coding, out)
  if ('full' in result) return 'too much'
  return 'broken' in result ? 'broken' : out.toString('latin1', 0, result.end)
}

function theirs(raw: Buffer, coding: InflateCoding): string {
  try {
    return api[coding](raw, { maxOutputLength: out.length - 1 }).toString('latin1')
  } catch (error) {
    return error instanceof RangeError ? 'too much' : 'broken'
  }
}

test.each(codings)('%s: decodes recordings, also mutated ones, like the public functions', (coding) => {
  const rand = random(7)
  const bodies = readIntakeSamples().map(({ body }) => pack[coding](body))
  const seen = { same: 0, broken: 0 }
  for (let round = 0; round < 3_000; round++) {
    const whole = bodies[round % bodies.length]!
    // Several members, bytes after the end, cuts, and single changed bytes.
    const kind = rand()
    const other = bodies[Math.floor(rand() * bodies.length)]!
    const raw =
      round < bodies.length
        ? whole
        : kind < 0.2
          ? Buffer.concat([whole, other])
          : kind < 0.3
            ? Buffer.concat([whole, Buffer.from('\0\0rest')])
            : kind < 0.5
              ? whole.subarray(0, Math.floor(rand() * whole.length))
              : mutate(whole, rand)
    const expected = theirs(raw, coding)
    if (ours(raw, coding) !== expected) expect.fail(`round ${round}: ${raw.toString('base64').slice(0, 2_000)}`)
    if (expected === 'broken') seen.broken++
    else seen.same++
  }
  expect(seen.same).toBeGreaterThan(500)
  expect(seen.broken).toBeGreaterThan(500)
})

test.each(codings)('%s: distinguishes a full output from one that is too small', (coding) => {
  const raw = pack[coding](Buffer.alloc(1_000, 'x'))
  expect(inflateInto(raw, coding, Buffer.alloc(1_001))).toEqual({ end: 1_000 })
  expect(inflateInto(raw, coding, Buffer.alloc(1_000))).toEqual({ full: true })
  expect(inflateInto(raw, coding, Buffer.alloc(10))).toEqual({ full: true })
  expect(ours(raw, coding)).toBe('x'.repeat(1_000))
})
