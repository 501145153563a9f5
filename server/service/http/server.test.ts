import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { client } from '#test/kit/client.ts'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { testServer } from '#test/kit/test-server.ts'

const server = await testServer({ realTime: true, deliveries: true, env: { ALLOWED_ORIGINS: 'https://app.example' } })
const anonymous = client(server.url)

describe('pages of the service', () => {
  test('/healthz and /readyz need no session', async () => {
    expect((await anonymous.get('/healthz')).body).toEqual({ ok: true })
    expect(await anonymous.get('/readyz')).toMatchObject({
      status: 200,
      body: { ready: true, checks: { database: { ok: true }, migrations: { ok: true }, spool: { ok: true } } },
    })
  })

  test('/-/metrics has the counters of intake and digestion, for loopback only', async () => {
    const founder = await aFounder(server.url)
    const project = await aProject(founder)
    await server.event({ project })
    const { text } = await anonymous.get('/-/metrics')
    expect(text).toMatch(/faultline_delivery_attempts_total\{channel="webhook",outcome="delivered"\} 0/)
    expect(text).toMatch(/^faultline_deliveries_in_flight 0$/m)
    expect(text).toMatch(/^faultline_deliveries_oldest_due_seconds 0$/m)
    expect(text).toMatch(/^faultline_intake_accepted_total [1-9]/m)
    expect(text).toMatch(/^faultline_spool_open 1$/m)
    expect(text).toMatch(/^faultline_spool_disk_free_bytes [1-9]/m)
    expect(text).toMatch(/^faultline_password_hashes_total [1-9]/m)
    expect(text).toMatch(/^faultline_http_authentication_seconds_bucket\{le="\+Inf"\} [1-9]/m)
    expect(text).toMatch(/^faultline_digest_events_total [1-9]/m)
    expect(text).toMatch(/^faultline_intake_latency_seconds_bucket\{le="\+Inf"\} [1-9]/m)
    expect(text).toMatch(/^process_resident_memory_bytes /m)
    expect(
      (await anonymous.request('GET', '/-/metrics', { headers: { 'x-forwarded-for': '203.0.113.5' } })).status,
    ).toBe(404)
  })

  test('the documentation loads nothing from other hosts', async () => {
    const page = await anonymous.get('/docs')
    expect(page.status).toBe(200)
    expect(page.text).not.toMatch(/(?:src|href)="https?:/)
    for (const [, path = ''] of page.text.matchAll(/(?:src|href)="\.?\/?([^"]+\.(?:js|css))"/g)) {
      expect(
        (await anonymous.get(path.startsWith('docs') ? `/${path}` : `/docs/${path.replace(/^static/, 'static')}`))
          .status,
        path,
      ).toBe(200)
    }
    expect((await anonymous.get('/api/openapi.json')).body).toMatchObject({ openapi: '3.1.0' })
  })

  test('an unknown route of the API is a JSON error, an unknown file is not a page', async () => {
    expect(await anonymous.get('/api/nothing')).toMatchObject({
      status: 404,
      body: { error: 'There is no GET /api/nothing. See /docs.' },
    })
    expect((await anonymous.get('/assets/nothing.js')).status).toBe(404)
    expect((await anonymous.post('/issues')).status).toBe(404)
  })
})

describe('an odd address', () => {
  /** The status line and headers of the answer to a request line that no client library sends. */
  const head = (path: string, host = 'localhost'): Promise<string> =>
    new Promise((resolve) => {
      let text = ''
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () =>
        socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`),
      )
      socket.on('data', (chunk) => (text += chunk.toString()))
      socket.on('close', () => resolve(text.split('\r\n\r\n')[0] ?? ''))
    })

  test.each([
    ['//x', 404],
    ['///', 404],
    ['/api//me', 404],
    ['/api/%00', 404],
    ['/assets/', 404],
    ['/assets//', 404],
    ['/assets/%00', 404],
    ['/docs/../x', 404],
    ['/docs/static/%00', 404],
    ['/.%00', 404],
    ['http://localhost/api/me', 401],
    ['/%', 400],
    ['/api/%', 400],
    ['/a b', 400],
  ])('%s: %i, with security headers', async (path, status) => {
    const answer = await head(path)
    // Without a built dashboard, what could be a page says so.
    const isBuilt = existsSync(new URL('../../../web/dist/index.html', import.meta.url))
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status === 404 && !isBuilt ? '(404|503)' : status} `))
    expect(answer.toLowerCase()).toContain('x-content-type-options: nosniff')
    expect(server.logLines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', 'x', '10.0.0.1', '[fd00::1]'])(
    'the host name %s is refused for pages and API',
    async (host) => {
      for (const path of ['/', '/api/me', '/-/metrics', '/docs']) expect(await head(path, host)).toContain('403')
    },
  )

  test.each(['localhost', 'localhost:8000', '127.0.0.1', '[::1]:8000', 'LOCALHOST.', 'app.example'])(
    'the host name %s is answered',
    async (host) => {
      expect(await head('/api/me', host)).toContain('401')
    },
  )
})

describe('every response', () => {
  test('has a request id and security headers', async () => {
    const { headers } = await anonymous.get('/api/me')
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })

  test('the request id of a response is that of the log line', async () => {
    const { headers } = await anonymous.get('/api/me?token=secret-in-query')
    const line = server.logLines.find((one) => one['request_id'] === headers.get('x-request-id'))
    expect(line).toMatchObject({ method: 'GET', path: '/api/me', status: 401 })
    expect(JSON.stringify(server.logLines)).not.toContain('secret-in-query')
  })
})

