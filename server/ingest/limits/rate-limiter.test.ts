import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRateLimiter } from './rate-limiter.ts'

function limiterAt(scale = 1, loopbackExempt = false) {
  let ms = 1_000_000
  const limiter = createRateLimiter({ scale, loopbackExempt, nowMs: () => ms })
  return { limiter, advance: (by: number) => (ms += by) }
}

describe('a key and category', () => {
  test('may send 1,000 in 10 s and 3,000 in a minute; a refusal says how many seconds to wait', () => {
    const { limiter, advance } = limiterAt()
    const takeMany = (count: number) =>
      Array.from({ length: count }, () => limiter.takeItem('k', 'error')).filter((wait) => wait === 0).length
    expect(takeMany(1_500)).toBe(1_000)
    expect(limiter.takeItem('k', 'error')).toBe(10)
    advance(4_000)
    expect(limiter.takeItem('k', 'error')).toBe(6)
    advance(6_000)
    expect(takeMany(1_500)).toBe(1_000)
    advance(10_000)
    expect(takeMany(1_500)).toBe(1_000)
    advance(10_000)
    expect(takeMany(1)).toBe(0)
    expect(limiter.takeItem('k', 'error')).toBe(30)
    advance(30_000)
    expect(takeMany(1_500)).toBe(1_000)
  })

  test('a container counts by its entries and passes whole while there is room for one; later items wait longer', () => {
    const { limiter, advance } = limiterAt(0.1)
    expect(limiter.takeItem('k', 'log_item', null, 999)).toBe(0)
    expect(limiter.takeItem('k', 'log_item', null, 999)).toBe(0)
    // Twice as much as ten seconds allow: nothing more until the first ten seconds are out of both windows.
    expect(limiter.waitOf('k', 'log_item')).toBe(10)
    expect(limiter.fillOf('k', 'log_item')).toBeCloseTo(1.998)
    advance(10_000)
    expect(limiter.takeItem('k', 'log_item', null, 1_500)).toBe(0)
    expect(limiter.takeItem('k', 'log_item')).toBe(50)
  })

  test('limits apply again after a minute without items', () => {
    const { limiter, advance } = limiterAt(0.003)
    limiter.takeItem('k', 'error')
    advance(120_000)
    expect([1, 2, 3, 4].map(() => limiter.takeItem('k', 'error'))).toEqual([0, 0, 0, 10])
  })

  test('usage of other processes counts, for keys and addresses', () => {
    const taken: [string, number][] = []
    const at = { scale: 0.01, loopbackExempt: false, nowMs: () => 0 }
    const one = createRateLimiter({ ...at, onTaken: (name, quantity) => void taken.push([name, quantity]) })
    const other = createRateLimiter(at)
    for (let i = 0; i < 20; i++) one.takeItem('k', 'error')
    for (let i = 0; i < 200; i++) one.takeAddress('2001:db8::1')
    // Refused quantities are not reported.
    expect(taken.filter(([name]) => name === 'k/error')).toHaveLength(10)
    expect(taken).toHaveLength(130)
    for (const [name, quantity] of taken) other.addForeign(name, quantity)
    expect(other.takeItem('k', 'error')).toBe(10)
    expect(other.takeAddress('2001:db8::2')).toBeGreaterThan(0)
    expect(other.takeAddress('2001:db8:0:1::2')).toBe(0)
  })

  test('the limit of one does not affect others; sessions have twenty times as much, client reports no limit', () => {
    const { limiter } = limiterAt(0.001)
    expect([1, 2, 3, 4].map(() => limiter.takeItem('k', 'error') > 0)).toEqual([false, true, true, true])
    expect(limiter.takeItem('k', 'transaction')).toBe(0)
    expect(limiter.takeItem('other', 'error')).toBe(0)
    expect(
      Array.from({ length: 30 }, () => limiter.takeItem('k', 'session')).filter((wait) => wait === 0),
    ).toHaveLength(20)
    expect(Array.from({ length: 5_000 }, () => limiter.takeItem('k', 'internal')).every((wait) => wait === 0)).toBe(
      true,
    )
  })

  test("a project's own limit replaces the default", () => {
    const { limiter } = limiterAt()
    expect(
      Array.from({ length: 10 }, () => limiter.takeItem('k', 'error', 9)).filter((wait) => wait === 0),
    ).toHaveLength(3)
  })

  test('neither window is ever exceeded, and an item passes after the announced wait', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ wait: fc.nat(20_000), count: fc.nat(8) }), { maxLength: 60 }), (steps) => {
        const { limiter, advance } = limiterAt(0.003)
        const taken: number[] = []
        let at = 0
        for (const { wait, count } of steps) {
          advance(wait)
          at += wait
          for (let i = 0; i < count; i++) {
            const refusal = limiter.takeItem('k', 'error')
            if (refusal === 0) taken.push(Math.floor(at / 1000))
            const second = Math.floor(at / 1000)
            expect(taken.filter((one) => one > second - 60).length).toBeLessThanOrEqual(9)
            expect(taken.filter((one) => one > second - 10).length).toBeLessThanOrEqual(3)
            expect(refusal).toBeLessThanOrEqual(60)
          }
          const refusal = limiter.takeItem('k', 'error')
          if (refusal > 0) {
            advance(refusal * 1000)
            at += refusal * 1000
            expect(limiter.takeItem('k', 'error')).toBe(0)
          }
          taken.push(Math.floor(at / 1000))
        }
      }),
    )
  })
})

describe('an address', () => {
  test('may send 12,000 a minute; IPv6 is counted by network; loopback is exempt in relaxed mode', () => {
    const { limiter } = limiterAt()
    for (let i = 0; i < 12_000; i++) expect(limiter.takeAddress('10.0.0.1')).toBe(0)
    expect(limiter.takeAddress('10.0.0.1')).toBeGreaterThanOrEqual(5)
    expect(limiter.takeAddress('10.0.0.1')).toBeLessThanOrEqual(10)
    expect(limiter.takeAddress('10.0.0.2')).toBe(0)
    for (let i = 0; i < 12_000; i++) limiter.takeAddress(`2001:db8::${i.toString(16)}`)
    expect(limiter.takeAddress('2001:db8::ffff')).toBeGreaterThan(0)
    expect(limiter.takeAddress('2001:db8:0:1::1')).toBe(0)
    const relaxed = limiterAt(1, true).limiter
    for (let i = 0; i < 12_001; i++) expect(relaxed.takeAddress('127.0.0.1')).toBe(0)
  })

  test('scale 0 switches everything off', () => {
    const { limiter } = limiterAt(0)
    for (let i = 0; i < 20_000; i++) expect(limiter.takeAddress('10.0.0.1') + limiter.takeItem('k', 'error')).toBe(0)
  })
})
