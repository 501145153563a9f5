import fc from 'fast-check'
import { OWN_THREAD } from './fair-turns.ts'
import { describe, expect, test } from 'vitest'
import { parseEnvelope } from '../../events/protocol/envelope.ts'
import { isRecord } from '../../events/protocol/json.ts'
import type { Preparer } from './item.ts'
import { prepareSpan, prepareTransaction } from './prepare-performance.ts'
import { someProject } from './project-facts.fixture.ts'
import { spoolEntry } from '../spool/entry.fixture.ts'

const NOW = new Date('2026-11-20T12:00:00.000Z')
const PROJECT = someProject()
const V2 = { type: 'span', content_type: 'application/vnd.sentry.items.span.v2+json' }

async function prepared(
  prepare: Preparer,
  headers: Record<string, unknown>,
  payload: Buffer | string,
  envelopeHeader: Record<string, unknown> = {},
) {
  const bytes = Buffer.from(payload)
  const head = Buffer.from(
    `${JSON.stringify(envelopeHeader)}\n${JSON.stringify({ ...headers, length: bytes.length })}\n`,
  )
  const decoded = Buffer.concat([head, bytes])
  const { header, items } = parseEnvelope(decoded)
  const [item] = items
  if (item === undefined) throw new Error('no item')
  return prepare({
    entry: spoolEntry({ projectId: PROJECT.projectId, receivedAtMs: NOW.getTime(), body: decoded }),
    project: PROJECT,
    turn: OWN_THREAD,
    header,
    items,
    item,
    decoded,
    receivedAt: NOW,
    sentAt: null,
    eventId: null,
    original: null,
  })
}

const quantityOf = (parts: readonly { readonly quantity: number }[]): number =>
  parts.reduce((sum, { quantity }) => sum + quantity, 0)

/** Spans with random faults. */
const time = fc.oneof(
  fc.double({ min: 1.79e9, max: 1.8e9 }),
  fc.constantFrom(0, -1, 1e12, 1e308, 'now', null, '2026-11-20T11:00:00.123456Z'),
)
const attribute = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.record({ value: fc.jsonValue({ maxDepth: 1 }) }))
const span = fc.record(
  {
    trace_id: fc.constantFrom('a'.repeat(32), 'B'.repeat(32), '0'.repeat(32), 7, ''),
    span_id: fc.oneof(
      fc.nat().map((n) => n.toString(16).padStart(16, 'a')),
      fc.constantFrom('0'.repeat(16), null),
    ),
    name: fc.oneof(fc.webPath(), fc.string({ unit: 'binary' }), fc.constantFrom('Pageload', 'GET', 5)),
    status: fc.constantFrom('ok', 'error', 'maybe', null, {}),
    is_segment: fc.oneof(fc.boolean(), fc.constant('yes')),
    start_timestamp: time,
    end_timestamp: time,
    timestamp: time,
    op: fc.constantFrom('app.start.cold', 'ui.webvital.lcp', 'db', 3),
    attributes: fc.dictionary(
      fc.constantFrom(
        'sentry.op',
        'browser.web_vital.lcp.value',
        'app.vitals.start.cold.value',
        'url.path',
        'frames.total',
      ),
      attribute,
    ),
    data: attribute,
    measurements: fc.dictionary(fc.constantFrom('lcp', 'inp', 'app_start_cold', 'frames_slow'), attribute),
  },
  { requiredKeys: [] },
)

describe('the quantities of parts add up to that of the item', () => {
  test('containers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(span, fc.jsonValue()), { maxLength: 30 }), async (items) => {
        const parts = await prepared(prepareSpan, V2, JSON.stringify({ version: 2, items }))
        expect(quantityOf(parts)).toBe(items.length)
        for (const part of parts) {
          expect(part.category).toBe('span')
          if (!('kind' in part) || part.kind !== 'performance') continue
          for (const { value } of part.fact.values) expect(Number.isFinite(value)).toBe(true)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('single spans and transactions', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(span, fc.jsonValue()), async (one) => {
        expect(quantityOf(await prepared(prepareSpan, { type: 'span' }, JSON.stringify(one)))).toBe(1)
        const trace = { ...(isRecord(one) ? one : {}), op: 'x' }
        const transaction = JSON.stringify({ ...(isRecord(one) ? one : {}), contexts: { trace }, spans: [one] })
        expect(quantityOf(await prepared(prepareTransaction, { type: 'transaction' }, transaction))).toBe(1)
      }),
      { numRuns: 300 },
    )
  })

  test('random bytes', async () => {
    const sound = JSON.stringify({ version: 2, items: [{ name: 'é', attributes: { 'sentry.op': { value: 'x' } } }] })
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 40 }), fc.nat(sound.length), async (bytes, cutAt) => {
        for (const payload of [
          Buffer.from(bytes),
          Buffer.from(sound.slice(0, cutAt)),
          Buffer.concat([Buffer.from(sound.slice(0, cutAt)), bytes]),
        ]) {
          expect(quantityOf(await prepared(prepareSpan, V2, payload))).toBeLessThanOrEqual(1)
          expect(quantityOf(await prepared(prepareTransaction, { type: 'transaction' }, payload))).toBe(1)
        }
      }),
      { numRuns: 200 },
    )
  })
})

test('a span without release and environment has those of the envelope', async () => {
  const one = { trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16), is_segment: true, start_timestamp: 1_795_149_000 }
  const items = [
    { ...one, end_timestamp: 1_795_149_001, name: 'x' },
    { ...one, end_timestamp: 1_795_149_001, name: 'y', attributes: { 'sentry.release': { value: 'own@1' } } },
  ]
  const trace = { release: 'shop@2', environment: 'staging' }
  const parts = await prepared(prepareSpan, V2, JSON.stringify({ items }), { trace })
  const facts = parts.flatMap((part) => ('kind' in part && part.kind === 'performance' ? [part.fact] : []))
  expect(facts.map(({ dimensions }) => dimensions)).toMatchObject([
    { name: 'x', release: 'shop@2', environment: 'staging' },
    { name: 'y', release: 'own@1', environment: 'staging' },
    // The spans of the trace, added up.
    null,
  ])
  expect(facts.flatMap(({ spans = [] }) => spans)).toMatchObject([
    { transaction: 'x', environment: 'staging', parts: [{ name: 'Own code', ms: [1_000] }] },
    { transaction: 'y', environment: 'staging', parts: [{ name: 'Own code', ms: [1_000] }] },
  ])
})
