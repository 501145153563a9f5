import { randomBytes } from 'node:crypto'
import zlib from 'node:zlib'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { watchLoop } from '#test/kit/loop-watch.ts'
import { readEdgeCases, readIntakeSamples, SAMPLE_KEY, SAMPLE_PROJECT } from '#test/kit/samples.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { decodeBodySync } from '../../events/protocol/decode.ts'
import { parseEnvelope } from '../../events/protocol/envelope.ts'
import { publish } from '../../platform/storage/bus.ts'
import { seedProject, testIntake } from './intake.fixture.ts'

const { app, clock, onClose } = await testApp()
const { projectId, keyId } = await seedProject(app, { number: SAMPLE_PROJECT, publicKey: SAMPLE_KEY })
const OTHER_KEY = 'f'.repeat(32)
await seedProject(app, { number: 4502, publicKey: OTHER_KEY })
const intake = await testIntake(app)
onClose(() => intake.close())

const ENVELOPE = `/api/${SAMPLE_PROJECT}/envelope/`
const STORE = `/api/${SAMPLE_PROJECT}/store/`
const anId: unknown = expect.stringMatching(/^[0-9a-f]{32}$/)
const anyText: unknown = expect.any(String)
const auth = { 'x-sentry-auth': `Sentry sentry_key=${SAMPLE_KEY}, sentry_version=7, sentry_client=test/1.0` }
const ID = '9ec79c33ec9942ab8353589fcb2e04dc'
const envelope = (payload = '{"message":"x"}', header: object = { event_id: ID }) =>
  `${JSON.stringify(header)}\n{"type":"event"}\n${payload}\n`
const post = (body: Buffer | string, headers: Record<string, string> = {}, url = ENVELOPE) =>
  intake.send({ url, headers: { ...auth, ...headers }, body })

afterEach(async () => {
  await app.db.query('truncate spool')
  // Limits cover the last minute.
  clock.advance(120_000)
})

describe('the 144 recordings', () => {
  const samples = readIntakeSamples()
  test('are complete', () => expect(samples).toHaveLength(144))

  test('get the answer their SDK expects and are stored byte by byte', async () => {
    for (const sample of samples) {
      const answer = await intake.send(sample)
      expect(answer.status, `${sample.name}: ${answer.text}`).toBe(200)
      expect(answer.headers['content-type']).toBe('application/json')
      const body: unknown = JSON.parse(answer.text)
      if (sample.answeredId !== null) expect(body, sample.name).toEqual({ id: sample.answeredId.replaceAll('-', '') })
      else expect(body, sample.name).toEqual(answer.text === '{}' ? {} : { id: anId })
      const [entry, ...more] = await intake.takeAll()
      expect(more).toEqual([])
      expect(entry?.body.equals(sample.body), sample.name).toBe(true)
      expect(entry).toMatchObject({
        projectId,
        keyId,
        projectNumber: SAMPLE_PROJECT,
        clientIp: '127.0.0.1',
        dropped: [],
        receivedAtMs: clock.now().getTime(),
      })
      clock.advance(10_000)
    }
  }, 120_000)
})

describe('the 39 edge cases', () => {
  test.each(readEdgeCases())('$file', async ({ url, headers, body, expect: expected }) => {
    const answer = await intake.send({ url, headers, body })
    expect(answer.status, answer.text).toBe(expected.status)
    const entries = await intake.takeAll()
    if (expected.status !== 200) {
      expect(entries).toEqual([])
      expect(JSON.parse(answer.text)).toEqual({
        detail: answer.headers['x-sentry-error'],
        error: answer.headers['x-sentry-error'],
      })
      return
    }
    expect(entries).toHaveLength(1)
    // The list of edge cases has remarks after some answers.
    if (expected.answer !== undefined) expect(expected.answer.startsWith(answer.text)).toBe(true)
    if (url.startsWith(ENVELOPE)) {
      const items = parseEnvelope(decodeBodySync(entries[0]!.body, entries[0]!.encoding)).items.filter(
        (item) => item.type !== 'hologram' && !item.surplus,
      )
      expect(items.map(({ type }) => type)).toEqual(expected.items?.map(({ type }) => type))
    }
  })

  test('answers the id of the header, or that of the payload when the header has none', async () => {
    const inPayload = '{"event_id":"11111111-2222-3333-4444-555555555555","message":"x"}'
    expect((await post(envelope(inPayload, {}))).text).toBe('{"id":"11111111222233334444555555555555"}')
    expect((await post(envelope(inPayload))).text).toBe(`{"id":"${ID}"}`)
    expect(JSON.parse((await post(envelope('{"message":"x"}', {}))).text)).toEqual({
      id: anId,
    })
    expect((await post('{}\n{"type":"client_report"}\n{}')).text).toBe('{}')
    const entries = await intake.takeAll()
    expect(entries.map((entry) => entry.eventId)).toEqual(['11111111222233334444555555555555', ID, anId, null])
  })
})

