import { describe, expect, test } from 'vitest'
import type { Client } from '#test/kit/client.ts'
import { aFounder } from '#test/kit/founder.ts'
import { type Answer, startReceiver } from '#test/kit/receiver.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { acceptedBy, acceptedByStandard, VERIFIER_NAMES } from '#test/kit/webhook-verifiers.ts'
import { WebhookDelivery } from './deliveries.api.ts'
import { EndpointWithSecret } from './webhooks.api.ts'
import {
  aReceiver,
  anEndpoint,
  auditOf,
  ended,
  headersOf,
  readDelivery,
  readEndpoint,
  testDelivery,
} from './webhooks.fixture.ts'

/** Six attempts within half a second. */
const t = await testServer({ realTime: true, deliveries: true, env: { FAULTLINE_RETRY_SCALE: '0.00001' } })

describe('a delivery', () => {
  test('is a signed POST, which every library verifies, and its log says what was sent and answered', async () => {
    const receiver = await aReceiver(t, () => ({ status: 202, headers: { 'x-answer': 'yes' }, body: 'thanks ’' }))
    const owner = await aFounder(t.url)
    const { id, secret, app_id } = await anEndpoint(owner, receiver.url, {
      standard_headers: true,
      headers: [{ name: 'Authorization', value: 'Bearer canary-of-a-header' }],
    })
    const { user } = (await owner.get('/api/me')).as<{ user: { id: string; email: string } }>()
    const one = await ended(owner, await testDelivery(owner, id))
    const [request] = receiver.requests
    expect(receiver.requests).toHaveLength(1)
    expect(request).toMatchObject({ method: 'POST', path: '/hook?a=1' })
    const headers = headersOf(request)
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': `faultline-webhooks/${t.app.config.version}`,
      'content-length': String(request?.body.length),
      'svc-event': 'webhook.test',
      'svc-delivery': one.id,
      authorization: 'Bearer canary-of-a-header',
      'webhook-id': one.event_id,
      'webhook-timestamp': headers['svc-timestamp'],
    })
    expect(headers['svc-signature']).toMatch(new RegExp(`^t=${String(headers['svc-timestamp'])},v1=[0-9a-f]{64}$`))
    expect(headers).not.toHaveProperty('accept-encoding')
    expect(headers).not.toHaveProperty('transfer-encoding')
    if (request === undefined) return
    expect(await acceptedBy(secret, request)).toEqual(VERIFIER_NAMES)
    expect(await acceptedByStandard(secret, request)).toBe(true)

    expect(request.body.toString()).toBe(one.body)
    const body = JSON.parse(request.body.toString()) as Record<string, unknown>
    expect(Object.keys(body)).toEqual(['id', 'type', 'app_id', 'user_id', 'occurred_at', 'data'])
    expect(body).toMatchObject({
      id: one.event_id,
      type: 'webhook.test',
      app_id,
      user_id: user.id,
      data: { email: user.email, ip: '127.0.0.1', method: null },
    })
    expect(one).toMatchObject({
      endpoint_id: id,
      state: 'delivered',
      attempt: 1,
      next_attempt_at: null,
      secret_version: 1,
      last_status: 202,
      last_error_code: null,
      reason: null,
      is_erased: false,
      attempts: [
        {
          n: 1,
          trigger: 'schedule',
          status: 202,
          remote_ip: '127.0.0.1',
          error_code: null,
          error_text: null,
          response_body: 'thanks ’',
        },
      ],
    })
    expect(one.id).toMatch(/^d_[0-9a-z]{26}$/)
    expect(one.event_id).toMatch(/^evt_[0-9a-z]{26}$/)
    expect(one.attempts[0]?.response_headers).toContainEqual({ name: 'x-answer', value: 'yes' })
    const sent = new Map(one.request_headers.map(({ name, value }) => [name.toLowerCase(), value]))
    expect(sent.get('svc-signature')).toBe(headers['svc-signature'])
    expect(sent.get('authorization')).toBe('••••••••')
    expect(one.schedule.map(({ n }) => n)).toEqual([1, 2, 3, 4, 5, 6])
    expect(await readEndpoint(owner, id)).toMatchObject({
      last_status: 202,
      needs_attention: false,
      success_rate: 1,
      tls_error: null,
    })
  })

  test('says who did what: a log-in after the endpoint was registered', async () => {
    const receiver = await aReceiver(t)
    const owner = await aFounder(t.url)
    const { id } = await anEndpoint(owner, receiver.url, { events: ['signin.password.ok'] })
    await owner.post('/api/auth/login', { email: owner.email, password: owner.password })
    const request = await waitFor('the event', () => receiver.requests[0])
    const { user, session } = (await owner.get('/api/me')).as<{ user: { id: string }; session: { id: string } }>()
    expect(JSON.parse(request.body.toString())).toMatchObject({
      type: 'signin.password.ok',
      user_id: user.id,
      data: { email: owner.email, ip: '127.0.0.1', session_id: session?.id ?? expect.any(String), method: 'password' },
    })
    expect((await owner.get(`/api/webhooks/${id}/deliveries?type=signin.password.ok`)).body).toMatchObject({ total: 1 })
    expect((await owner.get(`/api/webhooks/${id}/deliveries?type=device.new`)).body).toMatchObject({ total: 0 })
  })

  test('goes to every endpoint whose filter takes it; a test only to its own', async () => {
    const owner = await aFounder(t.url)
    const [all, some, none] = [await aReceiver(t), await aReceiver(t), await aReceiver(t)]
    const endpoints = [
      await anEndpoint(owner, all.url),
      await anEndpoint(owner, some.url, { events: ['signin.password.ok', 'device.new'] }),
      await anEndpoint(owner, none.url, { events: ['device.new'] }),
    ]
    await owner.post('/api/auth/login', { email: owner.email, password: owner.password })
    await waitFor('two deliveries', () => all.requests.length === 1 && some.requests.length === 1)
    const ids = [all, some].map(({ requests }) => requests.map(({ body }) => body.toString()))
    // One event, with the same bytes for both.
    expect(ids[0]).toEqual(ids[1])
    await ended(owner, await testDelivery(owner, endpoints[2]?.id ?? ''))
    expect([all, some, none].map(({ requests }) => requests.length)).toEqual([1, 1, 1])
    expect(headersOf(none.requests[0])['svc-event']).toBe('webhook.test')
  })

  test('is attempted six times, each signed with the time of its sending, and is then failed', async () => {
    const receiver = await aReceiver(t, () => ({ status: 500, body: 'no' }))
    const owner = await aFounder(t.url)
    const { id, secret } = await anEndpoint(owner, receiver.url)
    const one = await ended(owner, await testDelivery(owner, id), 6)
    expect(receiver.requests).toHaveLength(6)
    expect(new Set(receiver.requests.map(({ body }) => body.toString()))).toEqual(new Set([one.body]))
    for (const request of receiver.requests) {
      expect(headersOf(request)['svc-delivery']).toBe(one.id)
      expect(await acceptedBy(secret, request)).toEqual(VERIFIER_NAMES)
    }
    expect(one).toMatchObject({ state: 'failed', attempt: 6, last_status: 500, next_attempt_at: null })
    expect(one.attempts.map(({ n, trigger, status }) => [n, trigger, status])).toEqual(
      [1, 2, 3, 4, 5, 6].map((n) => [n, 'schedule', 500]),
    )
    expect(await readEndpoint(owner, id)).toMatchObject({ last_status: 500, needs_attention: true, success_rate: 0 })
    expect(await auditOf(owner, 'webhook.delivery.exhausted')).toMatchObject([
      { meta: { count: 1, delivery_ids: [one.id] } },
    ])
    const list = (query: string) => owner.get(`/api/webhooks/${id}/deliveries?${query}`)
    expect((await list('state=failed&retrying=false')).body).toMatchObject({ items: [{ id: one.id }], total: 1 })
    expect((await list('state=failed')).body).toMatchObject({ total: 1 })
    expect((await list('retrying=true')).body).toMatchObject({ items: [], total: 0 })
    expect((await list('state=delivered')).body).toMatchObject({ total: 0 })
    expect((await list(`from=${one.created_at}`)).body).toMatchObject({ total: 1 })
    expect((await list(`to=${one.created_at}`)).body).toMatchObject({ total: 0 })
  })

  test.each([
    [301, { status: 301, headers: { location: '/elsewhere' } }, 'failed'],
    [307, { status: 307, headers: { location: 'http://127.0.0.1:1/' } }, 'failed'],
    [204, 204, 'delivered'],
    [299, 299, 'delivered'],
    [304, 304, 'failed'],
    [410, 410, 'failed'],
    [429, { status: 429, headers: { 'retry-after': '3600' } }, 'failed'],
    [503, 503, 'failed'],
  ] as const)('answered with %i is judged by its status alone', async (status, answer, state) => {
    const receiver = await aReceiver(t, () => answer)
    const owner = await aFounder(t.url)
    const { id } = await anEndpoint(owner, receiver.url)
    const one = await ended(owner, await testDelivery(owner, id), state === 'failed' ? 6 : 1)
    expect(one).toMatchObject({ state, last_status: status, attempt: state === 'failed' ? 6 : 1 })
    // Redirects are not followed.
    expect(new Set(receiver.requests.map(({ path }) => path))).toEqual(new Set(['/hook?a=1']))
    expect(await readEndpoint(owner, id)).toMatchObject({ last_status: status, needs_attention: state === 'failed' })
  })

  test.each([
    ['reset', { fault: 'reset' }, 'ECONNRESET'],
    ['closed', { fault: 'close' }, 'UND_ERR_SOCKET'],
    ['answered with something else', { raw: 'SSH-2.0-OpenSSH_9.6\r\n' }, 'HTTPParserError'],
  ] as const)('whose connection is %s has no status but an error', async (_name, answer, code) => {
    const receiver = await aReceiver(t, () => answer)
    const owner = await aFounder(t.url)
    const { id } = await anEndpoint(owner, receiver.url)
    const one = await ended(owner, await testDelivery(owner, id), 6)
    expect(one).toMatchObject({ state: 'failed', last_status: null, last_error_code: code })
    expect(one.attempts[0]?.error_text).not.toBe('')
    expect(await readEndpoint(owner, id)).toMatchObject({ last_status: null, needs_attention: true })
  })

  test('to a port where nothing listens is refused by the connection', async () => {
    const receiver = await startReceiver()
    await receiver.close()
    const owner = await aFounder(t.url)
    const { id } = await anEndpoint(owner, receiver.url)
    const one = await ended(owner, await testDelivery(owner, id), 6)
    expect(one).toMatchObject({ last_status: null, last_error_code: 'ECONNREFUSED' })
    expect(one.attempts[0]).toMatchObject({ status: null, response_headers: [], response_body: null })
  })

  test('keeps 16 KiB of an answer and 4 KiB of its headers, as text that can be stored', async () => {
    const owner = await aFounder(t.url)
    const large = await aReceiver(t, () => ({ bodySizeBytes: 10 * 1024 * 1024 }))
    const odd = await aReceiver(t, () => ({
      body: Buffer.concat([Buffer.from('a\0b'), Buffer.from([0xff, 0xfe]), Buffer.from('ü'.repeat(20_000))]),
      headers: { 'x-long': 'x'.repeat(4_000), 'x-last': 'y'.repeat(200) },
    }))
    const one = await ended(owner, await testDelivery(owner, (await anEndpoint(owner, large.url)).id))
    expect(one).toMatchObject({ state: 'delivered', last_status: 200 })
    expect(one.attempts[0]?.response_body).toBe('x'.repeat(16_384))
    const other = await ended(owner, await testDelivery(owner, (await anEndpoint(owner, odd.url)).id))
    const [attempt] = other.attempts
    expect(attempt?.response_body).toMatch(/^a\ufffdb\ufffd\ufffdü{8188,8190}$/)
    const kept = attempt?.response_headers.reduce((sum, { name, value }) => sum + name.length + value.length, 0) ?? 0
    expect(kept).toBeLessThanOrEqual(4_096)
    expect(attempt?.response_headers.map(({ name }) => name)).not.toContain('x-last')
  })

  test('counts when the header line came, although the body never ends', async () => {
    const receiver = await aReceiver(t, () => ({ status: 200, body: 'x'.repeat(200_000) }))
    const owner = await aFounder(t.url)
    const { id } = await anEndpoint(owner, receiver.url)
    expect(await ended(owner, await testDelivery(owner, id))).toMatchObject({ state: 'delivered' })
  })
})

