import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { newId } from '../../platform/kernel/ids.ts'

const PROXIED = '203.0.113.7'
const server = await testServer({
  realTime: true,
  env: { TRUSTED_PROXIES: '127.0.0.1', RATE_LIMIT_SCALE: '0.01', ALLOWED_ORIGINS: 'https://app.example' },
})
const port = Number(new URL(server.url).port)
const founder = await aFounder(server.url)
const project = await aProject(founder)
const cookie = [...founder.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
const issue = await server.issue({ project, by: founder })
const attachments = `/api/issues/${issue.id}/events/${newId()}/attachments?filename=a.txt`
const envelope = `/api/${project.number}/envelope/`
const key = `?sentry_key=${new URL(project.dsn).username}`
/** It fills again while other tests run. */
async function useUpLimitOfProxied(): Promise<void> {
  for (let n = 0; n < 8; n++) await fetch(`${server.url}/api/me`, { headers: { 'x-forwarded-for': PROXIED } })
}

type Answered = { readonly status: number; readonly closes: boolean }
type Talk = {
  readonly socket: Socket
  answers(): Answered[]
  /** How the connection ended: `end` as the client should see it, or an error. */
  ended(): string | null
}

function talk(): Promise<Talk> {
  let text = ''
  let ended: string | null = null
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true }, () =>
      resolve({ socket, answers: () => answersIn(text), ended: () => ended }),
    )
    socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')))
    socket.on('end', () => (ended ??= 'end'))
    socket.on('error', (error) => (ended = error.message))
  })
}

/** The complete answers in what was received. */
function answersIn(text: string): Answered[] {
  const answers: Answered[] = []
  for (let rest = text; ;) {
    const end = rest.indexOf('\r\n\r\n')
    if (end === -1) return answers
    const head = rest.slice(0, end)
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1])
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)
    if (rest.length < end + 4 + length) return answers
    if (status !== 100) answers.push({ status, closes: /^connection: close/im.test(head) })
    rest = rest.slice(end + 4 + length)
  }
}

const JSON_TYPE = 'content-type: application/json\r\n'
const TEXT = 'content-type: text/plain\r\n'
const session = `cookie: ${cookie}\r\n`
/** Each with the statuses it may have. */
const REFUSALS: readonly (readonly [what: string, start: string, headers: string, status: number])[] = [
  ['text for a JSON route', 'POST /api/auth/login', TEXT, 400],
  ['a form for a JSON route', 'POST /api/auth/login', 'content-type: multipart/form-data; boundary=x\r\n', 400],
  ['no type for a JSON route', 'POST /api/auth/login', '', 400],
  ['broken JSON', 'POST /api/auth/login', JSON_TYPE, 400],
  ['no session', 'POST /api/projects', JSON_TYPE, 401],
  ['no session for an upload', `POST ${attachments}`, TEXT, 401],
  ['an encoded upload', `POST ${attachments}`, `${session}content-encoding: gzip\r\n`, 400],
  ['an upload without a name', `POST ${attachments.replace(/\?.*/, '')}`, session, 400],
  ['an upload for no event', `POST ${attachments}`, session, 404],
  ['another site', 'POST /api/projects', `${session}origin: https://evil.example\r\n${JSON_TYPE}`, 403],
  ['an unknown host', 'POST /api/auth/login', `${JSON_TYPE}x-host: 1\r\n`, 403],
  ['too many requests', 'POST /api/auth/login', `${JSON_TYPE}x-forwarded-for: ${PROXIED}\r\n`, 429],
  ['an unknown route', 'POST /api/nothing', JSON_TYPE, 404],
  ['text for an unknown route', 'POST /api/nothing', TEXT, 404],
  ['a form for an unknown route', 'PUT /api/issues', 'content-type: multipart/form-data; boundary=x\r\n', 404],
  ['an unknown page', 'POST /nothing', TEXT, 404],
  ['a static file', 'POST /mark.svg', JSON_TYPE, 404],
  ['the documentation', 'POST /docs/json', TEXT, 404],
  ['health', 'POST /healthz', 'content-type: image/png\r\n', 404],
  ['metrics', 'PUT /-/metrics', TEXT, 404],
  ['a broken address', 'POST /api/%zz', TEXT, 400],
  ['a read with a body', 'GET /api/me', TEXT, 401],
  ['an envelope without a key', `POST /api/${project.number}/store/`, TEXT, 401],
  ['an envelope with an unknown key', `POST ${envelope}?sentry_key=${'0'.repeat(32)}`, TEXT, 403],
  ['an envelope with a broken header', `POST ${envelope}`, TEXT, 400],
  ['an envelope of another coding', `POST ${envelope}${key}`, 'content-encoding: rot13\r\n', 400],
  ['another type of a trace', `POST /api/${project.number}/otlp/v1/traces/${key}`, TEXT, 415],
  ['another method for an envelope', `PUT ${envelope}${key}`, TEXT, 405],
  ['an unknown endpoint', `POST /api/${project.number}/nothing/${key}`, TEXT, 404],
  ['a minidump without a form', `POST /api/${project.number}/minidump/`, TEXT, 401],
  ['two hosts', 'POST /api/auth/login', `${TEXT}host: y\r\n`, 400],
]