describe('a preflight of another origin', () => {
  const preflight = (origin: string) =>
    anonymous.request('OPTIONS', '/api/projects', {
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
    })
  test('is allowed when the origin is listed', async () => {
    const { status, headers } = await preflight('https://app.example')
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe('https://app.example')
    expect(headers.get('access-control-allow-credentials')).toBe('true')
    expect(headers.get('access-control-allow-methods')).toContain('PATCH')
    expect(headers.get('access-control-allow-headers')).toBe('content-type')
  })
  test('is refused when it is not', async () => {
    const { status, headers } = await preflight('https://other.example')
    expect(status).toBe(404)
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })
})

describe('an invalid request', () => {
  const raw = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      let answer = ''
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () => socket.write(text))
      socket.on('data', (data) => (answer += data.toString()))
      socket.on('close', () => resolve(answer))
      socket.on('error', reject)
    })
  test.each([
    ['other than HTTP', 'GARBAGE\r\n\r\n', 'The request is not valid HTTP.'],
    [
      'too many headers',
      `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'a'.repeat(17_000)}\r\n\r\n`,
      'The headers are larger than 16 KiB.',
    ],
    [
      'an endless address',
      `GET /api/issues?q=${'a'.repeat(9_000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`,
      'The address is longer than 8,192 characters.',
    ],
    [
      'a broken address',
      'GET /api/%zz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n',
      'The address of the request is malformed.',
    ],
  ])('%s is 400 in the form of the API', async (_what, text, error) => {
    const answer = await raw(text)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toEqual({ error })
  })
})

describe('bodies', () => {
  test('are not parsed without a session', async () => {
    const answer = await anonymous.request('POST', '/api/projects', {
      headers: { 'content-type': 'application/json' },
      body: '{',
    })
    expect(answer.status).toBe(401)
  })

  const logIn = (headers: Record<string, string>, body: string) =>
    anonymous.request('POST', '/api/auth/login', { headers, body })
  test.each([
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'email=a&password=b'],
    ['plain text', { 'content-type': 'text/plain' }, '{"email":"a@b.co","password":"x"}'],
    ['no type at all', { 'content-type': '' }, '{"email":"a@b.co","password":"x"}'],
    ['half a JSON', { 'content-type': 'application/json' }, '{"email":'],
    ['over 1 MiB', { 'content-type': 'application/json' }, `{"email":"${'x'.repeat(1_100_000)}"}`],
    ['JSON 100,000 deep', { 'content-type': 'application/json' }, '['.repeat(100_000)],
    ['a bare string', { 'content-type': 'application/json' }, '"text"'],
    ['nothing', { 'content-type': 'application/json' }, ''],
  ])('%s is 400 with a sentence', async (_what, headers, body) => {
    const answer = await logIn(headers, body)
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({ error: expect.stringMatching(/^[A-Z].*\.$/) as string })
  })

  test('a refusal reaches a client that is still sending', async () => {
    const length = 20_000_000
    const head = `POST /api/auth/login HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () => {
        socket.write(head)
        socket.write(Buffer.alloc(length, ' '), () => socket.end())
      })
      let text = ''
      socket.on('data', (data) => (text += data.toString()))
      socket.on('close', () => resolve(text))
      socket.on('error', reject)
    })
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('an empty body with a content type counts as absent', async () => {
    expect(
      (
        await anonymous.request('POST', '/api/auth/logout', {
          headers: { 'content-type': 'application/json' },
          body: '',
        })
      ).status,
    ).toBe(200)
  })

  test('keys such as __proto__ never reach a handler', async () => {
    const answer = await logIn(
      { 'content-type': 'application/json' },
      '{"email":"a@b.co","password":"x","__proto__":{"isAdmin":true}}',
    )
    expect(answer.status).toBe(401)
    expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined()
  })

  test('an incomplete request does not affect the service', async () => {
    await new Promise<void>((resolve) => {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () => {
        socket.write(
          'POST /api/auth/login HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"em',
          () => {
            socket.destroy()
            resolve()
          },
        )
      })
    })
    expect((await anonymous.get('/healthz')).status).toBe(200)
  })
})

test('live messages reach their organisation and no other', async () => {
  const ada = await aFounder(server.url)
  const eve = await aFounder(server.url)
  const project = await aProject(ada)
  const listen = async (user: typeof ada): Promise<{ text: () => string; ended: () => boolean; stop: () => void }> => {
    const stop = new AbortController()
    const cookie = [...user.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(`${server.url}/api/live`, { headers: { cookie }, signal: stop.signal })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    let text = ''
    let ended = false
    const decoder = new TextDecoder()
    void (async () => {
      for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array)
    })()
      .catch(() => {})
      .finally(() => {
        ended = true
      })
    return { text: () => text, ended: () => ended, stop: () => stop.abort() }
  }
  const [hers, theirs] = [await listen(ada), await listen(eve)]
  await server.event({ project })
  const { waitFor } = await import('#test/kit/wait.ts')
  await waitFor('the message', () => hers.text().includes('event: issues'))
  expect(hers.text()).toContain(project.id)
  expect(theirs.text()).not.toContain(project.id)
  // Logging out ends the stream on the server.
  await ada.post('/api/auth/logout')
  await waitFor('the end of the stream', () => hers.ended())
  expect(theirs.ended()).toBe(false)
  hers.stop()
  theirs.stop()
})