describe('authentication', () => {
  test.each([
    ['an unknown key', { 'x-sentry-auth': `Sentry sentry_key=${'a'.repeat(32)}` }, ENVELOPE, 403, 'unknown'],
    [
      'the key of another project',
      { 'x-sentry-auth': `Sentry sentry_key=${OTHER_KEY}` },
      ENVELOPE,
      403,
      'another project',
    ],
    ['an unknown project', auth, '/api/99/envelope/', 403, 'another project'],
    ['no key', {}, ENVELOPE, 401, 'no key'],
    ['no key at the store', {}, STORE, 401, 'no key'],
    ['a malformed key', { 'x-sentry-auth': 'Sentry sentry_key=abc' }, ENVELOPE, 400, 'malformed'],
    ['two different keys', auth, `${ENVELOPE}?sentry_key=${OTHER_KEY}`, 400, 'two different keys'],
    ['a version from the future', auth, `${ENVELOPE}?sentry_key=${SAMPLE_KEY}&sentry_version=8`, 400, 'sentry_version'],
  ])('%s', async (_name, headers, url, status, reason) => {
    const answer = await intake.send({ url, headers, body: envelope() })
    expect(answer.status).toBe(status)
    expect(answer.text).toContain(reason)
    expect(answer.headers['x-sentry-error']).toContain(reason)
    expect(await intake.takeAll()).toEqual([])
  })

  test.each([
    ['query', {}, `${ENVELOPE}?sentry_key=${SAMPLE_KEY}&sentry_version=7`],
    ['Authorization', { authorization: `Sentry sentry_key=${SAMPLE_KEY}` }, ENVELOPE],
    ['Basic', { authorization: `Basic ${Buffer.from(`${SAMPLE_KEY}:`).toString('base64')}` }, ENVELOPE],
    ['the same key twice', auth, `${ENVELOPE}?sentry_key=${SAMPLE_KEY}`],
    ['no final slash', auth, ENVELOPE.slice(0, -1)],
    ['a base path', auth, `/faults${ENVELOPE}`],
  ])('%s is accepted', async (_name, headers, url) =>
    expect((await intake.send({ url, headers, body: envelope() })).status).toBe(200),
  )

  test.each(['none', 'gzip', 'deflate', 'br', 'zstd'] as const)(
    'the dsn of the envelope is enough, with %s, and only its first line is read before the key is checked',
    async (encoding) => {
      const body = Buffer.from(
        `{"dsn":"http://${'b'.repeat(32)}@tunnel.example/${SAMPLE_PROJECT}"}\n{"type":"attachment","length":400000}\n${randomBytes(200_000).toString('hex')}\n`,
      )
      const encode = {
        none: (bytes: Buffer) => bytes,
        gzip: zlib.gzipSync,
        deflate: zlib.deflateSync,
        br: (bytes: Buffer) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
        zstd: zlib.zstdCompressSync,
      }
      const headers: Record<string, string> = encoding === 'none' ? {} : { 'content-encoding': encoding }
      const good = Buffer.from(body.toString('latin1').replace('b'.repeat(32), SAMPLE_KEY), 'latin1')
      expect((await intake.send({ url: ENVELOPE, headers, body: encode[encoding](good) })).status).toBe(200)
      // The refusal arrives although the rest of the body is never sent.
      const raw = encode[encoding](body)
      const socket = await intake.socket()
      let answer = ''
      socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')))
      socket.write(
        `POST ${ENVELOPE} HTTP/1.1\r\nhost: x\r\n${encoding === 'none' ? '' : `content-encoding: ${encoding}\r\n`}content-length: ${raw.length + 10_000_000}\r\n\r\n`,
      )
      socket.write(raw)
      await waitFor('the refusal', () => answer.includes('HTTP/1.1 403'))
      socket.destroy()
    },
  )

  test('a key is refused from the second it expires, and its successor works', async () => {
    const rotated = 'c'.repeat(32)
    await app.db.query(
      'insert into project_keys (id, project_id, public_key, created_at, expires_at) values (gen_random_uuid(), $1, $2, $3, $4)',
      [projectId, rotated, clock.now(), new Date(clock.now().getTime() + 30_000)],
    )
    const send = () => intake.send({ url: `${ENVELOPE}?sentry_key=${rotated}`, body: envelope() })
    expect((await send()).status).toBe(200)
    clock.advance(29_999)
    expect((await send()).status).toBe(200)
    clock.advance(1)
    const refused = await send()
    expect(refused.status).toBe(403)
    expect(refused.text).toContain('rotated')
    expect((await post(envelope())).status).toBe(200)
  })

  test('a deleted key is refused within a minute, and immediately after drop()', async () => {
    for (const isDropped of [true, false]) {
      const gone = randomBytes(16).toString('hex')
      await app.db.query(
        'insert into project_keys (id, project_id, public_key, created_at) values (gen_random_uuid(), $1, $2, $3)',
        [projectId, gone, clock.now()],
      )
      const send = () => intake.send({ url: `${ENVELOPE}?sentry_key=${gone}`, body: envelope() })
      expect((await send()).status).toBe(200)
      await app.db.query('delete from project_keys where public_key = $1', [gone])
      if (isDropped) intake.intake.keys.drop(gone)
      else clock.advance(60_000)
      expect((await send()).status).toBe(403)
    }
  })

  test('records the last use of a key and the first request of a project', async () => {
    await post(envelope())
    const facts = await waitFor('the facts', async () => {
      const { rows } = await app.db.query<{ last_seen_at: Date | null; first_request_at: Date | null }>(
        'select last_seen_at, first_request_at from projects join project_keys on project_id = projects.id where public_key = $1',
        [SAMPLE_KEY],
      )
      return rows[0]?.last_seen_at == null ? null : rows[0]
    })
    expect(facts.first_request_at).not.toBeNull()
    expect(facts.first_request_at!.getTime()).toBeLessThanOrEqual(facts.last_seen_at!.getTime())
  })
})

