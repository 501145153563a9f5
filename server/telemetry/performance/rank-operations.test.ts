import { expect, test } from 'vitest'
import { DDSketch } from '../sketch/ddsketch.ts'
import { OWN_CODE, REST } from './measure-spans.ts'
import { rankOperations, timeShares } from './rank-operations.ts'
import type { MeasuredSpans } from './read.queries.ts'
import { OTHER } from './series.ts'

function row(fields: Partial<MeasuredSpans>, values: readonly number[]): MeasuredSpans {
  const sketch = new DDSketch()
  for (const value of values) sketch.add(value)
  return { transaction: 'one', op: 'db', span: 'SELECT ?', metric: 'span', failures: 0, sketch, ...fields }
}
const upTo = (length: number): number[] => Array.from({ length }, (_, index) => index + 1)

test('operations add up over their transactions; percentiles need 20 spans', () => {
  const { queries, caches, queues } = rankOperations(
    [
      row({ failures: 1 }, upTo(5)),
      row({ transaction: 'two' }, upTo(20).slice(5)),
      row({ transaction: OTHER }, [1]),
      row({ op: 'cache.get', span: 'k' }, [1, 1, 1]),
      row({ op: 'cache.get', span: 'k', metric: 'cache_hit' }, [1, 0, 1]),
    ],
    new Map([
      ['one', 5],
      ['two', 5],
    ]),
  )
  expect(queries).toMatchObject([
    {
      name: 'SELECT ?',
      op: 'db',
      count: 21,
      per_request: 2,
      total_ms: 211,
      failures: 1,
      hit_rate: null,
      transaction: 'two',
      transactions: 2,
    },
  ])
  expect(queries[0]?.p50_ms).toBeCloseTo(10, 0)
  expect(caches).toMatchObject([{ count: 3, p50_ms: null, p95_ms: null, hit_rate: 2 / 3, transaction: 'one' }])
  expect(queues).toEqual([])
})

test('an operation whose transactions are not known has none', () => {
  const { queries } = rankOperations([row({ transaction: '' }, [5])], new Map())
  expect(queries).toMatchObject([{ per_request: null, transaction: null, transactions: 0, total_ms: 5 }])
})

test('shares of the time add up to 1, those beyond twelve as one', () => {
  const part = (span: string, values: readonly number[]) => row({ span, metric: 'part', op: '' }, values)
  expect(timeShares([part('Database', [3, 3]), part(OWN_CODE, [1, 3])])).toEqual([
    { name: 'Database', share: 0.6, ms_per_request: 3, spans_per_request: 1 },
    { name: OWN_CODE, share: 0.4, ms_per_request: 2, spans_per_request: 1 },
  ])
  const many = timeShares([part(OWN_CODE, [1]), part(REST, [9]), ...upTo(14).map((ms) => part(`step ${ms}`, [ms]))])
  expect(many).toHaveLength(13)
  expect(many.at(-1)).toMatchObject({ name: REST, spans_per_request: 4 })
  expect(many.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1)
  expect(timeShares([])).toEqual([])
})