describe('an endpoint', () => {
  test('that is paused keeps its deliveries and continues when it is resumed', async () => {
    const receiver = await aReceiver(t)
    const owner = await aFounder(t.url)
    const { id } = await anEndpoint(owner, receiver.url)
    await owner.patch(`/api/webhooks/${id}`, { paused: true })
    const [first, second] = [await testDelivery(owner, id), await testDelivery(owner, id)]
    // Another endpoint, whose delivery is later, is not paused.
    const other = await anEndpoint(owner, receiver.url)
    await ended(owner, await testDelivery(owner, other.id))
    expect(await readDelivery(owner, first)).toMatchObject({ state: 'pending', attempts: [] })
    await owner.patch(`/api/webhooks/${id}`, { paused: false })
    for (const delivery of [first, second]) expect(await ended(owner, delivery)).toMatchObject({ state: 'delivered' })
  })

  test('that is deleted ends its waiting deliveries, and its log stays', async () => {
    const receiver = await aReceiver(t)
    const owner = await aFounder(t.url)
    const { id } = await anEndpoint(owner, receiver.url)
    await owner.patch(`/api/webhooks/${id}`, { paused: true })
    const delivery = await testDelivery(owner, id)
    expect((await owner.delete(`/api/webhooks/${id}`)).status).toBe(204)
    expect(await readDelivery(owner, delivery)).toMatchObject({
      state: 'failed',
      reason: 'endpoint_deleted',
      next_attempt_at: null,
      attempts: [],
    })
    expect((await owner.post(`/api/webhook-deliveries/${delivery}/replay`)).status).toBe(409)
    const list = await owner.get(`/api/webhooks/${id}/deliveries`)
    expect(list.body).toMatchObject({ items: [{ id: delivery, reason: 'endpoint_deleted' }], total: 1 })
    expect((await owner.get(`/api/webhooks/${id}`)).status).toBe(404)
    expect((await (await aFounder(t.url)).get(`/api/webhooks/${id}/deliveries`)).status).toBe(404)
    expect(receiver.requests).toHaveLength(0)
  })

  test('that is deleted in flight gets no further attempt', async () => {
    let release: (answer: Answer) => void = () => {}
    const receiver = await aReceiver(
      t,
      () =>
        new Promise((resolve) => {
          release = resolve
        }),
    )
    const owner = await aFounder(t.url)
    const { id } = await anEndpoint(owner, receiver.url)
    const delivery = await testDelivery(owner, id)
    await waitFor('the request', () => receiver.requests.length === 1)
    await owner.delete(`/api/webhooks/${id}`)
    release(500)
    expect(await ended(owner, delivery)).toMatchObject({
      state: 'failed',
      reason: 'endpoint_deleted',
      last_status: 500,
    })
    expect(receiver.requests).toHaveLength(1)
  })

  test('with strict ordering receives one after the other', async () => {
    let failing = true
    const receiver = await aReceiver(t, () => (failing ? 500 : 200))
    const owner = await aFounder(t.url)
    const { id } = await anEndpoint(owner, receiver.url, { ordering: 'strict' })
    await owner.patch(`/api/webhooks/${id}`, { paused: true })
    const ids = [await testDelivery(owner, id), await testDelivery(owner, id), await testDelivery(owner, id)]
    await owner.patch(`/api/webhooks/${id}`, { paused: false })
    await waitFor('two attempts', () => receiver.requests.length >= 2)
    failing = false
    for (const delivery of ids) expect(await ended(owner, delivery)).toMatchObject({ state: 'delivered' })
    const order = receiver.requests.map((request) => headersOf(request)['svc-delivery'])
    expect(order.toSorted((a, b) => ids.indexOf(String(a)) - ids.indexOf(String(b)))).toEqual(order)
  })
})

