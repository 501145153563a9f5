import { afterEach, describe, expect, test, vi } from 'vitest'
import { addressOf, ApiError, call } from './call.ts'
import { onSessionEnd } from './session.ts'

type Heard = { method: string; url: string; body: string | undefined }
const heard: Heard[] = []

/** Answers in turn by address; the network is the one thing replaced here. */
function answer(answers: Record<string, (() => Response)[]>): void {
  vi.stubGlobal('fetch', (url: string, init: { method?: string; body?: string } = {}) => {
    const method = init.method ?? 'GET'
    heard.push({ method, url, body: init.body })
    const next = answers[`${method} ${url}`]?.shift()
    return next === undefined ? Promise.reject(new TypeError('no route')) : Promise.resolve(next())
  })
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  () =>
    new Response(body === undefined ? null : JSON.stringify(body), { status, headers })

afterEach(() => {
  heard.length = 0
  vi.unstubAllGlobals()
})

const addresses = () => heard.map(({ method, url }) => `${method} ${url}`)

test('parameters are filled in and encoded, queries repeat, what is not given is left out', () => {
  expect(addressOf('/api/issues/:issueId/comments/:commentId', { issueId: 'a/b', commentId: 'ü' })).toBe(
    '/api/issues/a%2Fb/comments/%C3%BC',
  )
  expect(addressOf('/api/issues', {}, { status: ['resolved', 'ignored'], q: 'a&b', limit: undefined })).toBe(
    '/api/issues?status=resolved&status=ignored&q=a%26b',
  )
})

test('sends JSON only where there is a body', async () => {
  answer({ 'PATCH /api/issues/1': [json(200, { id: '1' })], 'POST /api/auth/logout': [json(200, { ok: true })] })
  await call('PATCH /api/issues/:issueId', { params: { issueId: '1' }, body: { status: 'resolved' } })
  await call('POST /api/auth/logout')
  expect(heard.map(({ body }) => body)).toEqual(['{"status":"resolved"}', undefined])
})

describe('refusals', () => {
  test('carry the words, the request id and the time to wait', async () => {
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

  test('without JSON still make a sentence, and silence is status 0', async () => {
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
  test('is refreshed once for all calls, which then go through', async () => {
    const me = { user: { name: 'Ines' } }
    answer({
      'GET /api/me': [json(401, { error: 'x' }), json(401, { error: 'x' }), json(200, me), json(200, me)],
      'POST /api/auth/refresh': [json(200, { ok: true })],
    })
    await expect(Promise.all([call('GET /api/me'), call('GET /api/me')])).resolves.toEqual([me, me])
    expect(addresses().filter((address) => address === 'POST /api/auth/refresh')).toHaveLength(1)
  })

  test('that cannot be refreshed ends for everybody who listens', async () => {
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

  test('does not end because the server is busy', async () => {
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

  test('a wrong password is no expired session', async () => {
    answer({ 'POST /api/auth/login': [json(401, { error: 'E-mail or password is wrong.' })] })
    await expect(call('POST /api/auth/login', { body: { email: 'a@b.c', password: 'x' } })).rejects.toMatchObject({
      status: 401,
    })
    expect(addresses()).toEqual(['POST /api/auth/login'])
  })
})