describe('every answer lets a browser read it', () => {
  test.each([
    ['200', () => post(envelope())],
    ['400', () => post('nope')],
    ['401', () => intake.send({ url: ENVELOPE, body: envelope() })],
    ['403', () => intake.send({ url: `${ENVELOPE}?sentry_key=${'a'.repeat(32)}`, body: envelope() })],
    ['404', () => intake.send({ url: `/api/${SAMPLE_PROJECT}/upload/`, body: 'x' })],
    ['404', () => intake.send({ url: `/api/${SAMPLE_PROJECT}/`, body: 'x' })],
    ['405', () => intake.send({ url: ENVELOPE, method: 'PUT', body: 'x' })],
    ['405', () => intake.send({ url: ENVELOPE, method: 'GET' })],
    ['413', () => post(envelope(`{"message":"${'x'.repeat(1 << 20)}"}`))],
  ])('%s', async (status, send) => {
    const answer = await send()
    expect(String(answer.status)).toBe(status)
    expect(answer.headers['access-control-allow-origin']).toBe('*')
    expect(answer.headers['access-control-expose-headers']).toBe('x-sentry-error, x-sentry-rate-limits, retry-after')
    if (answer.status !== 200) expect(JSON.parse(answer.text)).toEqual({ detail: anyText, error: anyText })
  })

  test('the preflight', async () => {
    const answer = await intake.send({ url: ENVELOPE, method: 'OPTIONS' })
    expect(answer.status).toBe(204)
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST',
      'access-control-max-age': '3600',
    })
    for (const name of ['x-sentry-auth', 'content-type', 'content-encoding', 'baggage'])
      expect(answer.headers['access-control-allow-headers']).toContain(name)
  })

  test.each([
    '/api/0/organizations/',
    '/api/issues',
    '/api/projects/4501/envelope/',
    '/',
    '/api',
    '/assets/api/4501/other/',
  ])('%s is not SDK traffic', async (url) => expect((await intake.send({ url, method: 'GET' })).status).toBe(418))
})