describe('after a rotation', () => {
  async function failingOnce(overlapSeconds: number, fields: Record<string, unknown> = {}) {
    let release: (answer: Answer) => void = () => {}
    const receiver = await aReceiver(t, (request) =>
      receiver.requests.indexOf(request) === 0
        ? new Promise((resolve) => {
            release = resolve
          })
        : 200,
    )
    const owner = await aFounder(t.url)
    const { id, secret } = await anEndpoint(owner, receiver.url, fields)
    const delivery = await testDelivery(owner, id)
    await waitFor('the first attempt', () => receiver.requests.length === 1)
    const rotated = await owner.post(`/api/webhooks/${id}/rotate-secret`, { overlap_seconds: overlapSeconds })
    release(500)
    await ended(owner, delivery, 2)
    const [first, second] = receiver.requests
    if (first === undefined || second === undefined) throw new Error('two requests were expected')
    return {
      owner,
      id,
      delivery,
      receiver,
      first,
      second,
      older: secret,
      newer: EndpointWithSecret.parse(rotated.body).secret,
    }
  }

  test('without an overlap a retry keeps the secret of its event, and a replay has the new one', async () => {
    const { owner, delivery, receiver, first, second, older, newer } = await failingOnce(0)
    for (const request of [first, second]) {
      expect(await acceptedBy(older, request)).toEqual(VERIFIER_NAMES)
      expect(await acceptedBy(newer, request)).toEqual([])
    }
    await owner.post(`/api/webhook-deliveries/${delivery}/replay`)
    const third = await waitFor('the replay', () => receiver.requests[2])
    expect(await acceptedBy(newer, third)).toEqual(VERIFIER_NAMES)
    expect(await acceptedBy(older, third)).toEqual([])
    expect(await readDelivery(owner, delivery)).toMatchObject({ secret_version: 1 })
  })

  test('in an overlap both secrets sign, the newest first', async () => {
    const { owner, id, receiver, first, second, older, newer } = await failingOnce(3_600)
    expect(await acceptedBy(older, first)).toEqual(VERIFIER_NAMES)
    expect(await acceptedBy(newer, first)).toEqual([])
    expect(await acceptedBy(older, second)).toEqual(VERIFIER_NAMES)
    expect(await acceptedBy(newer, second)).toEqual(['stripe', 'mux', 'strict'])
    expect(String(headersOf(second)['svc-signature']).match(/v1=/g)).toHaveLength(2)
    // Also events that happen in the overlap.
    await ended(owner, await testDelivery(owner, id))
    const third = receiver.requests[2]
    if (third === undefined) throw new Error('a third request was expected')
    for (const secret of [older, newer]) expect(await acceptedBy(secret, third)).toContain('strict')
  })
})

