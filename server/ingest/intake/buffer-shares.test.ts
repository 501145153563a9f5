import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BUFFER_LIMITS, BufferShares, type Held } from './intake-body.ts'

const LIMITS = { smallBytes: 10, small: { total: 100, share: 40 }, large: { total: 300, share: 100 } }
const held = (shares: BufferShares, ...owners: string[]): Held => {
  const one: Held = { bytes: 0, owners: [] }
  for (const owner of owners) shares.own(one, owner)
  return one
}

test('a key that fills its share of large bodies is refused, and others are not', () => {
  const shares = new BufferShares(LIMITS)
  const [first, second] = [held(shares, 'key a'), held(shares, 'key a')]
  expect(shares.take(first, 90)).toBe(true)
  expect(shares.take(second, 10)).toBe(true)
  expect(shares.take(second, 30)).toBe(false)
  expect(second.bytes).toBe(10)
  expect(shares.take(held(shares, 'key b'), 90)).toBe(true)
  shares.release(first)
  expect(shares.take(second, 30)).toBe(true)
})

test('a single large body may exceed a share that no other request uses', () => {
  const shares = new BufferShares(LIMITS)
  expect(shares.take(held(shares, 'key a'), 250)).toBe(true)
  expect(shares.take(held(shares, 'key a'), 20)).toBe(false)
  // The total has room for no second one.
  expect(shares.take(held(shares, 'key b'), 100)).toBe(false)
})

test('small bodies have room when the large part is full', () => {
  const shares = new BufferShares(LIMITS)
  for (const key of ['a', 'b', 'c']) expect(shares.take(held(shares, key), 110)).toBe(true)
  expect(shares.take(held(shares, 'd'), 11)).toBe(false)
  expect(shares.take(held(shares, 'd'), 10)).toBe(true)
})

test('of small bodies a key has a share too', () => {
  const shares = new BufferShares(LIMITS)
  const ones = Array.from({ length: 5 }, () => shares.take(held(shares, 'key a', 'address x'), 10))
  expect(ones).toEqual([true, true, true, true, false])
  expect(shares.take(held(shares, 'key b', 'address x'), 10)).toBe(false)
  expect(shares.take(held(shares, 'key b', 'address y'), 10)).toBe(true)
})

test('the counts equal those of the requests that are held, and end at nothing', () => {
  const step = fc.record({ request: fc.nat(9), bytes: fc.nat(60), ends: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const shares = new BufferShares(LIMITS)
      const requests = Array.from({ length: 10 }, (_, n) => held(shares, `key ${n % 3}`, `address ${n % 2}`))
      for (const { request, bytes, ends } of steps) {
        const one = requests[request]
        if (one === undefined) continue
        if (ends) {
          shares.release(one)
          shares.own(one, `key ${request % 3}`)
        } else shares.take(one, bytes)
        const total = requests.reduce((sum, { bytes: held }) => sum + held, 0)
        expect(total).toBeLessThanOrEqual(LIMITS.small.total + LIMITS.large.total)
      }
      for (const one of requests) shares.release(one)
      // Everything is free again.
      expect(shares.take(held(shares, 'key 0'), LIMITS.large.total + LIMITS.smallBytes)).toBe(true)
    }),
  )
})

test('the largest body that an endpoint accepts fits', () => {
  const shares = new BufferShares()
  expect(shares.take(held(shares, 'key a', 'address x', 'organisation o'), 100 * 1024 * 1024)).toBe(true)
  expect(BUFFER_LIMITS.small.total + BUFFER_LIMITS.large.total).toBe(256 * 1024 * 1024)
})
