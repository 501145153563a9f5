import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deviceClass } from './device-signals.ts'
import { childValues, pickValues, segmentValues, type Candidate, type LeftOut } from './span-values.ts'
import { readOldSpan, readSpan, type Span, parseTimePrecise } from './span.ts'
import { readTransaction, scrubbableTransaction, type Transaction } from './transaction.ts'

const TRACE = 'a'.repeat(32)
const START = 1_795_149_000

function aTransaction(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    type: 'transaction',
    transaction: 'CartScreen',
    transaction_info: { source: 'custom' },
    start_timestamp: START,
    timestamp: START + 1.5,
    release: 'shop@1.0',
    environment: 'production',
    contexts: { trace: { trace_id: TRACE, span_id: 'b'.repeat(16), op: 'ui.load', status: 'ok' } },
    spans: [],
    ...fields,
  }
}

const aChild = (op: string, seconds: number, fields: Record<string, unknown> = {}): Record<string, unknown> => ({
  trace_id: TRACE,
  span_id: 'c'.repeat(16),
  op,
  start_timestamp: START,
  timestamp: START + seconds,
  ...fields,
})

const read = (raw: Record<string, unknown>) => readTransaction(raw, scrubbableTransaction(raw), 'production')

function readSound(raw: Record<string, unknown>): Transaction {
  const transaction = read(raw)
  if ('invalid' in transaction) throw new Error(transaction.invalid)
  return transaction
}

/** Metric → value, or `out`. */
const short = (values: readonly Candidate[]): Record<string, number | LeftOut> =>
  Object.fromEntries(values.map(({ metric, value, leftOut }) => [metric, leftOut ?? Math.round(value * 1e3) / 1e3]))

function valuesOf(fields: Record<string, unknown>): Record<string, number | LeftOut> {
  const { segment, children } = readSound(aTransaction(fields))
  return short(pickValues([...segmentValues(segment), ...children.flatMap(childValues)]))
}

const trace = (fields: Record<string, unknown>) => ({
  contexts: { trace: { trace_id: TRACE, span_id: 'b'.repeat(16), op: 'ui.load', ...fields } },
})

