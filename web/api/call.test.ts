import { afterEach, describe, expect, test, vi } from 'vitest'
import { buildAddress, ApiError, call } from './call.ts'
import { onSessionEnd } from './session.ts'

type Request = { method: string; url: string; body: string | undefined }
const requests: Request[] = []

/** Answers requests in order, per address. Only the network is replaced. */
function answer(answers: Record<string, (() => Response)[]>): void {
  vi.stubGlobal('fetch', (url: string, init: { method?: string; body?: string } = {}) => {
    const method = init.method ?? 'GET'
    requests.push({ method, url, body: init.body })
    const next = answers[`${method} ${url}`]?.shift()
    return next === undefined ? Promise.reject(new TypeError('no route')) : Promise.resolve(next())
  })
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  () =>
    new Response(body === undefined ? null : JSON.stringify(body), { status, headers })

afterEach(() => {
  requests.length = 0
  vi.unstubAllGlobals()
})

const addresses = () => requests.map(({ method, url }) => `${method} ${url}`)

test('parameters are encoded, arrays repeat, undefined values are left out', () => {
  expect(buildAddress('/api/issues/:issueId/comments/:commentId', { issueId: 'a/b', commentId: 'ü' })).toBe(
    '/api/issues/a%2Fb/comments/%C3%BC',
  )
  expect(buildAddress('/api/issues', {}, { status: ['resolved', 'ignored'], q: 'a&b', limit: undefined })).toBe(
    '/api/issues?status=resolved&status=ignored&q=a%26b',
  )
})

test('sends JSON only with a body', async () => {
  answer({ 'PATCH /api/issues/1': [json(200, { id: '1' })], 'POST /api/auth/logout': [json(200, { ok: true })] })
  await call('PATCH /api/issues/:issueId', { params: { issueId: '1' }, body: { status: 'resolved' } })
  await call('POST /api/auth/logout')
  expect(requests.map(({ body }) => body)).toEqual(['{"status":"resolved"}', undefined])
})

describe('error responses', () => {
  test('carry the message, the request id and the time to wait', async () => {
    answer({
      'POST /api/auth/login': [
        json(429, { error: 'Too many attempts.' }, { 'x-request-id': 'r-1', 'retry-after': '30' }),
      ],
    })
    const error = await call('POST /api/auth/login', { body: { email: 'a@b.c', password: 'x' } }).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ status: 429, message: 'Too many attempts.', requestId: 'r-1', retryAfterSeconds: 30 })
  })

  test('have a message without JSON too; no response is status 0', async () => {
    answer({ 'GET /api/me': [() => new Response('<html>', { status: 502 })] })
    await expect(call('GET /api/me')).rejects.toMatchObject({
      status: 502,
      message: 'The server responded with error 502. Try again.',
    })
    await expect(call('GET /api/me')).rejects.toMatchObject({
      status: 0,
      message: 'Could not reach the server. Check your connection and try again.',
    })
  })
})

describe('an expired session', () => {
  test('is refreshed once for all calls, which are then repeated', async () => {
    const me = { user: { name: 'Ines' } }
    answer({
      'GET /api/me': [json(401, { error: 'x' }), json(401, { error: 'x' }), json(200, me), json(200, me)],
      'POST /api/auth/refresh': [json(200, { ok: true })],
    })
    await expect(Promise.all([call('GET /api/me'), call('GET /api/me')])).resolves.toEqual([me, me])
    expect(addresses().filter((address) => address === 'POST /api/auth/refresh')).toHaveLength(1)
  })

  test('that cannot be refreshed notifies all listeners', async () => {
    const ended = vi.fn<() => void>()
    const stop = onSessionEnd(ended)
    answer({
      'GET /api/me': [json(401, { error: 'Log in to continue.' })],
      'POST /api/auth/refresh': [json(401, { error: 'x' })],
    })
    await expect(call('GET /api/me')).rejects.toMatchObject({ status: 401, message: 'Log in to continue.' })
    expect(ended).toHaveBeenCalledOnce()
    stop()
  })

  test('does not end when the server is busy', async () => {
    const ended = vi.fn<() => void>()
    const stop = onSessionEnd(ended)
    answer({
      'GET /api/me': [json(401, { error: 'x' }), json(503, { error: 'Starting.' })],
      'POST /api/auth/refresh': [json(503, { error: 'Starting.' })],
    })
    await expect(call('GET /api/me')).rejects.toMatchObject({ status: 503 })
    expect(ended).not.toHaveBeenCalled()
    stop()
  })

  test('a wrong password does not refresh the session', async () => {
    answer({ 'POST /api/auth/login': [json(401, { error: 'E-mail or password is wrong.' })] })
    await expect(call('POST /api/auth/login', { body: { email: 'a@b.c', password: 'x' } })).rejects.toMatchObject({
      status: 401,
    })
    expect(addresses()).toEqual(['POST /api/auth/login'])
  })
})