describe('/store/', () => {
  const event = JSON.stringify({ event_id: ID, message: 'x' })

  test.each([
    ['JSON', event, STORE],
    ['base64 of zlib', zlib.deflateSync(event).toString('base64'), STORE],
    ['a form', `sentry_data=${encodeURIComponent(zlib.deflateSync(event).toString('base64'))}`, STORE],
    ['without a project in the path', event, '/api/store/'],
  ])('%s', async (_name, body, url) => {
    const answer = await post(body, {}, url)
    expect(answer).toMatchObject({ status: 200, text: `{"id":"${ID}"}` })
    expect(await intake.takeAll()).toMatchObject([{ endpoint: 'store', eventId: ID, projectId }])
  })

  test('GET is answered with a pixel', async () => {
    const answer = await intake.send({
      url: `${STORE}?sentry_key=${SAMPLE_KEY}&sentry_data=${encodeURIComponent(event)}`,
      method: 'GET',
    })
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('image/gif')
    expect(answer.text.slice(0, 6)).toBe('GIF89a')
    expect(await intake.takeAll()).toMatchObject([{ endpoint: 'store', eventId: ID }])
    expect((await intake.send({ url: `${STORE}?sentry_key=${SAMPLE_KEY}`, method: 'GET' })).status).toBe(400)
  })

  test('refuses only bodies that do not start with {', async () => {
    expect((await post('[1]', {}, STORE)).status).toBe(400)
    expect((await post('', {}, STORE)).status).toBe(400)
    expect((await post('{ this is not JSON', {}, STORE)).status).toBe(200)
  })
})

