import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chooseTraces, type DuePart, type Known, MAX_TRACES_PER_DAY, SLOWEST_PER_HOUR } from './choose-traces.ts'

const NOTHING: Known = { kept: new Map(), withError: new Map(), slow: [], today: new Map() }
/** In the project p. */
const counts = (error: number, slow: number) => new Map([['p', { error, slow }]])
const errorsIn = (...traceIds: readonly string[]) => new Map(traceIds.map((traceId) => [traceId, 'p']))
const kept = (because: 'error' | 'slow', spans: number) => ({ because, projectId: 'p', spans: new Map([['p', spans]]) })

const part = (traceId: string, durationMs: number | null, more: Partial<DuePart> = {}): DuePart => ({
  projectId: 'p',
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
    const choice = chooseTraces(due, { ...NOTHING, withError: errorsIn('e') })
    expect(keptOf(choice)).toEqual({ b: 'slow', c: 'slow', d: 'slow', e: 'error' })
    expect(choice.drop).toEqual([{ projectId: 'p', traceId: 'a', part: 1 }])
    expect(choice.added).toEqual(counts(1, 3))
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
      projectId: 'p',
      traceId,
      name: '/cart',
      op: 'pageload',
      durationMs: 10 + index,
      hour: 0,
    }))
    const known = { ...NOTHING, slow, today: counts(0, 3) }
    expect(chooseTraces([part('new', 100)], known)).toMatchObject({ evict: ['x'], added: counts(0, 0) })
    expect(chooseTraces([part('new', 100)], { ...known, withError: errorsIn('x') }).evict).toEqual([])
  })

  test('later parts of a kept trace are kept, up to 1,000 spans', () => {
    const before = new Map([['a', kept('slow', 900)]])
    const due = [part('a', null, { part: 2, spanCount: 60 }), part('a', null, { part: 3, spanCount: 60 })]
    const choice = chooseTraces(due, { ...NOTHING, kept: before })
    expect(choice.keep).toEqual([
      { traceId: 'a', because: 'slow', projectId: 'p', parts: [{ projectId: 'p', traceId: 'a', part: 2 }] },
    ])
    expect(choice.drop).toEqual([{ projectId: 'p', traceId: 'a', part: 3 }])
    expect(choice.added).toEqual(new Map())
  })

  test('an error that comes later changes the reason of a slow trace', () => {
    const before = new Map([['a', kept('slow', 9)]])
    const choice = chooseTraces([part('a', 3)], {
      ...NOTHING,
      kept: before,
      withError: errorsIn('a'),
      today: counts(0, 1),
    })
    expect(keptOf(choice)).toEqual({ a: 'error' })
    expect(choice.added).toEqual(counts(1, -1))
  })

  test('a trace is kept in all of its projects: an error, or a slow segment, in one keeps the others', () => {
    const across = (traceId: string, apiMs: number): DuePart[] => [
      part(traceId, 10, { projectId: 'web' }),
      part(traceId, apiMs, { projectId: 'api', segment: { name: 'POST /pay', op: 'http.server', durationMs: apiMs } }),
      part(traceId, null, { projectId: 'api', part: 2 }),
    ]
    const other = (traceId: string) => part(traceId, 900, { projectId: 'web' })
    const due = [
      ...['a', 'b', 'c', 'slow'].flatMap((traceId, index) => across(traceId, index * 10 + 1)),
      ...across('failed', 0),
      ...['x', 'y', 'z'].map(other),
    ]
    const choice = chooseTraces(due, { ...NOTHING, withError: new Map([['failed', 'api']]) })
    expect(keptOf(choice)).toEqual({
      b: 'slow',
      c: 'slow',
      slow: 'slow',
      failed: 'error',
      x: 'slow',
      y: 'slow',
      z: 'slow',
    })
    expect(choice.keep.find(({ traceId }) => traceId === 'failed')?.parts).toHaveLength(3)
    expect(choice.drop.map(({ traceId }) => traceId)).toEqual(['a', 'a', 'a'])
    expect(Object.fromEntries(choice.added)).toEqual({ api: { error: 1, slow: 3 }, web: { error: 0, slow: 3 } })
  })

  test('with any input: limits hold, every part is decided once, traces are whole, and order does not matter', () => {
    const parts = fc.array(
      fc.record({
        trace: fc.integer({ min: 0, max: 30 }),
        project: fc.constantFrom('p', 'q'),
        part: fc.integer({ min: 1, max: 4 }),
        ms: fc.option(fc.integer({ min: 0, max: 50 })),
        spans: fc.integer({ min: 1, max: 1_000 }),
        hour: fc.constantFrom(0, 1),
      }),
      { maxLength: 80 },
    )
    const budget = fc.integer({ min: MAX_TRACES_PER_DAY - 20, max: MAX_TRACES_PER_DAY })
    const errors = fc.uniqueArray(fc.integer({ min: 0, max: 30 }))
    fc.assert(
      fc.property(parts, errors, budget, fc.boolean(), (given, failed, used, onlyFew) => {
        const unique = new Map(given.map((one) => [`${one.trace}/${one.project}/${one.part}`, one]))
        const due = [...unique.values()].map((one) =>
          part(`t${one.trace}`, one.ms, {
            projectId: one.project,
            part: one.part,
            spanCount: onlyFew ? 1 : one.spans,
            hour: one.hour,
          }),
        )
        const today = new Map(['p', 'q'].map((projectId) => [projectId, { error: used - 10, slow: 10 }]))
        const known = { ...NOTHING, withError: errorsIn(...failed.map((n) => `t${n}`)), today }
        const choice = chooseTraces(due, known)
        const keyOf = (one: { projectId: string; traceId: string; part: number }) =>
          `${one.projectId}/${one.traceId}/${one.part}`
        const decided = [...choice.keep.flatMap((one) => one.parts), ...choice.drop].map(keyOf)
        expect(decided.sort()).toEqual(due.map(keyOf).sort())
        for (const { error, slow } of choice.added.values())
          expect(used + error + slow).toBeLessThanOrEqual(MAX_TRACES_PER_DAY)
        const slow = choice.keep.filter(({ because }) => because === 'slow')
        expect(slow.length).toBeLessThanOrEqual(4 * SLOWEST_PER_HOUR)
        for (const { traceId, parts: some } of choice.keep)
          for (const projectId of ['p', 'q']) {
            const ofProject = due.filter(
              (one) => some.some((key) => keyOf(key) === keyOf(one)) && one.projectId === projectId,
            )
            expect(ofProject.reduce((sum, one) => sum + one.spanCount, 0)).toBeLessThanOrEqual(1_000)
            // Whole, unless it has too many spans.
            if (onlyFew) expect(choice.drop.map((one) => one.traceId)).not.toContain(traceId)
          }
        const turned = chooseTraces(due.toReversed(), known)
        expect(keptOf(turned)).toEqual(keptOf(choice))
        expect(turned.drop.map(keyOf).sort()).toEqual(choice.drop.map(keyOf).sort())
      }),
    )
  })
})
