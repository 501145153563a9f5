import zlib from 'node:zlib'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { random } from '#bench/payloads.ts'
import { watchLoop } from '#test/kit/loop-watch.ts'
import { readIntakeSamples, SAMPLE_KEY, SAMPLE_PROJECT } from '#test/kit/samples.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { mutate } from '#test/torture/mutate.ts'
import { type Answer, seedProject, testIntake } from './intake.fixture.ts'

// Short forms of T-09, T-10 and T-14 (docs/reliability.md): no request may cause a 5xx or block other requests.
const { app, onClose } = await testApp({ env: { RATE_LIMIT_SCALE: '0' } })
await seedProject(app, { number: SAMPLE_PROJECT, publicKey: SAMPLE_KEY })
const intake = await testIntake(app, { bodyTimeoutMs: 2_000 })
onClose(() => intake.close())

const ENVELOPE = `/api/${SAMPLE_PROJECT}/envelope/`
const auth = { 'x-sentry-auth': `Sentry sentry_key=${SAMPLE_KEY}` }
const SEED = 20_261_120

/** Sends a request and expects the event loop never to be blocked for 200 ms. */
async function sendWatched(options: Parameters<typeof intake.send>[0]): Promise<Answer> {
  const loop = watchLoop()
  const answer = await intake.send(options)
  loop.stop()
  expect(loop.longestHoldMs()).toBeLessThan(200)
  return answer
}

describe('mutated recordings', () => {
  test('get answers below 500 and do not block other requests', async () => {
    const rand = random(SEED)
    const samples = readIntakeSamples()
    const statuses = new Map<number, number>()
    for (let round = 0; round < 30; round++) {
      const answers = await Promise.all(
        samples.slice(0, 48).map((_, index) => {
          const sample = samples[(round * 48 + index) % samples.length]!
          return sendWatched({ url: sample.url, headers: sample.headers, body: mutate(sample.body, rand) })
        }),
      )
      for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    const counts = JSON.stringify([...statuses])
    expect(
      [...statuses.keys()].every((status) => [200, 400, 413].includes(status)),
      `seed ${SEED}: ${counts}`,
    ).toBe(true)
    // Otherwise the mutations break too little or too much to test anything.
    expect(statuses.get(200), counts).toBeGreaterThan(50)
    expect(statuses.get(400), counts).toBeGreaterThan(50)
  }, 60_000)
})

describe('bombs', () => {
  const zeros = Buffer.alloc(60 << 20)
  const gzip = zlib.gzipSync(zeros, { level: 1 })
  const bombs: [string, string, Buffer][] = [
    ['gzip', 'gzip', gzip],
    ['zlib', 'deflate', zlib.deflateSync(zeros, { level: 1 })],
    ['brotli', 'br', zlib.brotliCompressSync(zeros, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 2 } })],
    ['zstd', 'zstd', zlib.zstdCompressSync(zeros)],
    ['gzip of gzip', 'gzip', zlib.gzipSync(gzip)],
    [
      'a thousand small gzip members',
      'gzip',
      Buffer.concat(Array.from({ length: 1_000 }, () => zlib.gzipSync(Buffer.alloc(100_000)))),
    ],
    ['gzip behind a good envelope', 'gzip', Buffer.concat([zlib.gzipSync('{}\n{"type":"event"}\n{}\n'), gzip])],
  ]

  test.each(bombs)('%s is refused without allocating its decoded size', async (_name, encoding, body) => {
    const before = process.memoryUsage().rss
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        sendWatched({ url: ENVELOPE, headers: { ...auth, 'content-encoding': encoding }, body }),
      ),
    )
    for (const { status } of answers) expect([400, 413]).toContain(status)
    expect(process.memoryUsage().rss - before).toBeLessThan(128 << 20)
  })

  test('zstd gets no window of 2 GiB', async () => {
    const wide = zlib.zstdCompressSync(Buffer.alloc(1 << 20, 'abc'), {
      params: { [zlib.constants.ZSTD_c_windowLog]: 27, [zlib.constants.ZSTD_c_contentSizeFlag]: 0 },
    })
    const answer = await sendWatched({ url: ENVELOPE, headers: { ...auth, 'content-encoding': 'zstd' }, body: wide })
    expect([400, 413]).toContain(answer.status)
  })
})

describe('bodies of the maximum decoded size, in their worst shapes', () => {
  const MIB = 1024 * 1024
  const noise = randomBytes(MIB)
  const attachment = Buffer.concat([Buffer.from(`{}\n{"type":"attachment","length":${noise.length}}\n`), noise])
  const headers = Buffer.from(`\n{"type":"x","filler":"${'y'.repeat(9_000)}"}\n`)
  test.each([
    ['blank lines', Buffer.alloc(95 * MIB, '\n'), 200],
    ['item headers', Buffer.concat(Array.from({ length: 9_900 }, () => headers)), 413],
    ['one item header', Buffer.from(`\n{"type":"${'y'.repeat(90 * MIB)}"}\n`), 413],
    ['deep headers', Buffer.from(`\n{"type":"x","y":${'['.repeat(60_000)}}\n`), 400],
    ['small items', Buffer.from('\n{"type":"x"}\n'.repeat(5_000_000)), 413],
    ['one event', Buffer.from(`\n{"type":"event"}\n{${'"a":[1],'.repeat(10 * MIB)}"b":1}\n`), 200],
    ['one item', Buffer.concat([Buffer.from('\n{"type":"x"}\n'), Buffer.alloc(90 * MIB, ' ')]), 200],
  ])('%s', async (_name, filler, status) => {
    const body = zlib.gzipSync(Buffer.concat([attachment, filler]), { level: 1 })
    const answer = await sendWatched({ url: ENVELOPE, headers: { ...auth, 'content-encoding': 'gzip' }, body })
    expect(answer.status, answer.text).toBe(status)
  })
})