/** Not JSON, no envelope, and no beginning of a request. */
const bodyOf = (bytes: number): Buffer => Buffer.alloc(bytes, '{nonsense ')
const chunked = (body: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')])

type Shape = { readonly version: string; readonly headers: string; readonly body: Buffer; readonly later: boolean }
const shape = (bytes: number, more: Partial<Shape> = {}): Shape => ({
  version: '1.1',
  headers: `content-length: ${bytes}\r\n`,
  body: bodyOf(bytes),
  later: false,
  ...more,
})
const SHAPES: readonly (readonly [what: string, shape: Shape])[] = [
  ['20 bytes', shape(20)],
  ['200 kB', shape(200_000)],
  ['200 kB after the answer', shape(200_000, { later: true })],
  ['3 MB', shape(3_000_000)],
  ['3 MB after the answer', shape(3_000_000, { later: true })],
  ['30 bytes in chunks', shape(0, { headers: 'transfer-encoding: chunked\r\n', body: chunked(bodyOf(30)) })],
  ['200 kB in chunks', shape(0, { headers: 'transfer-encoding: chunked\r\n', body: chunked(bodyOf(200_000)) })],
  ['200 kB that wait for 100', shape(200_000, { headers: 'expect: 100-continue\r\ncontent-length: 200000\r\n' })],
  ['another expectation', shape(200_000, { headers: 'expect: 200-ok\r\ncontent-length: 200000\r\n' })],
  ['HTTP/1.0', shape(200_000, { version: '1.0' })],
  [
    'HTTP/1.0, kept',
    shape(200_000, { version: '1.0', headers: 'connection: keep-alive\r\ncontent-length: 200000\r\n' }),
  ],
  ['the last of its connection', shape(200_000, { headers: 'connection: close\r\ncontent-length: 200000\r\n' })],
]
const SECOND = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n'

describe.each(SHAPES)('a refused request with %s leaves a usable connection, or ends it', (_shape, given) => {
  test.each(REFUSALS)('%s', async (_what, start, headers, status) => {
    if (headers.includes(PROXIED)) await useUpLimitOfProxied()
    const { socket, answers, ended } = await talk()
    const host = headers.includes('x-host') ? 'evil.example' : 'localhost'
    const head = `${start} HTTP/${given.version}\r\nhost: ${host}\r\n${headers}${given.headers}\r\n`
    if (given.later && status !== 400) {
      socket.write(head)
      await waitFor('the answer', () => answers().length === 1)
      socket.write(given.body)
      socket.write(SECOND)
    } else {
      // A client that reads when it has sent everything.
      socket.pause()
      await new Promise((resolve) => {
        socket.write(Buffer.concat([Buffer.from(head), given.body, Buffer.from(SECOND)]), resolve)
      })
      socket.resume()
    }
    await waitFor('the end', () => answers().length === 2 || ended() !== null)
    const [first, second] = answers()
    expect(first?.status).toBe(status)
    if (first?.closes === true) expect([ended(), second]).toEqual(['end', undefined])
    else expect([ended(), second?.status]).toEqual([null, 200])
    socket.destroy()
  })
})

test.each([
  ['a length', `content-length: ${25_000_000}\r\n`, bodyOf(25_000_000)],
  ['chunks', 'transfer-encoding: chunked\r\n', chunked(bodyOf(25_000_000))],
])(
  'an envelope that is too large, with %s, is answered after it is sent, and the connection ends',
  async (_what, framing, body) => {
    const { socket, answers, ended } = await talk()
    socket.pause()
    await new Promise((resolve) => {
      const head = `POST ${envelope}${key} HTTP/1.1\r\nhost: localhost\r\n${framing}\r\n`
      socket.write(Buffer.concat([Buffer.from(head), body]), resolve)
    })
    socket.resume()
    await waitFor('the end', () => ended() !== null)
    expect(answers()).toEqual([{ status: 413, closes: true }])
    expect(ended()).toBe('end')
    socket.destroy()
  },
)

test('a client that neither sends its body nor disconnects loses its connection', async () => {
  const { socket, answers, ended } = await talk()
  socket.write(`POST /api/nothing HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2000000\r\n\r\n`)
  await waitFor('the end', () => ended() !== null)
  expect(answers()).toEqual([{ status: 404, closes: true }])
  // Half of it is open until the service closes it too, after five seconds without a byte: then what is sent is refused.
  let sentMs = performance.now()
  await waitFor('the closed connection', () => {
    if (performance.now() - sentMs > 6_000) {
      socket.write('x')
      sentMs = performance.now()
    }
    return ended() !== 'end'
  })
})

test('a tunnel is refused, with an answer', async () => {
  const { socket, answers, ended } = await talk()
  socket.write('CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n')
  await waitFor('the end', () => ended() !== null)
  expect([answers(), ended()]).toEqual([[{ status: 400, closes: true }], 'end'])
  socket.destroy()
})