describe('validity', () => {
  test.each<[string, Record<string, unknown>]>([
    ['bad_trace_id', trace({ trace_id: undefined })],
    ['bad_trace_id', trace({ trace_id: '0'.repeat(32) })],
    ['bad_trace_id', trace({ trace_id: 'xyz' })],
    ['bad_trace_id', { contexts: null }],
    ['bad_trace_id', { contexts: [] }],
    ['bad_span_id', trace({ span_id: '0'.repeat(16) })],
    ['bad_span_id', trace({ span_id: 7 })],
    ['bad_timestamp', { timestamp: null }],
    ['bad_timestamp', { start_timestamp: 'yesterday' }],
    ['bad_timestamp', { start_timestamp: -5 }],
    ['bad_timestamp', { timestamp: 1e308 }],
    ['ends_before_start', { timestamp: START - 0.001 }],
  ])('%s: %j', (reason, fields) => {
    expect(read(aTransaction(fields))).toEqual({ invalid: reason })
  })

  test('a duration of zero is valid', () => {
    expect(read(aTransaction({ timestamp: START }))).not.toHaveProperty('invalid')
  })

  test('never throws, for any fields', () => {
    const anything = fc.oneof(fc.jsonValue(), fc.constant(Number.NaN), fc.constant(Number.POSITIVE_INFINITY))
    const names = ['transaction', 'contexts', 'spans', 'measurements', 'request', 'release', 'transaction_info', 'tags']
    fc.assert(
      fc.property(fc.constantFrom(...names), anything, anything, (name, value, device) => {
        const contexts = { trace: { trace_id: TRACE, span_id: 'b'.repeat(16), data: value, op: value, status: value } }
        for (const raw of [
          aTransaction({ [name]: value }),
          aTransaction({ contexts: { ...contexts, device, os: device, app: device } }),
          aTransaction({ spans: [value, aChild('x', 1, { data: value, measurements: value, status: value })] }),
        ]) {
          const result = read(raw)
          if (!('invalid' in result)) {
            segmentValues(result.segment)
            for (const child of result.children) childValues(child)
          }
        }
        for (const one of [value, { ...aChild('x', 1), attributes: value, end_timestamp: START + 1 }]) {
          const span = readSpan(one)
          if (!('invalid' in span)) segmentValues(span)
          readOldSpan(one)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('a broken child does not affect its transaction, and at most a thousand are read', () => {
    const children = [null, 7, {}, aChild('app.start.cold', -1), aChild('app.start.cold', 0.5)]
    expect(valuesOf({ spans: children })).toEqual({ app_start_cold: 500 })
    const many = Array.from({ length: 1_000 }, () => aChild('db', 0.1))
    expect(valuesOf({ spans: [...many, aChild('app.start.cold', 0.5)] })).toEqual({})
    expect(valuesOf({ spans: 'none' })).toEqual({})
  })
})

describe('one app start is one value', () => {
  const start = aChild('app.start.cold', 1.2)
  test('the measurement, then the attribute, then the span', () => {
    const measurements = { app_start_cold: { value: 812.4, unit: 'millisecond' } }
    const data = { data: { 'app.vitals.start.cold.value': 900 } }
    expect(valuesOf({ measurements, ...trace(data), spans: [start] })).toEqual({ app_start_cold: 812.4 })
    expect(valuesOf({ ...trace(data), spans: [start] })).toEqual({ app_start_cold: 900 })
    expect(valuesOf({ spans: [start] })).toEqual({ app_start_cold: 1_200 })
    expect(valuesOf({ spans: [aChild('app_start_cold', 1.3)] })).toEqual({ app_start_cold: 1_300 })
  })

  test('React Native: the whole, not its parts with the same op', () => {
    expect(valuesOf({ spans: [aChild('app.start.cold', 0.2), start, aChild('app.start.cold', 0.3)] })).toEqual({
      app_start_cold: 1_200,
    })
  })

  test('is cold or warm, not both', () => {
    const both = { app_start_cold: { value: 900 }, app_start_warm: { value: 300 } }
    expect(valuesOf({ measurements: both })).toEqual({ app_start_cold: 900 })
    expect(valuesOf({ measurements: { app_start_warm: { value: 300 } }, spans: [start] })).toEqual({
      app_start_warm: 300,
    })
  })

  test.each([
    ['0', 'invalid', { app_start_cold: { value: 0 } }],
    ['below 0', 'invalid', { app_start_cold: { value: -5 } }],
    ['above 180 s', 'too_long', { app_start_cold: { value: 180_001 } }],
    ['1e308', 'too_long', { app_start_cold: { value: 1e308 } }],
  ])('left out at %s as %s, without another source', (_what, reason, measurements) => {
    expect(valuesOf({ measurements, spans: [start] })).toEqual({ app_start_cold: reason })
  })

  test('left out when the system started the app ahead of time', () => {
    const measurements = { app_start_warm: { value: 500 } }
    const { contexts } = trace({})
    expect(valuesOf({ measurements, contexts: { ...contexts, app: { start_type: 'warm.prewarmed' } } })).toEqual({
      app_start_warm: 'prewarmed',
    })
    expect(valuesOf({ measurements, contexts: { ...contexts, app: { start_type: 'warm' } } })).toEqual({
      app_start_warm: 500,
    })
  })
})

describe('units', () => {
  test.each<[unknown, number | undefined]>([
    [{ value: 1_500, unit: 'millisecond' }, 1_500],
    [{ value: 1.5, unit: 'second' }, 1_500],
    [{ value: 1_500_000, unit: 'microsecond' }, 1_500],
    [{ value: 1_500 }, 1_500],
    [{ value: 1_500, unit: '' }, 1_500],
    [{ value: 1_500, unit: 'none' }, 1_500],
    [{ value: 1_500, unit: 'byte' }, 1_500],
    [{ value: 1_500, unit: null }, 1_500],
    [{ value: '1500' }, 1_500],
    [{ value: 'fast' }, undefined],
    [{ value: null }, undefined],
    [{ value: Number.NaN }, undefined],
    [{ value: { value: 3 } }, undefined],
    [1_500, undefined],
    [null, undefined],
  ])('lcp of %j is %s', (lcp, value) => {
    expect(valuesOf({ measurements: { lcp } })['lcp']).toBe(value)
  })

  test('the delay of frames is sent in seconds', () => {
    expect(valuesOf({ measurements: { frames_delay: { value: 0.31 } } })).toEqual({ frames_delay: 310 })
    expect(valuesOf(trace({ data: { 'frames.delay': 0.31 } }))).toEqual({ frames_delay: 310 })
  })

  test('unit none is a count, not a time', () => {
    const zero = { value: 0 }
    expect(
      valuesOf({
        measurements: {
          frames_slow: zero,
          cls: zero,
          stall_count: zero,
          stall_total_time: zero,
          lcp: zero,
          ttfb: zero,
        },
      }),
    ).toEqual({ frames_slow: 0, cls: 0, stall_count: 0, stall_total_time: 0, lcp: 'invalid', ttfb: 'invalid' })
  })
})

describe('streamed spans', () => {
  const span = (op: string, attributes: Record<string, unknown>, seconds = 1): Span => {
    const read = readSpan({
      trace_id: TRACE.toUpperCase(),
      span_id: 'b'.repeat(16),
      name: 'x',
      status: 'ok',
      is_segment: true,
      start_timestamp: START,
      end_timestamp: START + seconds,
      attributes: { 'sentry.op': { value: op, type: 'string' }, ...attributes },
    })
    if ('invalid' in read) throw new Error(read.invalid)
    return read
  }
  const number = (value: unknown, type = 'double') => ({ value, type })

  test.each<[string, Span, Record<string, number | LeftOut>]>([
    ['a start by its name', span('app.start', { 'app.vitals.start.cold.value': number(800) }), { app_start_cold: 800 }],
    [
      'a start by its type',
      span('app.start', { 'app.vitals.start.value': number(800), 'app.vitals.start.type': number('warm', 'string') }),
      { app_start_warm: 800 },
    ],
    [
      'a start with only a type',
      span('app.start', { 'app.vitals.start.type': number('cold', 'string') }, 0.7),
      { app_start_cold: 700 },
    ],
    ['a start by its op', span('app.start.warm', {}, 0.25), { app_start_warm: 250 }],
    ['a start of no known kind', span('app.start', { 'app.vitals.start.value': number(800) }), {}],
    [
      'prewarmed',
      span('app.start', {
        'app.vitals.start.cold.value': number(800),
        'app.vitals.start.prewarmed': number(true, 'boolean'),
      }),
      { app_start_cold: 'prewarmed' },
    ],
    ['a display', span('ui.load.initial_display', {}, 0.64), { ttid: 640 }],
    ['a display by its attribute', span('ui.load.full_display', { 'app.vitals.ttfd.value': number(99) }), { ttfd: 99 }],
    ['a display after three minutes', span('ui.load.full_display', {}, 181), { ttfd: 'too_long' }],
    ['an interaction', span('ui.interaction.click', { 'browser.web_vital.inp.value': number(328) }), { inp: 328 }],
    ['plain values', span('ui.webvital.lcp', { 'browser.web_vital.lcp.value': 156 }), { lcp: 156 }],
    ['a number in words', span('ui.webvital.lcp', { 'browser.web_vital.lcp.value': number('soon', 'string') }), {}],
    [
      'frames, also in another spelling',
      span('ui.load', { frames_total: number(9), 'frames.slow': number(2) }),
      {
        frames_total: 9,
        frames_slow: 2,
      },
    ],
  ])('%s', (_what, one, expected) => {
    expect(short(segmentValues(one))).toEqual(expected)
  })

  test('frames of a child are ignored, because its segment counts them', () => {
    expect(childValues(span('ui.load', { 'frames.total': number(60), 'frames.slow': number(3) }))).toEqual([])
  })
})

test('times keep fractions of a millisecond', () => {
  expect(parseTimePrecise('2026-11-20T04:41:01.313701Z')).toBeCloseTo(Date.parse('2026-11-20T04:41:01.313Z') + 0.701, 6)
  expect(parseTimePrecise('2026-11-20T04:41:01Z')).toBe(Date.parse('2026-11-20T04:41:01Z'))
  expect(parseTimePrecise(1_795_149_498.8057)).toBeCloseTo(1_795_149_498_805.7, 2)
  expect(parseTimePrecise('1795149498.8057')).toBeCloseTo(1_795_149_498_805.7, 2)
  expect(parseTimePrecise(1_795_149_498_805.7)).toBeCloseTo(1_795_149_498_805.7, 2)
  for (const none of [null, undefined, '', 'now', Number.NaN, 1e308, -1, {}, []])
    expect(parseTimePrecise(none)).toBeNull()
})

test('the device class is by memory, or by processors when the memory is unknown', () => {
  expect([2e9, 4e9, 8e9, 0, -1].map((memory) => deviceClass(memory, null))).toEqual(['low', 'medium', 'high', '', ''])
  expect([2, 6, 8, 0].map((processors) => deviceClass(null, processors))).toEqual(['low', 'medium', 'high', ''])
  expect(deviceClass(8e9, 2)).toBe('high')
})

describe('origin', () => {
  test('release, environment, system, class and device', () => {
    const { contexts } = trace({})
    const device = { memory_size: 8e9, model: 'iPhone17,3', family: 'iPhone' }
    const raw = aTransaction({ contexts: { ...contexts, os: { name: 'iOS\n', version: '19' }, device } })
    expect(readSound(raw).origin).toEqual({
      release: 'shop@1.0',
      environment: 'production',
      os: 'iOS',
      deviceClass: 'high',
      device: 'iPhone17,3',
    })
  })

  test('a page runs on the system of its browser, a server not on that of its visitor', () => {
    const agent =
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36'
    const request = { headers: [['User-Agent', agent]] }
    expect(readSound(aTransaction({ platform: 'javascript', request })).origin.os).toBe('Linux')
    expect(readSound(aTransaction({ platform: 'python', request })).origin.os).toBe('')
  })

  test('refused names count as no name', () => {
    expect(readSound(aTransaction({ release: 'latest', environment: 'None' })).origin).toMatchObject({
      release: '',
      environment: '',
    })
  })
})