describe('raw requests', () => {
  const good = '{}\n{"type":"session"}\n{}'
  const line = `POST ${ENVELOPE} HTTP/1.1\r\nhost: x\r\nx-sentry-auth: ${auth['x-sentry-auth']}\r\n`

  test.each([
    ['two lengths', `${line}content-length: 5\r\ncontent-length: 6\r\n\r\n${good}`],
    [
      'length and chunks',
      `${line}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\n\r\n`,
    ],
    ['a negative length', `${line}content-length: -5\r\n\r\n${good}`],
    ['a length in words', `${line}content-length: five\r\n\r\n${good}`],
    ['a broken chunk size', `${line}transfer-encoding: chunked\r\n\r\nzz\r\n${good}\r\n0\r\n\r\n`],
    ['a chunk longer than said', `${line}transfer-encoding: chunked\r\n\r\n3\r\n${good}\r\n0\r\n\r\n`],
    ['an unknown transfer encoding', `${line}transfer-encoding: xchunked\r\n\r\n${good}`],
    ['a bare line feed in a header', `${line}x-odd: a\nb: c\r\ncontent-length: 0\r\n\r\n`],
    ['a space before the colon', `${line}content-length : 5\r\n\r\n${good}`],
    ['a folded header', `${line}x-odd: a\r\n b\r\ncontent-length: ${good.length}\r\n\r\n${good}`],
    ['a NUL in a header', `${line}x-odd: a\0b\r\ncontent-length: ${good.length}\r\n\r\n${good}`],
    ['headers of 20 KiB', `${line}x-odd: ${'a'.repeat(20_000)}\r\ncontent-length: 0\r\n\r\n`],
  ])('%s: one answer below 500 or none, never a second request', async (_name, raw) => {
    const socket = await intake.socket()
    let answer = ''
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')))
    socket.end(raw, 'latin1')
    await once(socket, 'close')
    const statuses = [...answer.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map((match) => Number(match[1]))
    expect(statuses.length, answer).toBeLessThanOrEqual(2)
    for (const status of statuses) expect([200, 400, 431], answer).toContain(status)
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(1)
  })

  test('an HTTP/1.0 request is answered, and the connection is closed', async () => {
    const socket = await intake.socket()
    let answer = ''
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')))
    socket.write(
      `POST ${ENVELOPE} HTTP/1.0\r\nx-sentry-auth: ${auth['x-sentry-auth']}\r\ncontent-length: ${good.length}\r\n\r\n${good}`,
    )
    await once(socket, 'close')
    expect(answer).toMatch(/^HTTP\/1\.1 200/)
  })

  test.each(['%0d%0aset-cookie:%20a=b', '\u00e9', '"><script>'])(
    'no part of a request is returned in a header: %s',
    async (text) => {
      const answer = await sendWatched({
        url: `${ENVELOPE}?sentry_key=${encodeURI(text)}&sentry_version=${encodeURI(text)}`,
        headers: { 'user-agent': 'x' },
        body: good,
      })
      expect(answer.status).toBe(400)
      expect(JSON.stringify(answer.headers)).not.toContain('script')
      expect(answer.headers['set-cookie']).toBeUndefined()
    },
  )
})

describe('memory for bodies', () => {
  test('large bodies of one key are refused beyond its share, and events of another key are accepted', async () => {
    const [greedy, other] = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')]
    await seedProject(app, { number: 7_001, publicKey: greedy })
    await seedProject(app, { number: 7_002, publicKey: other })
    const body = randomBytes(19 << 20)
    const sockets = await Promise.all(Array.from({ length: 5 }, () => intake.socket()))
    const answers = sockets.map(() => '')
    for (const [n, socket] of sockets.entries()) {
      socket.on('data', (chunk) => (answers[n] += chunk.toString()))
      socket.write(
        `POST /api/7001/envelope/?sentry_key=${greedy} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`,
      )
      // Without its end: it is held until it is complete or late.
      socket.write(body.subarray(0, -1))
    }
    await waitFor('a refusal', () => answers.some((answer) => answer.startsWith('HTTP/1.1 429')))
    const answer = await intake.send({
      url: `/api/7002/envelope/?sentry_key=${other}`,
      body: '{}\n{"type":"event"}\n{"message":"honest"}',
    })
    expect(answer.status, answer.text).toBe(200)
    for (const socket of sockets) socket.destroy()
  })
})
