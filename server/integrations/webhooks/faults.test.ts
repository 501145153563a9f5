import { describe, expect, test } from 'vitest'
import { testAuthority } from '#test/kit/certificates.ts'
import { aFounder } from '#test/kit/founder.ts'
import type { Answer } from '#test/kit/receiver.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { systemActor, factContext } from '../../platform/context/actor.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { eraseUserMessages } from '../../platform/outbox/erase-messages.ts'
import { everythingStored } from '#test/kit/everything-stored.ts'
import { autoPause } from './auto-pause.ts'
import { EndpointWithSecret } from './webhooks.api.ts'
import {
  aReceiver,
  anEndpoint,
  attempted,
  auditOf,
  ended,
  headersOf,
  readDelivery,
  readEndpoint,
  testDelivery,
} from './webhooks.fixture.ts'

const authority = testAuthority()
const t = await testServer({
  realTime: true,
  deliveries: true,
  egress: { ca: [authority.cert] },
  env: { FAULTLINE_RETRY_SCALE: '0.00001' },
})

const DAY_MS = 86_400_000
const ago = (days: number) => new Date(Date.now() - days * DAY_MS)

describe('TLS', () => {
  test('a valid certificate is accepted, and the steps of the attempt are measured', async () => {
    const receiver = await aReceiver(t, () => 200, { tls: authority.issue() })
    const owner = await aFounder(t.url)
    const { id } = await anEndpoint(owner, receiver.url)
    const [attempt] = (await ended(owner, await testDelivery(owner, id))).attempts
    for (const step of ['dns_ms', 'connect_ms', 'tls_ms'] as const) expect(attempt?.[step]).toBeGreaterThanOrEqual(0)
  })

  test.each([
    [
      'an expired certificate',
      authority.issue({ notBefore: ago(30), notAfter: ago(1) }),
      'CERT_HAS_EXPIRED',
      'certificate has expired',
    ],
    [
      'a certificate of an unknown authority',
      testAuthority('Another authority').issue(),
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'unable to verify',
    ],
    [
      'a certificate for another name',
      authority.issue({ names: ['hooks.example.com'] }),
      'ERR_TLS_CERT_ALTNAME_INVALID',
      '127.0.0.1 is not in the cert',
    ],
    [
      'TLS 1.1 only',
      { ...authority.issue(), minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const,
      'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
      'protocol version',
    ],
    ['plain HTTP', undefined, 'ERR_SSL_WRONG_VERSION_NUMBER', 'wrong version number'],
  ])('%s is reported word for word, once a minute', async (_name, tls, code, text) => {
    const receiver = await aReceiver(t, () => 200, tls === undefined ? {} : { tls })
    const owner = await aFounder(t.url)
    const { id } = await anEndpoint(owner, receiver.url.replace('http:', 'https:'))
    const one = await ended(owner, await testDelivery(owner, id), 6)
    expect(receiver.requests).toHaveLength(0)
    expect(one).toMatchObject({ state: 'failed', last_status: null, last_error_code: code })
    const entries = await auditOf(owner, 'webhook.tls_error')
    const minutes = new Set(one.attempts.map(({ started_at }) => started_at.slice(0, 16)))
    expect(entries.length).toBeGreaterThanOrEqual(1)
    expect(entries.length).toBeLessThanOrEqual(minutes.size)
    const [entry] = entries
    expect(entry?.meta).toMatchObject({ code, delivery_id: one.id })
    expect(one.attempts.map(({ error_text }) => error_text)).toContain(entry?.meta['message'])
    expect(entry?.meta['message']).toContain(text)
    const endpoint = await readEndpoint(owner, id)
    expect(endpoint).toMatchObject({
      last_status: null,
      needs_attention: true,
      tls_error: { code, delivery_id: one.id },
    })
    expect(endpoint.tls_error?.text).toBe(one.attempts.at(-1)?.error_text)
  })
})

test('a receiver that says nothing, or the header line too slowly, fails after ten seconds; a slow body does not matter', async () => {
  const owner = await aFounder(t.url)
  const send = async (respond: Parameters<typeof aReceiver>[1]) => {
    const receiver = await aReceiver(t, respond)
    const { id } = await anEndpoint(owner, receiver.url)
    const delivery = await testDelivery(owner, id)
    const one = await attempted(owner, delivery, 1)
    const endpoint = await readEndpoint(owner, id)
    // No further attempts of ten seconds.
    await owner.delete(`/api/webhooks/${id}`)
    return { one, attempt: one.attempts[0], endpoint }
  }
  const [hang, drip, body, slow] = await Promise.all([
    send(() => ({ fault: 'hang' })),
    send(() => ({ raw: `HTTP/1.1 200 OK\r\nx-long: ${'x'.repeat(2_000)}\r\n\r\n`, dripMs: 100 })),
    send(() => ({ fault: 'hang-body' })),
    send(() => ({ status: 200, delayMs: 9_000 })),
  ])
  for (const { one, attempt, endpoint } of [hang, drip]) {
    expect(attempt).toMatchObject({ status: null, error_code: 'EGRESS_TIMEOUT', n: 1 })
    expect(attempt?.duration_ms).toBeGreaterThanOrEqual(9_990)
    expect(attempt?.duration_ms).toBeLessThan(11_000)
    expect(one.attempt).toBe(1)
    expect(endpoint).toMatchObject({ last_status: null, needs_attention: true })
  }
  for (const { one, endpoint } of [body, slow]) {
    expect(one).toMatchObject({ state: 'delivered', last_status: 200 })
    expect(endpoint).toMatchObject({ last_status: 200, needs_attention: false })
  }
})

test('an address that is not allowed any more is refused when it is sent to', async () => {
  const owner = await aFounder(t.url)
  const { id } = await anEndpoint(owner, 'http://127.0.0.1:9')
  // As if the operator had closed the network after the registration.
  await t.app.db
    .updateTable('webhook_endpoints')
    .set({ url: 'http://169.254.169.254/latest' })
    .where('id', '=', id)
    .execute()
  const one = await ended(owner, await testDelivery(owner, id), 6)
  expect(one).toMatchObject({ state: 'failed', last_status: null, last_error_code: 'EGRESS_URL' })
})

test('an endpoint whose secret cannot be opened holds up no other, until it is rotated', async () => {
  const receiver = await aReceiver(t)
  const owner = await aFounder(t.url)
  const [broken, whole] = [await anEndpoint(owner, receiver.url), await anEndpoint(owner, receiver.url)]
  await t.app.db
    .updateTable('webhook_secrets')
    .set({ secret_sealed: 'v1.d1.AAAA.AAAA' })
    .where('endpoint_id', '=', broken.id)
    .execute()
  await owner.post('/api/auth/login', { email: owner.email, password: owner.password })
  const { items } = (await owner.get(`/api/webhooks/${broken.id}/deliveries`)).as<{ items: { id: string }[] }>()
  const one = await ended(owner, items[0]?.id ?? '', 6)
  expect(one).toMatchObject({ state: 'failed', last_status: null, last_error_code: 'secret_unreadable' })
  expect(receiver.requests).toHaveLength(1)
  expect(await readEndpoint(owner, whole.id)).toMatchObject({ last_status: 200 })
  await owner.post(`/api/webhooks/${broken.id}/rotate-secret`)
  await owner.post(`/api/webhook-deliveries/${one.id}/replay`)
  expect(await ended(owner, one.id, 7)).toMatchObject({ state: 'delivered' })
})

describe('automatic pause', () => {
  /** As if it had failed for so long. */
  const failedFor = (id: string, hours: number, attempts: number) =>
    t.app.db.query(
      'update webhook_endpoints set failing_since = now() - make_interval(hours => $2), failed_attempts = $3 where id = $1',
      [id, hours, attempts],
    )
  const jobs = async (id: string): Promise<number> => {
    const { rows } = await t.app.db.query<{ n: number }>(
      `select count(*)::int as n from graphile_worker.jobs where key = $1`,
      [`auto-pause-webhook/${id}`],
    )
    return rows[0]?.n ?? 0
  }

  test('pauses an endpoint that asked for it after 120 hours and 20 attempts, and mails the owners', async () => {
    const receiver = await aReceiver(t, () => 500)
    const owner = await aFounder(t.url)
    const { id, url } = await anEndpoint(owner, receiver.url, { auto_pause: true })
    await failedFor(id, 121, 10)
    await ended(owner, await testDelivery(owner, id), 6)
    expect(await jobs(id)).toBe(0)
    await autoPause(t.app, id)
    expect(await readEndpoint(owner, id)).toMatchObject({ state: 'active' })

    await failedFor(id, 121, 19)
    await ended(owner, await testDelivery(owner, id), 6)
    expect(await jobs(id)).toBe(1)
    await autoPause(t.app, id)
    await autoPause(t.app, id)
    expect(await readEndpoint(owner, id)).toMatchObject({ state: 'auto_paused' })
    expect(await auditOf(owner, 'webhook.endpoint.auto_paused')).toMatchObject([{ meta: { failed_attempts: 25 } }])
    const mail = await waitFor('the mail', () => t.mails.find(({ to }) => to === owner.email))
    expect(mail.text).toContain(url)
    expect(t.mails.filter(({ to }) => to === owner.email)).toHaveLength(1)

    const { body } = await owner.patch(`/api/webhooks/${id}`, { paused: false })
    expect(body).toMatchObject({ state: 'active' })
    // Counting begins again.
    await ended(owner, await testDelivery(owner, id), 6)
    await autoPause(t.app, id)
    expect(await readEndpoint(owner, id)).toMatchObject({ state: 'active' })
  })

  test('leaves an endpoint alone that did not ask for it', async () => {
    const receiver = await aReceiver(t, () => 500)
    const owner = await aFounder(t.url)
    const { id } = await anEndpoint(owner, receiver.url)
    await failedFor(id, 1_000, 1_000)
    await ended(owner, await testDelivery(owner, id), 6)
    await autoPause(t.app, id)
    expect(await jobs(id)).toBe(0)
    expect(await readEndpoint(owner, id)).toMatchObject({ state: 'active' })
  })
})

test('after the erasure of a user the events about that user are empty and cannot be replayed', async () => {
  const receiver = await aReceiver(t, ({ body }) => ({ body }))
  const owner = await aFounder(t.url)
  const { user } = (await owner.get('/api/me')).as<{ user: { id: string } }>()
  const { id } = await anEndpoint(owner, receiver.url)
  const delivery = await testDelivery(owner, id)
  expect((await ended(owner, delivery)).body).toContain(owner.email)
  await owner.patch(`/api/webhooks/${id}`, { paused: true })
  const waiting = await testDelivery(owner, id)
  expect(await t.app.tx((tx) => eraseUserMessages(tx, user.id))).toBe(2)
  await owner.patch(`/api/webhooks/${id}`, { paused: false })
  const erased = await readDelivery(owner, delivery)
  expect(erased).toMatchObject({ state: 'delivered', is_erased: true, body: null })
  expect(erased.attempts[0]).toMatchObject({ response_body: null, response_headers: [] })
  expect(JSON.stringify(erased)).not.toContain(owner.email)
  expect(await readDelivery(owner, waiting)).toMatchObject({ state: 'failed', is_erased: true, attempts: [] })
  const { status, body } = await owner.post(`/api/webhook-deliveries/${delivery}/replay`)
  expect({ status, body }).toEqual({
    status: 409,
    body: { error: 'The data of this delivery was erased. It cannot be sent again.' },
  })
  const bulk = await owner.post('/api/webhook-deliveries/replay', { ids: [delivery, waiting] })
  expect(bulk.body).toEqual({ items: [delivery, waiting].map((one) => ({ id: one, result: 'erased' })) })
  expect(await owner.post(`/api/webhooks/${id}/recover`, { since: '2020-01-01T00:00:00Z' })).toMatchObject({
    body: { count: 0, has_more: false },
  })
  expect(receiver.requests).toHaveLength(1)
})

test('no secret and no value of an own header is in the database, the log, the audit log, a body or an error', async () => {
  const header = 'canary-of-an-own-header'
  const password = 'canary-of-a-password-7'
  const secrets: string[] = []
  // It shows what it got, and what it knows.
  const receiver = await aReceiver(t, ({ headers }) => ({
    status: 500,
    headers: { 'x-echo': `got ${String(headers['x-key'])}` },
    body: JSON.stringify({ headers, secrets }),
  }))
  const owner = await aFounder(t.url)
  const { id, secret } = await anEndpoint(owner, receiver.url, { headers: [{ name: 'X-Key', value: header }] })
  const rotated = EndpointWithSecret.parse(
    (await owner.post(`/api/webhooks/${id}/rotate-secret`, { overlap_seconds: 60 })).body,
  ).secret
  await owner.patch(`/api/webhooks/${id}`, { headers: [{ name: 'X-Key' }, { name: 'X-Other', value: header }] })
  await owner.post('/api/auth/change-password', { currentPassword: owner.password, newPassword: password })
  secrets.push(secret, rotated)
  const refused = [
    await owner.patch(`/api/webhooks/${id}`, { headers: [{ name: 'X-Key', value: `${header}\n` }] }),
    await owner.post('/api/webhooks', { url: `https://user:${header}@example.com/` }),
    await owner.post('/api/webhooks', { url: `https://example.com/#${header}` }),
    await owner.post('/api/webhooks', { url: 'https://example.com/', secret }),
  ]
  expect(refused.map(({ status }) => status)).toEqual([400, 400, 400, 400])
  const { attempts } = await ended(owner, await testDelivery(owner, id), 6)
  expect(headersOf(receiver.requests[0])['x-key']).toBe(header)
  expect(attempts[0]?.response_headers).toContainEqual({ name: 'x-echo', value: 'got ••••••••' })
  expect(attempts[0]?.response_body).toContain('"secrets":["••••••••","••••••••"]')
  const stored = await everythingStored(t.app.db)
  expect(stored).toContain(id)
  const shown = (await owner.get(`/api/webhooks/${id}/deliveries`)).text + (await owner.get('/api/webhooks')).text
  const sent = receiver.requests.map(({ body }) => body.toString()).join('\n')
  for (const canary of [secret, rotated, header, password])
    for (const text of [stored, JSON.stringify(t.logLines), shown, sent, ...refused.map((answer) => answer.text)])
      expect(text).not.toContain(canary)
})

test('endpoints that hang hold up no other endpoint at the same host', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<Answer>()
  const receiver = await aReceiver(t, ({ path }) => (path.startsWith('/hang') ? released : 200))
  const [owner, neighbour] = [await aFounder(t.url), await aFounder(t.url)]
  const { user } = (await owner.get('/api/me')).as<{ user: { id: string } }>()
  const hanging: string[] = []
  for (const n of [1, 2]) {
    const { id } = await anEndpoint(owner, `${receiver.url}/hang/${n}`, { events: ['password.changed'] })
    hanging.push(id)
  }
  const { orgId } = await t.app.db
    .selectFrom('webhook_endpoints')
    .select('org_id as orgId')
    .where('id', 'in', hanging)
    .executeTakeFirstOrThrow()
  await t.app.tx((tx) =>
    recordFacts(
      tx,
      factContext(t.app, systemActor('test')),
      Array.from({ length: 90 }, () => ({ kind: 'user.password_changed' as const, orgId, userId: user.id, data: {} })),
    ),
  )
  await waitFor('180 requests', () => receiver.requests.length === 180)
  const { id } = await anEndpoint(neighbour, receiver.url)
  expect(await ended(neighbour, await testDelivery(neighbour, id))).toMatchObject({ state: 'delivered' })
  release(200)
  await waitFor('the end of every delivery', async () => {
    const lists = await Promise.all(
      hanging.map((endpoint) => owner.get(`/api/webhooks/${endpoint}/deliveries?state=delivered`)),
    )
    return lists.every(({ body }) => (body as { total: number }).total === 90)
  })
})
