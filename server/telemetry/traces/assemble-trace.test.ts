import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assembleTrace, type Assembled, type GivenPart } from './assemble-trace.ts'
import { aSpan, anySpans } from './stored-span.fixture.ts'

const DAY_MS = 86_400_000

const web = (shiftMs = 0, receivedMs = 2_000): GivenPart => ({
  projectId: 'web',
  receivedMs,
  spans: [
    aSpan('page', null, 1_000 + shiftMs, 1_500 + shiftMs, { op: 'ui.load' }),
    aSpan('fetch', 'page', 1_100 + shiftMs, 1_400 + shiftMs, { op: 'http.client' }),
  ],
})
const api = (shiftMs = 0, receivedMs = 2_000): GivenPart => ({
  projectId: 'api',
  receivedMs,
  spans: [
    aSpan('serve', 'fetch', 1_150 + shiftMs, 1_350 + shiftMs, { op: 'http.server', is_segment: true }),
    aSpan('query', 'serve', 1_200 + shiftMs, 1_300 + shiftMs, { op: 'db' }),
  ],
})

const timesOf = ({ spans }: Assembled): Record<string, number> =>
  Object.fromEntries(spans.map((span) => [span.span_id, span.start_ms]))
const FITTING = { page: 1_000, fetch: 1_100, serve: 1_150, query: 1_200 }

describe('clocks', () => {
  test('that fit are left as they are', () => {
    const trace = assembleTrace([api(), web()])
    expect(timesOf(trace)).toEqual(FITTING)
    expect(trace.shifts).toEqual(new Map())
    expect(trace).toMatchObject({ startMs: 1_000, endMs: 1_500, root: { span_id: 'page' } })
  })

  test('a service whose clock is off, by a second or by a day, is moved into its caller as a whole', () => {
    for (const shiftMs of [-DAY_MS, -1_000, 1_000, DAY_MS]) {
      const trace = assembleTrace([web(), api(shiftMs)])
      expect(timesOf(trace)).toEqual(FITTING)
      expect(trace.shifts).toEqual(new Map([['api', -shiftMs]]))
    }
  })

  test('a browser whose clock is off by a day gets the time of the service that it called', () => {
    const behind = assembleTrace([web(-DAY_MS), api()])
    expect(timesOf(behind)).toEqual(FITTING)
    expect(behind.shifts).toEqual(new Map([['web', DAY_MS]]))
    const ahead = assembleTrace([web(DAY_MS), api()])
    expect(ahead.endMs).toBeLessThanOrEqual(2_000)
    expect(ahead.endMs - ahead.startMs).toBe(500)
  })

  test('a page that was sent hours later, with an exact clock, stays', () => {
    expect(timesOf(assembleTrace([web(0, 2_000 + 5 * 3_600_000), api()]))).toEqual(FITTING)
  })

  test('a job of a queue may start an hour after its caller', () => {
    const job = aSpan('job', 'serve', 3_601_000, 3_602_000, { op: 'queue.process', is_segment: true })
    const trace = assembleTrace([web(), api(), { projectId: 'worker', receivedMs: 3_603_000, spans: [job] }])
    expect(trace.shifts).toEqual(new Map())
    expect(trace.endMs).toBe(3_602_000)
  })
})

test('a span that arrives twice is one, and a circle of parents is cut above its first span', () => {
  const trace = assembleTrace([
    {
      projectId: 'a',
      receivedMs: 100,
      spans: [aSpan('x', 'y', 20, 30), aSpan('y', 'z', 10, 40), aSpan('z', 'x', 15, 35)],
    },
    { projectId: 'a', receivedMs: 90, spans: [aSpan('x', 'y', 20, 30, { is_segment: true, description: 'segment' })] },
  ])
  expect(trace.spans.map(({ span_id: id, parent }) => [id, parent])).toEqual([
    ['y', null],
    ['z', 'x'],
    ['x', 'y'],
  ])
  expect(trace.spans[2]?.description).toBe('segment')
})

test('with any spans of three projects in any order: each once, no circles, and the order of the parts changes nothing', () => {
  const parts = fc.array(
    fc.record({
      projectId: fc.constantFrom('p', 'q', 'r'),
      receivedMs: fc.constantFrom(50, 200, DAY_MS),
      spans: anySpans,
    }),
    { maxLength: 4 },
  )
  fc.assert(
    fc.property(parts, (given) => {
      const trace = assembleTrace(given)
      const ids = given.flatMap(({ spans }) => spans.map(({ span_id: id }) => id))
      expect(trace.spans.map(({ span_id: id }) => id).sort()).toEqual([...new Set(ids)].sort())
      const parentOf = new Map(trace.spans.map(({ span_id: id, parent }) => [id, parent]))
      for (const { span_id: id } of trace.spans) {
        let at: string | null | undefined = id
        for (let depth = 0; at !== null && at !== undefined; depth++) {
          expect(depth).toBeLessThanOrEqual(trace.spans.length)
          at = parentOf.get(at)
        }
      }
      expect(trace.root === null).toBe(trace.spans.length === 0)
      for (const span of trace.spans) {
        expect(span.start_ms).toBeGreaterThanOrEqual(trace.startMs)
        expect(span.end_ms).toBeLessThanOrEqual(trace.endMs)
      }
    }),
  )
})
