import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { interceptedApp } from '#test/kit/intercepted-app.ts'
import { anEvent } from '#test/kit/sdk.ts'
import { cases, PROPERTY_TIMEOUT_MS } from '#test/kit/properties.ts'
import { testApp } from '#test/kit/test-app.ts'
import { createDigester, type Digester } from './digester.ts'
import { seedProject, testIntake } from '../intake/intake.fixture.ts'

/**
 * Every item of every request with a valid key and envelope header ends in exactly one outcome: also when it is refused,
 * sent twice, interrupted or quarantined.
 */
vi.setConfig({ testTimeout: PROPERTY_TIMEOUT_MS })
const t = await testApp()
const { app, clock } = t
const intake = await testIntake(app)
t.onClose(() => intake.close())

/** One of the statements that match `at` fails, after the given number of them. */
type Fault = { kind: 'gone' | 'data'; at?: RegExp; after: number }

const STATEMENTS = { gone: 'select pg_terminate_backend(pg_backend_pid())', data: 'select 1/0' }

const id = (): string => randomBytes(16).toString('hex')
const named = (type: string, payload: string | object, headers: object = {}): string => {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
  return `${JSON.stringify({ type, ...headers, length: Buffer.byteLength(text) })}\n${text}\n`
}

/** Items with the quantity that each counts for. */
const ITEMS: Record<string, () => [text: string, quantity: number]> = {
  event: () => [named('event', anEvent()), 1],
  eventNotJson: () => [named('event', '{"message":'), 1],
  eventTooDeep: () => [named('event', `{"extra":${'['.repeat(80)}${']'.repeat(80)}}`), 1],
  eventTooLarge: () => [named('event', { message: randomBytes(1 << 19).toString('hex') }), 1],
  session: () => [
    named('session', {
      sid: id(),
      init: true,
      status: 'ok',
      started: clock.now().toISOString(),
      attrs: { release: 'a@1' },
    }),
    1,
  ],
  sessionBroken: () => [named('session', { sid: 7 }), 1],
  logs: () => {
    const entry = { timestamp: clock.now().getTime() / 1000, level: 'info', body: 'x', trace_id: id() }
    return [
      named(
        'log',
        { items: [entry, entry, { nonsense: true }] },
        { item_count: 3, content_type: 'application/vnd.sentry.items.log+json' },
      ),
      3,
    ]
  },
  report: () => [
    named('client_report', { discarded_events: [{ reason: 'sample_rate', category: 'error', quantity: 9 }] }),
    1,
  ],
  reportBroken: () => [named('client_report', '[]'), 1],
  hologram: () => [named('hologram', 'abc'), 1],
}

type Step =
  | { kind: 'send'; items: readonly string[]; gzip: boolean; times: number }
  | { kind: 'store'; broken: boolean }
  | { kind: 'malformed' }
  | { kind: 'bomb' }
  | { kind: 'digest'; faults: readonly Fault[] }
  | { kind: 'restart' }
  | { kind: 'wait'; seconds: number }

const aFault = fc.record({ kind: fc.constantFrom('gone' as const, 'data' as const), after: fc.nat(12) })
const aStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      items: fc.array(fc.constantFrom(...Object.keys(ITEMS)), { maxLength: 4 }),
      gzip: fc.boolean(),
      times: fc.integer({ min: 1, max: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('store' as const), broken: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('malformed' as const, 'bomb' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('digest' as const), faults: fc.array(aFault, { maxLength: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 30 }) }) },
)

const sends = (...items: string[]): Step => ({ kind: 'send', items, gzip: true, times: 2 })

/** These produce every outcome at least once. */
const EXAMPLES: [Step[]][] = [
  [[sends('event', 'event', 'hologram'), sends('eventNotJson'), sends('eventTooLarge'), { kind: 'malformed' }]],
  [[...Array.from({ length: 4 }, () => sends('event', 'session')), { kind: 'store', broken: false }, { kind: 'bomb' }]],
  // The batch cannot be recorded, and then the entry alone.
  [
    [
      sends('event', 'session'),
      {
        kind: 'digest',
        faults: [
          { kind: 'data', at: /insert into issues /, after: 0 },
          { kind: 'data', at: /insert into issues /, after: 0 },
        ],
      },
    ],
  ],
  // An envelope without items ends in quarantine without an outcome.
  ...[3, 4, 5, 6].flatMap((first) =>
    [1, 2, 3].map((after): [Step[]] => [
      [
        sends(),
        {
          kind: 'digest',
          faults: [
            { kind: 'data', after: first },
            { kind: 'data', after },
          ],
        },
      ],
    ]),
  ),
]

let projects = 5_000

/** Statements that may fail: all but the ends of transactions. */
const ANY = /^(?!begin|rollback)/