describe('bad input', () => {
  test.each([
    ['truncated gzip', zlib.gzipSync(envelope()).subarray(0, 40), { 'content-encoding': 'gzip' }, 400],
    [
      '100 MB in a few bytes of brotli',
      zlib.brotliCompressSync(Buffer.alloc(100 << 20)),
      { 'content-encoding': 'br' },
      413,
    ],
    ['gzip 1,000:1', zlib.gzipSync(Buffer.alloc(50 << 20)), { 'content-encoding': 'gzip' }, 413],
    ['gzip in gzip', zlib.gzipSync(zlib.gzipSync(envelope())), { 'content-encoding': 'gzip' }, 400],
    ['two encodings', zlib.gzipSync(zlib.gzipSync(envelope())), { 'content-encoding': 'gzip, gzip' }, 400],
    ['an unknown encoding', envelope(), { 'content-encoding': 'rot13' }, 400],
    ['a deep item header', `{}\n{"type":"event","x":${'['.repeat(30_000)}${']'.repeat(30_000)}}\n{}`, {}, 400],
    ['a length of 2^53', '{}\n{"type":"event","length":9007199254740992}\n{}', {}, 400],
    ['10,001 items', `{}\n${'{"type":"x"}\n\n'.repeat(10_001)}`, {}, 413],
    ['a bad id', envelope('{}', { event_id: 'nope' }), {}, 400],
  ])('%s', async (_name, body, headers, status) => {
    const answer = await post(body, headers)
    expect(answer.status, answer.text).toBe(status)
    expect(answer.headers['x-sentry-error']).toBeTruthy()
    expect(await intake.takeAll()).toEqual([])
  })

  test.each([
    ['JSON a million levels deep', envelope('['.repeat(1_000_000))],
    ['no JSON at all', envelope('this is no JSON')],
    ['NUL and lone surrogates', envelope('{"message":"\\u0000 \\ud800"}')],
    ['__proto__', envelope('{"__proto__":{"polluted":true}}')],
    ['an event of 2099', envelope('{"timestamp":4070908800}')],
    [
      '10,000 breadcrumbs',
      envelope(JSON.stringify({ breadcrumbs: Array.from({ length: 10_000 }, () => ({ message: 'x' })) })),
    ],
    ['10,000 empty lines', `{}${'\n'.repeat(10_000)}`],
  ])('%s is accepted; digestion decides about it', async (_name, body) => {
    expect((await post(body)).status).toBe(200)
    expect(await intake.takeAll()).toHaveLength(1)
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  test('a body over 20 MiB is refused, with or without Content-Length', async () => {
    const socket = await intake.socket()
    let answer = ''
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')))
    socket.write(
      `POST ${ENVELOPE} HTTP/1.1\r\nhost: x\r\nx-sentry-auth: ${auth['x-sentry-auth']}\r\ncontent-length: ${(20 << 20) + 1}\r\n\r\n`,
    )
    await waitFor('the refusal', () => answer.includes('HTTP/1.1 413'))
    socket.destroy()
    const chunked = await intake.send({
      url: ENVELOPE,
      headers: { ...auth, 'transfer-encoding': 'chunked' },
      body: Buffer.alloc((20 << 20) + 1, 'x'),
    })
    expect(chunked.status).toBe(413)
  })

  test('half an envelope on a cut connection stores nothing', async () => {
    const before = intake.intake.counters.aborted
    const socket = await intake.socket()
    socket.write(
      `POST ${ENVELOPE} HTTP/1.1\r\nhost: x\r\nx-sentry-auth: ${auth['x-sentry-auth']}\r\ncontent-length: 1000\r\n\r\n${envelope()}`,
    )
    await waitFor('the request', () => intake.intake.counters.requests > 0)
    socket.destroy()
    await waitFor('the abort', () => intake.intake.counters.aborted > before)
    expect(await intake.takeAll()).toEqual([])
  })

  test('a body that arrives too slowly is refused after the time limit', async () => {
    const impatient = await testIntake(app, { bodyTimeoutMs: 600 })
    onTestFinished(() => impatient.close())
    const socket = await impatient.socket()
    let answer = ''
    let closed = false
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1'))).on('close', () => (closed = true))
    socket.write(
      `POST ${ENVELOPE} HTTP/1.1\r\nhost: x\r\nx-sentry-auth: ${auth['x-sentry-auth']}\r\ncontent-length: 1000\r\n\r\n`,
    )
    const drip = setInterval(() => socket.write('{'), 50)
    await waitFor('the end', () => closed)
    clearInterval(drip)
    expect(answer).toContain('HTTP/1.1 400')
    expect(await impatient.takeAll()).toEqual([])
  })

  test('50 requests with the same event id are all answered with it', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => post(zlib.gzipSync(envelope()), { 'content-encoding': 'gzip' })),
    )
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(new Set([`200 {"id":"${ID}"}`]))
    expect(await intake.takeAll()).toHaveLength(50)
  })
})

