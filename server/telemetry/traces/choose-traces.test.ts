import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chooseTraces, type DuePart, type Known, MAX_TRACES_PER_DAY, SLOWEST_PER_HOUR } from './choose-traces.ts'

const NOTHING: Known = { kept: new Map(), withError: new Set(), slow: [], today: { error: 0, slow: 0 } }

const part = (traceId: string, durationMs: number | null, more: Partial<DuePart> = {}): DuePart => ({
  traceId,
  part: 1,
  segment: durationMs === null ? null : { name: '/cart', op: 'pageload', durationMs },
  spanCount: 10,
  hour: 0,
  ...more,
})

const keptOf = (choice: ReturnType<typeof chooseTraces>): Record<string, string> =>
  Object.fromEntries(choice.keep.map(({ traceId, because }) => [traceId, because]))

describe('which traces are kept', () => {
  test('the three slowest of a transaction and hour, and every one with an error', () => {
    const due = [part('a', 10), part('b', 20), part('c', 30), part('d', 40), part('e', 5)]
    const choice = chooseTraces(due, { ...NOTHING, withError: new Set(['e']) })
    expect(keptOf(choice)).toEqual({ b: 'slow', c: 'slow', d: 'slow', e: 'error' })
    expect(choice.drop).toEqual([{ traceId: 'a', part: 1 }])
    expect(choice.added).toEqual({ error: 1, slow: 3 })
  })

  test('each name and each hour has its own slowest', () => {
    const other = { segment: { name: '/home', op: 'pageload', durationMs: 1 } }
    const due = [
      part('a', 10),
      part('b', 20),
      part('c', 30),
      part('d', 40),
      part('e', 1, other),
      part('f', 2, { hour: 1 }),
    ]
    expect(Object.keys(keptOf(chooseTraces(due, NOTHING))).sort()).toEqual(['b', 'c', 'd', 'e', 'f'])
  })

  test('a slower trace replaces the fastest of the slow ones, unless that holds an error', () => {
    const slow = ['x', 'y', 'z'].map((traceId, index) => ({
      traceId,
      name: '/cart',
      op: 'pageload',
      durationMs: 10 + index,
      hour: 0,
    }))
    const known = { ...NOTHING, slow, today: { error: 0, slow: 3 } }
    expect(chooseTraces([part('new', 100)], known)).toMatchObject({ evict: ['x'], added: { error: 0, slow: 0 } })
    expect(chooseTraces([part('new', 100)], { ...known, withError: new Set(['x']) }).evict).toEqual([])
  })

  test('later parts of a kept trace are kept, up to 1,000 spans', () => {
    const kept = new Map([['a', { because: 'slow', spans: 900 } as const]])
    const due = [part('a', null, { part: 2, spanCount: 60 }), part('a', null, { part: 3, spanCount: 60 })]
    const choice = chooseTraces(due, { ...NOTHING, kept })
    expect(choice.keep).toEqual([{ traceId: 'a', because: 'slow', parts: [2] }])
    expect(choice.drop).toEqual([{ traceId: 'a', part: 3 }])
    expect(choice.added).toEqual({ error: 0, slow: 0 })
  })

  test('an error that comes later changes the reason of a slow trace', () => {
    const kept = new Map([['a', { because: 'slow', spans: 9 } as const]])
    const choice = chooseTraces([part('a', 3)], {
      ...NOTHING,
      kept,
      withError: new Set(['a']),
      today: { error: 0, slow: 1 },
    })
    expect(keptOf(choice)).toEqual({ a: 'error' })
    expect(choice.added).toEqual({ error: 1, slow: -1 })
  })

  test('with any input, the limits hold and every part is decided once', () => {
    const parts = fc.array(
      fc.record({
        trace: fc.integer({ min: 0, max: 30 }),
        part: fc.integer({ min: 1, max: 4 }),
        ms: fc.option(fc.integer({ min: 0, max: 50 })),
        spans: fc.integer({ min: 1, max: 1_000 }),
        hour: fc.constantFrom(0, 1),
      }),
      { maxLength: 80 },
    )
    const budget = fc.integer({ min: MAX_TRACES_PER_DAY - 20, max: MAX_TRACES_PER_DAY })
    fc.assert(
      fc.property(parts, fc.uniqueArray(fc.integer({ min: 0, max: 30 })), budget, (given, errors, used) => {
        const unique = new Map(given.map((one) => [`${one.trace}/${one.part}`, one]))
        const due = [...unique.values()].map((one) =>
          part(`t${one.trace}`, one.ms, { part: one.part, spanCount: one.spans, hour: one.hour }),
        )
        const today = { error: used - 10, slow: 10 }
        const choice = chooseTraces(due, { ...NOTHING, withError: new Set(errors.map((n) => `t${n}`)), today })
        const decided = [
          ...choice.keep.flatMap(({ traceId, parts: kept }) => kept.map((one) => `${traceId}/${one}`)),
          ...choice.drop.map((one) => `${one.traceId}/${one.part}`),
        ]
        expect(decided.sort()).toEqual(due.map((one) => `${one.traceId}/${one.part}`).sort())
        expect(used + choice.added.error + choice.added.slow).toBeLessThanOrEqual(MAX_TRACES_PER_DAY)
        expect(choice.keep.filter(({ because }) => because === 'slow').length).toBeLessThanOrEqual(2 * SLOWEST_PER_HOUR)
        for (const { traceId, parts: kept } of choice.keep) {
          const spans = due.filter((one) => one.traceId === traceId && kept.includes(one.part))
          expect(spans.reduce((sum, one) => sum + one.spanCount, 0)).toBeLessThanOrEqual(1_000)
        }
      }),
    )
  })
})