const BOMB = gzipSync(Buffer.alloc(8 << 20))

test('the number of sent items is the sum of outcomes under random faults', async () => {
  const seen = new Map<string, number>()
  const faults: Fault[] = []
  // At the given statement the connection breaks, or the database refuses the data.
  const digesting = interceptedApp(t, (text, run) => {
    const [fault] = faults
    if (fault === undefined || !(fault.at ?? ANY).test(text) || fault.after-- > 0) return run()
    faults.shift()
    return run(STATEMENTS[fault.kind])
  })
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { minLength: 1, maxLength: 12 }), async (steps) => {
      const number = ++projects
      const publicKey = id()
      const { projectId } = await seedProject(app, { number, publicKey })
      // Ten a minute and three in ten seconds: most runs reach the limit.
      await app.db.query(`update projects set settings = '{"rate_limit_per_minute": 10}' where id = $1`, [projectId])
      const send = (endpoint: string, body: string | Buffer, headers: Record<string, string> = {}) =>
        intake.send({ url: `/api/${number}/${endpoint}/?sentry_key=${publicKey}`, body, headers })
      let digester: Digester = await createDigester(digesting)
      let sent = 0
      const drain = async (): Promise<void> => {
        for (let attempt = 0; attempt < 20; attempt++) {
          try {
            return await digester.drain()
          } catch {
            // Interrupted by a fault; the remaining requests stay in the spool.
          }
        }
        throw new Error('digestion did not finish after 20 attempts')
      }
      try {
        for (const step of steps) {
          if (step.kind === 'send') {
            const items = step.items.map((name) => ITEMS[name]!())
            const text = `${JSON.stringify({ event_id: id() })}\n${items.map(([one]) => one).join('')}`
            const body = step.gzip ? gzipSync(text) : text
            for (let time = 0; time < step.times; time++) {
              const answer = await send('envelope', body, step.gzip ? { 'content-encoding': 'gzip' } : {})
              expect([200, 413, 429], answer.text).toContain(answer.status)
              sent += items.reduce((sum, [, quantity]) => sum + quantity, 0)
            }
          } else if (step.kind === 'store') {
            const answer = await send('store', step.broken ? '{"message":' : JSON.stringify(anEvent()))
            expect([200, 429]).toContain(answer.status)
            sent++
          } else if (step.kind === 'malformed') {
            expect((await send('envelope', '{}\n{"type":"event","length":99}\n{}')).status).toBe(400)
            sent++
          } else if (step.kind === 'bomb') {
            expect((await send('envelope', BOMB, { 'content-encoding': 'gzip' })).status).toBe(413)
            sent++
          } else if (step.kind === 'digest') {
            faults.push(...step.faults.map((fault) => ({ ...fault })))
            await drain()
            faults.length = 0
          } else if (step.kind === 'restart') {
            await digester.close()
            digester = await createDigester(digesting)
          } else clock.advance(step.seconds * 1000)
        }
        await drain()
        await intake.intake.rejected.flush()
      } finally {
        faults.length = 0
        await digester.close()
      }
      const { rows } = await app.db.query<{ outcome: string; reason: string; category: string; quantity: number }>(
        'select outcome, reason, category, quantity from outcomes_hourly where project_id = $1',
        [projectId],
      )
      expect(
        rows.reduce((sum, row) => sum + row.quantity, 0),
        JSON.stringify(rows),
      ).toBe(sent)
      for (const row of rows) {
        expect(row.reason).toMatch(/^[a-z_]{0,40}$/)
        const name = `${row.outcome} ${row.reason}`
        seen.set(name, (seen.get(name) ?? 0) + row.quantity)
      }
      const events = rows.filter((row) => row.outcome === 'accepted' && row.category === 'error')
      const stored = await app.db.query<{ n: number }>('select count(*)::int as n from events where project_id = $1', [
        projectId,
      ])
      expect(events.reduce((sum, row) => sum + row.quantity, 0)).toBe(stored.rows[0]?.n)
      const left = await app.db.query<{ n: number }>('select count(*)::int as n from spool')
      expect(left.rows[0]?.n).toBe(0)
    }),
    { numRuns: EXAMPLES.length + cases(30, 800), endOnFailure: true, examples: EXAMPLES },
  )
  // Otherwise the runs do not prove anything.
  const missing = [
    'accepted ',
    'duplicate ',
    'invalid not_json',
    'invalid too_large',
    'invalid envelope',
    'rate_limited storm',
    'discarded second_event',
    'discarded unknown_type',
    'dropped quarantine',
  ].filter((name) => !seen.has(name))
  expect(missing, `outcomes that no run produced, beside ${[...seen.keys()].join(', ')}`).toEqual([])
})