describe('limits', () => {
  test('a key may send 1,000 errors in 10 s, and other categories still pass', async () => {
    const answers: number[] = []
    for (let i = 0; i < 1_002; i++) answers.push((await post(envelope())).status)
    expect(answers.filter((status) => status === 200)).toHaveLength(1_000)
    const refused = await post(envelope())
    expect(refused.status).toBe(429)
    expect(refused.headers['x-sentry-rate-limits']).toMatch(/^\d+:error:key:rate_limit$/)
    expect(refused.headers['retry-after']).toBe(String(refused.headers['x-sentry-rate-limits']).split(':')[0])
    expect((await post('{}\n{"type":"session"}\n{}')).status).toBe(200)
    expect((await post('{}\n{"type":"transaction"}\n{}')).status).toBe(200)
    expect((await intake.send({ url: `/api/4502/envelope/?sentry_key=${OTHER_KEY}`, body: envelope() })).status).toBe(
      200,
    )
    clock.advance(10_000)
    expect((await post(envelope())).status).toBe(200)
  }, 60_000)

  test('an envelope loses only its limited items, and the spool entry lists them', async () => {
    for (let i = 0; i < 1_000; i++) await post('{}\n{"type":"event"}\n{}')
    await intake.takeAll()
    const answer = await post(
      '{}\n{"type":"attachment","attachment_type":"event.minidump"}\nM\n{"type":"attachment"}\nx\n{"type":"event"}\n{}\n{"type":"client_report"}\n{}',
    )
    expect(answer.status).toBe(429)
    expect(answer.headers['x-sentry-rate-limits']).toMatch(/^\d+:error:key:rate_limit$/)
    const entries = await intake.takeAll()
    expect(entries).toHaveLength(1)
    expect(entries[0]!.dropped).toEqual([
      { index: 1, reason: 'storm' },
      { index: 2, reason: 'storm' },
    ])
  }, 60_000)

  test("a project's own limit and allowed origins apply, and so does a change of them", async () => {
    const restricted = randomBytes(16).toString('hex')
    const { projectId: id } = await seedProject(app, { number: 4600, publicKey: restricted })
    await app.db.query('update projects set settings = $2 where id = $1', [
      id,
      { rate_limit_per_minute: 3, allowed_origins: ['https://shop.example'] },
    ])
    const send = (origin: string) =>
      intake.send({ url: `/api/4600/envelope/?sentry_key=${restricted}`, headers: { origin }, body: envelope() })
    expect((await send('https://shop.example')).status).toBe(200)
    expect((await send('https://shop.example')).status).toBe(429)
    const refused = await send('https://other.example')
    expect(refused.status).toBe(403)
    expect(refused.text).toContain('origin')
    await app.db.query('update projects set settings = $2 where id = $1', [id, {}])
    await publish(app.db, 'project', { project_id: id })
    await waitFor('the change to apply', async () => (await send('https://other.example')).status === 200)
  })

  test("the limit of a key comes before its project's, and a disabled key is refused until it is enabled", async () => {
    const own = randomBytes(16).toString('hex')
    const { projectId: id } = await seedProject(app, { number: 4601, publicKey: own })
    await app.db.query('update projects set settings = $2 where id = $1', [id, { rate_limit_per_minute: 300 }])
    const change = async (set: string) => {
      await app.db.query(`update project_keys set ${set} where public_key = $1`, [own])
      intake.intake.keys.drop(own)
    }
    const send = async () =>
      (await intake.send({ url: `/api/4601/envelope/?sentry_key=${own}`, body: envelope() })).status
    await change('rate_limit_per_minute = 3')
    expect([await send(), await send()]).toEqual([200, 429])
    await change('rate_limit_per_minute = null')
    expect(await send()).toBe(200)
    await change(`disabled_at = '2020-01-01'`)
    expect(await send()).toBe(403)
    await change('disabled_at = null')
    expect(await send()).toBe(200)
  })

  test('an item over its size limit is dropped, the others are stored', async () => {
    const answer = await post(`{}\n{"type":"session"}\n{}\n{"type":"event"}\n{"message":"${'x'.repeat(1 << 20)}"}`)
    expect(answer.status).toBe(200)
    expect(await intake.takeAll()).toMatchObject([{ dropped: [{ index: 1, reason: 'too_large' }] }])
  })
})

test('large compressed bodies are accepted without blocking other requests', async () => {
  const payload = Buffer.from(
    Array.from({ length: 400_000 }, (_, i) => `${(i * 40_503) & 0xffffff} attached line\n`).join(''),
  )
  const body = Buffer.concat([
    Buffer.from(`{"event_id":"${ID}"}\n{"type":"attachment","length":${payload.length}}\n`),
    payload,
  ])
  expect(body.length).toBeGreaterThan(8 << 20)
  const encoded = [
    zlib.gzipSync(body, { level: 1 }),
    zlib.gzipSync(body, { level: 1 }),
    zlib.gzipSync(body, { level: 1 }),
  ]
  const loop = watchLoop()
  const answers = await Promise.all(encoded.map((raw) => post(raw, { 'content-encoding': 'gzip' })))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(loop.longestHoldMs()).toBeLessThan(200)
  loop.stop()
})