describe('a replay', () => {
  const replay = (owner: Client, id: string, body?: Record<string, unknown>) =>
    owner.post(`/api/webhook-deliveries/${id}/replay`, body)

  test('of a delivered one sends the same body once more, signed with the time of now', async () => {
    const receiver = await aReceiver(t)
    const owner = await aFounder(t.url)
    const { id, secret } = await anEndpoint(owner, receiver.url)
    const delivery = await testDelivery(owner, id)
    await ended(owner, delivery)
    const { status, body } = await replay(owner, delivery)
    expect(status).toBe(200)
    expect(WebhookDelivery.strict().parse(body)).toMatchObject({ id: delivery, state: 'pending' })
    const one = await ended(owner, delivery, 2)
    expect(one).toMatchObject({ state: 'delivered', attempt: 1 })
    expect(one.attempts.map(({ n, trigger }) => [n, trigger])).toEqual([
      [1, 'schedule'],
      [2, 'replay'],
    ])
    const [first, second] = receiver.requests
    expect(second?.body).toEqual(first?.body)
    expect(second?.headers['svc-delivery']).toBe(delivery)
    if (second !== undefined) expect(await acceptedBy(secret, second)).toEqual(VERIFIER_NAMES)
    expect(await auditOf(owner, 'webhook.delivery.replayed')).toMatchObject([
      { meta: { count: 1, delivery_ids: [delivery] } },
    ])
  })

  test('of a failed one makes one attempt; with retries a new schedule begins, signed with the new secret', async () => {
    const receiver = await aReceiver(t, () => 500)
    const owner = await aFounder(t.url)
    const { id, secret } = await anEndpoint(owner, receiver.url)
    const delivery = await testDelivery(owner, id)
    await ended(owner, delivery, 6)
    await replay(owner, delivery)
    expect((await ended(owner, delivery, 7)).attempts).toHaveLength(7)
    const rotated = EndpointWithSecret.parse((await owner.post(`/api/webhooks/${id}/rotate-secret`)).body).secret
    await replay(owner, delivery, { retries: true })
    const one = await ended(owner, delivery, 13)
    expect(one).toMatchObject({ state: 'failed', attempt: 6, secret_version: 2 })
    expect(one.attempts.slice(6).map(({ trigger }) => trigger)).toEqual([
      'replay',
      'replay',
      ...Array.from({ length: 5 }, () => 'schedule'),
    ])
    for (const [index, request] of receiver.requests.entries())
      expect(await acceptedBy(index < 7 ? secret : rotated, request)).toEqual(VERIFIER_NAMES)
  })

  test('asked for during an attempt is accepted, and sent when that attempt has ended', async () => {
    let release: (answer: Answer) => void = () => {}
    const receiver = await aReceiver(t, (request) =>
      receiver.requests.indexOf(request) === 0
        ? new Promise((resolve) => {
            release = resolve
          })
        : 200,
    )
    const owner = await aFounder(t.url)
    const delivery = await testDelivery(owner, (await anEndpoint(owner, receiver.url)).id)
    await waitFor('the first attempt', () => receiver.requests.length === 1)
    const answers = [await replay(owner, delivery), await replay(owner, delivery)]
    expect(answers.map(({ status, body }) => [status, body['state']])).toEqual([
      [202, 'in_flight'],
      [202, 'in_flight'],
    ])
    const bulk = await owner.post('/api/webhook-deliveries/replay', { ids: [delivery] })
    expect(bulk.body).toEqual({ items: [{ id: delivery, result: 'accepted_in_flight' }] })
    release(200)
    expect(await ended(owner, delivery, 2)).toMatchObject({ state: 'delivered' })
    expect(receiver.requests).toHaveLength(2)
  })

  test('of several answers for each', async () => {
    const receiver = await aReceiver(t)
    const [owner, stranger] = [await aFounder(t.url), await aFounder(t.url)]
    const { id } = await anEndpoint(owner, receiver.url)
    const gone = await anEndpoint(owner, receiver.url)
    const theirs = await testDelivery(stranger, (await anEndpoint(stranger, receiver.url)).id)
    const [mine, ofGone] = [await testDelivery(owner, id), await testDelivery(owner, gone.id)]
    for (const delivery of [mine, ofGone]) await ended(owner, delivery)
    await ended(stranger, theirs)
    await owner.delete(`/api/webhooks/${gone.id}`)
    const missing = `d_${'0'.repeat(26)}`
    const send = (ids: unknown) => owner.post('/api/webhook-deliveries/replay', { ids })
    const { status, body } = await send([mine, theirs, ofGone, missing, mine])
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        items: [
          { id: mine, result: 'accepted' },
          { id: theirs, result: 'not_found' },
          { id: ofGone, result: 'endpoint_deleted' },
          { id: missing, result: 'not_found' },
        ],
      },
    })
    expect(await ended(owner, mine, 2)).toMatchObject({ state: 'delivered' })
    expect((await readDelivery(stranger, theirs)).attempts).toHaveLength(1)
    for (const ids of [[], ['x'], Array.from({ length: 101 }, () => mine), mine])
      expect((await send(ids)).status).toBe(400)
  })

  test('of everything that failed in a time range', async () => {
    let answer = 500
    const receiver = await aReceiver(t, () => answer)
    const owner = await aFounder(t.url)
    const { id } = await anEndpoint(owner, receiver.url)
    const failed = await Promise.all(Array.from({ length: 5 }, () => testDelivery(owner, id)))
    const ends = await Promise.all(failed.map((delivery) => ended(owner, delivery, 6)))
    answer = 200
    const good = await testDelivery(owner, id)
    await ended(owner, good)
    const recover = (body: Record<string, unknown>) => owner.post(`/api/webhooks/${id}/recover`, body)
    const since = ends.map(({ created_at }) => created_at).toSorted()[0] ?? ''
    expect((await recover({ since: '2100-01-01T00:00:00Z' })).body).toEqual({ count: 0, has_more: false })
    expect((await recover({ since: '2020-01-01T00:00:00Z', until: since })).body).toEqual({ count: 0, has_more: false })
    expect((await recover({ since, until: since })).status).toBe(400)
    const { status, body } = await recover({ since })
    expect({ status, body }).toEqual({ status: 200, body: { count: 5, has_more: false } })
    for (const delivery of failed) expect(await ended(owner, delivery, 7)).toMatchObject({ state: 'delivered' })
    expect((await readDelivery(owner, good)).attempts).toHaveLength(1)
    expect((await recover({ since })).body).toEqual({ count: 0, has_more: false })
    expect(await auditOf(owner, 'webhook.delivery.replayed')).toMatchObject([{ meta: { count: 5 } }])
    // The newest attempt decides the state; a delivery that arrived once is not sent again.
    answer = 500
    await owner.post(`/api/webhook-deliveries/${good}/replay`)
    const replayed = await ended(owner, good, 2)
    expect(replayed.state).toBe('failed')
    expect(replayed.delivered_at).not.toBeNull()
    expect((await recover({ since })).body).toEqual({ count: 0, has_more: false })
  })
})
