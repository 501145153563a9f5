import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Trace, TraceSpan } from '../../../api/trace-queries.ts'
import {
  axisTicks,
  buildTree,
  closedAtFirst,
  ownTimeMs,
  pathShares,
  type Row,
  type Shown,
  waterfallRows,
} from './model.ts'

const PROJECT = '019a0000-0000-7000-8000-000000000001'

const span = (id: string, parent: string | null, start = 0, duration = 10, description = id): TraceSpan => ({
  span_id: id,
  parent_span_id: parent,
  project_id: PROJECT,
  op: 'sql',
  description,
  status: 'ok',
  is_segment: false,
  start_ms: start,
  duration_ms: duration,
  data: {},
})

const errorAt = (spanId: string | null, atMs: number): Trace['errors'][number] => ({
  event_id: `error ${atMs}`,
  issue_id: PROJECT,
  short_id: 'SHOP-1',
  title: 'Declined',
  level: 'error',
  occurred_at: '2026-11-20T05:00:00.000Z',
  span_id: spanId,
  project_id: PROJECT,
  at_ms: atMs,
})

const treeOf = (spans: TraceSpan[], more: Partial<Pick<Trace, 'critical_path' | 'errors' | 'logs'>> = {}) =>
  buildTree({ spans, critical_path: [], errors: [], logs: [], silent_projects: [], ...more })

const ALL: Shown = { closed: new Set(), unfolded: new Set(), errors: true, logs: true, find: '' }

const outline = (rows: readonly Row[]): string[] =>
  rows.map((row) => {
    if (row.kind === 'span') return `${' '.repeat(row.node.depth)}${row.node.span.span_id}`
    if (row.kind === 'fold') return `${' '.repeat(row.depth)}×${row.fold.nodes.length}`
    return `${' '.repeat(row.depth)}${row.kind}`
  })

test('spans stand below their callers, by start; one without its caller is a root and says so', () => {
  const tree = treeOf([
    span('a', null, 0, 100),
    span('b', 'a', 10),
    span('d', 'b', 12),
    span('c', 'a', 50),
    span('x', 'gone'),
  ])
  expect(outline(waterfallRows(tree, ALL))).toEqual(['a', ' b', '  d', ' c', 'x'])
  expect(tree.nodes.get('x')?.isOrphan).toBe(true)
  expect(outline(waterfallRows(tree, { ...ALL, closed: new Set(['b']) }))).toEqual(['a', ' b', ' c', 'x'])
  expect(outline(waterfallRows(tree, { ...ALL, find: 'D' }))).toEqual(['a', ' b', '  d'])
})

test('equal spans are one row until it is opened, but none with an error of its own', () => {
  const equal = ['b', 'c', 'd', 'e'].map((id, index) => span(id, 'a', 10 * index, 10, 'select'))
  const tree = treeOf([span('a', null, 0, 100), ...equal], { errors: [errorAt('d', 25)] })
  const rows = waterfallRows(tree, ALL)
  expect(outline(rows)).toEqual(['a', ' ×3', ' d', '  error'])
  expect(rows[1]).toMatchObject({ fold: { startMs: 0, endMs: 40, totalMs: 30 } })
  const opened = waterfallRows(tree, { ...ALL, unfolded: new Set([rows[1]?.key ?? '']) })
  expect(outline(opened)).toEqual(['a', ' ×3', ' b', ' c', ' d', '  error', ' e'])
})

test('a large trace opens with its critical path and its errors, and closes the rest', () => {
  const spans = [span('root', null, 0, 1_000), span('p', 'root', 0, 900), span('q', 'p', 0, 800)]
  for (let n = 0; n < 400; n++) spans.push(span(`s${n}`, n < 200 ? 'q' : 'r', n, 1, `s${n}`))
  spans.push(span('r', 'p', 0, 10))
  const tree = treeOf(spans, { errors: [errorAt('s350', 350)] })
  expect([...closedAtFirst(tree)]).toEqual(['q'])
  expect(closedAtFirst(treeOf(spans.slice(0, 100)))).toEqual(new Set())
})

test('shares of the critical path add up, and own time is what no child accounts for', () => {
  const tree = treeOf([span('a', null, 0, 100), span('b', 'a', 10, 30), span('c', 'a', 20, 40)])
  const path = [
    { span_id: 'a', start_ms: 0, duration_ms: 20 },
    { span_id: 'c', start_ms: 20, duration_ms: 40 },
    { span_id: 'a', start_ms: 60, duration_ms: 40 },
  ]
  const { top, restMs } = pathShares({ critical_path: path, wait_ms: 100 }, tree)
  expect(top.map(({ span: one, ms }) => [one.span_id, ms])).toEqual([
    ['a', 60],
    ['c', 40],
  ])
  expect(restMs).toBe(0)
  const a = tree.nodes.get('a')
  expect(a === undefined ? null : ownTimeMs(a)).toBe(50)
})

test('an axis has few, round times', () => {
  expect(axisTicks(0, 5_390)).toEqual([0, 2_000, 4_000])
  expect(axisTicks(0, 0)).toEqual([0])
})

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')

test('any spans, also circles: each is shown once, alone or in one fold, and no error is hidden', () => {
  const any = fc.uniqueArray(
    fc.record({
      id,
      parent: fc.option(id),
      start: fc.integer({ min: 0, max: 100 }),
      ms: fc.integer({ min: 0, max: 100 }),
      text: fc.constantFrom('x', 'y'),
    }),
    { selector: (one) => one.id },
  )
  fc.assert(
    fc.property(any, fc.array(fc.option(id), { maxLength: 3 }), (given, failed) => {
      const tree = treeOf(
        given.map((one) => span(one.id, one.parent, one.start, one.ms, one.text)),
        { errors: failed.map((spanId, index) => errorAt(spanId, index)) },
      )
      const rows = waterfallRows(tree, ALL)
      const ids = rows.flatMap((row) =>
        row.kind === 'span' ? [row.key] : row.kind === 'fold' ? row.fold.nodes.map((node) => node.span.span_id) : [],
      )
      expect(ids.sort()).toEqual(given.map((one) => one.id).sort())
      expect(rows.filter(({ kind }) => kind === 'error')).toHaveLength(failed.length)
      expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length)
    }),
  )
})

test('projects that sent no spans come last, and not in a search', () => {
  const silent = [{ project_id: PROJECT, name: 'orders-api' }]
  const tree = buildTree({ spans: [span('a', null)], critical_path: [], errors: [], logs: [], silent_projects: silent })
  const kinds = (find: string) => waterfallRows(tree, { ...ALL, find }).map(({ kind }) => kind)
  expect(kinds('')).toEqual(['span', 'silent'])
  expect(kinds('a')).toEqual(['span'])
})
