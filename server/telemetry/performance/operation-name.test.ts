import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MAX_NAME, operationKind, operationName, operationOp, withoutLiterals } from './operation-name.ts'

test.each([
  ["select * from t where a = 1 and b = 'x''y'", 'select * from t where a = ? and b = ?'],
  ['select a1 from t2 where id in ($1, $2,\n $3)', 'select a1 from t2 where id in (?)'],
  ["insert into t (a) values (1, 'a'), (2, 'b')", 'insert into t (a) values (?)'],
  ["select 1 /* traceparent='00-1' */ -- end", 'select ?'],
  [
    'select "users"."id" from "users" join "b" on "b"."id" = "users"."b_id" where name = "john"',
    'select "users"."id" from "users" join "b" on "b"."id" = "users"."b_id" where name = ?',
  ],
  ['GET session:9f86d081884c7d65:12', 'GET session:?:?'],
  ['{"find":"users","filter":{"_id":"1b4e28ba-2fa1-11d2-883f-0016d3cca427"}}', '{"find":"users","filter":{"_id":?}}'],
  ["select 'never ends", 'select ?'],
  ['', ''],
])('a statement loses its values: %j', (given, shown) => {
  expect(withoutLiterals(given)).toBe(shown)
})

test('a long statement ends before a word', () => {
  const shown = withoutLiterals(`select ${'column_1234567890, '.repeat(30)}`)
  expect(shown).toMatch(/^select (?:column_1234567890, )+…$/)
  expect(shown.length).toBeLessThanOrEqual(MAX_NAME)
})

const words = [
  'select ',
  "'",
  '"',
  '(',
  ')',
  ', ',
  '--',
  '/*',
  '*/',
  '1',
  'a',
  '0x',
  '$1',
  '?',
  '.',
  '=',
  '\\',
  ' ',
  'deadbeef1',
  '…',
]
const statements = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 600 }),
  fc.array(fc.constantFrom(...words), { maxLength: 400 }).map((parts) => parts.join('')),
)

test('any statement becomes a short one, which stays the same', () => {
  fc.assert(
    fc.property(statements, (statement) => {
      const once = withoutLiterals(statement)
      expect(once.length).toBeLessThanOrEqual(MAX_NAME)
      expect(withoutLiterals(once)).toBe(once)
    }),
    { numRuns: 500 },
  )
})

test('a hostile statement takes no longer than a plain one', () => {
  for (const part of ["'", '"', '/*', '(?,', '--\n', 'a1.', '1.', '\\', '(', 'deadbee', '0x', "''\\"]) {
    const started = process.cpuUsage()
    for (let round = 0; round < 20; round++) withoutLiterals(part.repeat(100_000))
    const { user, system } = process.cpuUsage(started)
    // A quadratic one takes more than a second.
    expect((user + system) / 1_000, part).toBeLessThan(300)
  }
})

test.each([
  ['db.sql.query', 'queries', 'SELECT 1', {}, 'SELECT ?'],
  ['db', 'queries', '', {}, '(unknown)'],
  ['http.client', 'outgoing', 'GET https://user:pw@API.pay.example:8443/v1/1?key=2', {}, 'api.pay.example:8443'],
  ['http.client', 'outgoing', 'GET', { 'server.address': 'id.example' }, 'id.example'],
  ['http.client', 'outgoing', 'GET /v2/slots', {}, '(same origin)'],
  ['http.client', 'outgoing', 'GET //cdn', {}, '(unknown)'],
  ['queue.process', 'queues', 'x', { 'messaging.destination.name': 'mails' }, 'mails'],
  ['cache.get', 'caches', 'user:4711', {}, 'user:*'],
  ['resource.script', 'resources', 'https://cdn.example/app.js?v=1', {}, 'cdn.example/app.js'],
] as const)('an operation %s is one of %s', (op, kind, name, attributes, shown) => {
  expect(operationKind(op)).toBe(kind)
  expect(operationName(kind, { name, attributes })).toBe(shown)
})

test('OpenTelemetry names a system or a method instead of an op', () => {
  const opOf = (attributes: Record<string, unknown>): string => operationOp({ attributes })
  expect(opOf({ 'db.system': { value: 'postgresql', type: 'string' } })).toBe('db')
  expect(opOf({ 'http.request.method': 'GET' })).toBe('http.client')
  expect(opOf({ 'http.request.method': 'GET', 'sentry.kind': 'server' })).toBe('http.server')
  expect(opOf({ 'sentry.op': 'function' })).toBe('function')
})

test('any name of any kind is short and no error', () => {
  const kinds = fc.constantFrom('queries', 'outgoing', 'queues', 'caches', 'resources')
  fc.assert(
    fc.property(kinds, statements, statements, (kind, name, address) => {
      const shown = operationName(kind, {
        name,
        attributes: { 'url.full': address, 'messaging.destination.name': address },
      })
      expect(shown).not.toBe('')
      expect(shown.length).toBeLessThanOrEqual(MAX_NAME)
    }),
    { numRuns: 200 },
  )
})
