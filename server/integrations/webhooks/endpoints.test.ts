import { expect, test } from 'vitest'
import { client, type Client } from '#test/kit/client.ts'
import { aFounder } from '#test/kit/founder.ts'
import { aMemberClient } from '#test/kit/member-client.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { EndpointWithSecret, WebhookEndpoint } from './webhooks.api.ts'

const t = await testServer()

const URL_OF_HOOK = 'https://hooks.example.com/faultline'

async function anEndpoint(owner: Client, fields: Record<string, unknown> = {}): Promise<EndpointWithSecret> {
  const { status, body, text } = await owner.post('/api/webhooks', { url: URL_OF_HOOK, ...fields })
  expect(status, text).toBe(201)
  return EndpointWithSecret.parse(body)
}

const read = async (owner: Client, id: string) =>
  WebhookEndpoint.strict().parse((await owner.get(`/api/webhooks/${id}`)).body)

test('a new endpoint shows its secret once, and only the prefix afterwards', async () => {
  const owner = await aFounder(t.url)
  const created = await anEndpoint(owner, { events: ['signin.password.ok', 'device.new', 'device.new'] })
  expect(created).toMatchObject({
    url: URL_OF_HOOK,
    events: ['signin.password.ok', 'device.new'],
    state: 'active',
    last_status: null,
    last_attempt_at: null,
    needs_attention: false,
    ordering: 'none',
    max_per_second: null,
    auto_pause: false,
    standard_headers: false,
    headers: [],
    overlap_ends_at: null,
    tls_error: null,
    success_rate: null,
  })
  expect(created.app_id).toMatch(/^app_[0-9a-z]{26}$/)
  expect(created.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(created.secret_prefix).toBe(created.secret.slice(0, 12))
  expect(Buffer.from(created.secret.slice(6), 'base64')).toHaveLength(32)
  expect(created.days).toHaveLength(30)
  expect(created.days.at(-1)).toEqual({ day: '2026-11-20', delivered: 0, failed: 0 })
  const { secret: _secret, ...shown } = created
  expect(await read(owner, created.id)).toEqual(shown)
  const list = await owner.get('/api/webhooks')
  expect(list.body).toMatchObject({ items: [shown], total: 1, limit: 25, offset: 0, next_cursor: null })
  expect(list.text).not.toContain(created.secret)
})

test('neither the database nor the log holds a secret or the value of a header', async () => {
  const owner = await aFounder(t.url)
  const { id, secret } = await anEndpoint(owner, { headers: [{ name: 'X-Api-Key', value: 'canary-of-a-header' }] })
  const rotated = EndpointWithSecret.parse((await owner.post(`/api/webhooks/${id}/rotate-secret`)).body).secret
  const { rows } = await t.app.db.query<{ text: string }>(
    `select (select string_agg(e::text, '') from webhook_endpoints e) ||
       (select string_agg(s::text, '') from webhook_secrets s) as text`,
  )
  const stored = rows[0]?.text ?? ''
  expect(stored).toContain(id)
  for (const canary of [secret, rotated, 'canary-of-a-header']) {
    expect(stored).not.toContain(canary)
    expect(stored).not.toContain(Buffer.from(canary).toString('hex'))
    expect(JSON.stringify(t.logLines)).not.toContain(canary)
  }
})

test('an unknown event type is refused, with the closest one that exists', async () => {
  const owner = await aFounder(t.url)
  for (const [given, nearest] of [
    ['signin.pasword.ok', 'signin.password.ok'],
    ['user.password_changed', 'password.changed'],
    ['Device.New', 'device.new'],
  ]) {
    const { status, body } = await owner.post('/api/webhooks', { url: URL_OF_HOOK, events: [given] })
    expect({ status, body }).toEqual({
      status: 400,
      body: { error: `events contains "${given}", which is not an event type. The closest is ${nearest}.` },
    })
  }
})

test.each([
  ['ftp://example.com/', 'https'],
  ['https://user:pass@example.com/', 'user name'],
  ['https://example.com/#part', 'fragment'],
  ['https://example.com:22/', 'port 22'],
  ['https://example.com:5432/', 'port 5432'],
  ['https://169.254.169.254/latest/meta-data', 'link-local'],
  ['https://10.0.0.1/', 'private'],
  ['https://0x0a000001/', 'private'],
  ['https://[fd00::1]/', 'private'],
  [`https://example.com/${'a'.repeat(2_048)}`, '2048'],
  ['https://example.com/a b', 'spaces'],
  ['not a url', ''],
  ['//example.com', ''],
  ['javascript:alert(1)', 'https'],
  ['', 'url'],
])('the URL %s is refused', async (url, reason) => {
  const owner = await aFounder(t.url)
  const { status, body } = await owner.post('/api/webhooks', { url })
  expect(status).toBe(400)
  expect((body as { error: string }).error).toContain(reason)
  const { id } = await anEndpoint(owner)
  expect((await owner.patch(`/api/webhooks/${id}`, { url })).status).toBe(400)
  expect((await read(owner, id)).url).toBe(URL_OF_HOOK)
})

test('several endpoints may have the same URL; an application has at most twenty, also when they are created together', async () => {
  const owner = await aFounder(t.url)
  await Promise.all(Array.from({ length: 19 }, () => anEndpoint(owner)))
  const last = await Promise.all(
    Array.from({ length: 4 }, () => owner.post('/api/webhooks', { url: URL_OF_HOOK }).then(({ status }) => status)),
  )
  expect(last.toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409])
  const { body } = await owner.get('/api/webhooks?limit=15')
  expect(body).toMatchObject({ total: 20, next_cursor: '15' })
  const { items } = body as { items: { id: string }[] }
  const rest = (await owner.get('/api/webhooks?limit=15&cursor=15')).body as typeof body & { items: { id: string }[] }
  expect(new Set([...items, ...rest.items].map(({ id }) => id)).size).toBe(20)
  await owner.delete(`/api/webhooks/${items[0]?.id}`)
  expect((await owner.post('/api/webhooks', { url: URL_OF_HOOK })).status).toBe(201)
})

test('app_id must name an application of the organisation', async () => {
  const [owner, stranger] = [await aFounder(t.url), await aFounder(t.url)]
  const { app_id } = await anEndpoint(owner)
  expect((await anEndpoint(owner, { app_id })).app_id).toBe(app_id)
  expect((await stranger.post('/api/webhooks', { url: URL_OF_HOOK, app_id })).status).toBe(400)
})

test('an organisation from before applications gets its default one with its first endpoint', async () => {
  const owner = await aFounder(t.url)
  const { app_id } = await anEndpoint(owner)
  await t.app.db.deleteFrom('applications').where('id', '=', app_id).execute()
  const made = await Promise.all([anEndpoint(owner), anEndpoint(owner)])
  expect(new Set(made.map((one) => one.app_id)).size).toBe(1)
  expect(made[0].app_id).not.toBe(app_id)
  expect((await owner.post('/api/webhooks', { url: URL_OF_HOOK, app_id })).body).toEqual({
    error: 'app_id names an application that is not in this organisation.',
  })
})

test('values of own headers do not move to another origin unseen', async () => {
  const owner = await aFounder(t.url)
  const { id } = await anEndpoint(owner, { headers: [{ name: 'Authorization', value: 'Bearer 1' }] })
  const patch = (body: Record<string, unknown>) => owner.patch(`/api/webhooks/${id}`, body)
  expect((await patch({ url: 'https://hooks.example.com/other?a=1' })).status).toBe(200)
  for (const url of ['https://other.example.com/', 'https://hooks.example.com:8443/', 'https://HOOKS.example.org/'])
    for (const headers of [
      undefined,
      [{ name: 'Authorization' }],
      [{ name: 'X', value: 'a' }, { name: 'Authorization' }],
    ])
      expect(await patch({ url, headers })).toMatchObject({
        status: 400,
        body: {
          error: 'headers must be sent with every value, or as an empty list, when the URL moves to another origin.',
        },
      })
  expect((await read(owner, id)).url).toBe('https://hooks.example.com/other?a=1')
  const headers = [{ name: 'Authorization', value: 'Bearer 2' }]
  expect((await patch({ url: 'https://other.example.com/', headers })).status).toBe(200)
  expect((await patch({ url: URL_OF_HOOK, headers: [] })).status).toBe(200)
  expect((await patch({ url: 'https://other.example.com/' })).status).toBe(200)
})

test('own headers that cannot be opened are shown as such, and can be set again', async () => {
  const owner = await aFounder(t.url)
  const { id } = await anEndpoint(owner, { headers: [{ name: 'Authorization', value: 'Bearer 1' }] })
  await t.app.db
    .updateTable('webhook_endpoints')
    .set({ headers_sealed: 'v1.d1.AAAA.AAAA' })
    .where('id', '=', id)
    .execute()
  expect(await owner.get('/api/webhooks')).toMatchObject({
    status: 200,
    body: { items: [{ id, headers: [], headers_unreadable: true }] },
  })
  const patch = (headers: unknown) => owner.patch(`/api/webhooks/${id}`, { headers })
  expect((await patch([{ name: 'Authorization' }])).body).toEqual({
    error: 'headers: the stored values cannot be read. Send every value.',
  })
  expect((await patch([{ name: 'Authorization', value: 'Bearer 1' }])).body).toMatchObject({
    headers: [{ name: 'Authorization', value: '••••••••' }],
    headers_unreadable: false,
  })
})

test('a change keeps what it does not name', async () => {
  const owner = await aFounder(t.url)
  const {
    id,
    secret: _secret,
    ...created
  } = await anEndpoint(owner, {
    events: ['device.new'],
    description: 'Pager',
    ordering: 'strict',
    max_per_second: 5,
  })
  t.clock.advance(1_000)
  const changed = await owner.patch(`/api/webhooks/${id}`, { auto_pause: true, standard_headers: true, events: [] })
  expect(changed.status).toBe(200)
  expect(changed.body).toEqual({
    ...created,
    id,
    auto_pause: true,
    standard_headers: true,
    events: [],
    updated_at: t.clock.now().toISOString(),
  })
  expect((await owner.patch(`/api/webhooks/${id}`, { max_per_second: null, ordering: 'none' })).body).toMatchObject({
    max_per_second: null,
    ordering: 'none',
    description: 'Pager',
  })
  expect((await owner.patch(`/api/webhooks/${id}`, {})).status).toBe(400)
})

test('an endpoint is paused and resumed', async () => {
  const owner = await aFounder(t.url)
  const { id } = await anEndpoint(owner)
  for (const [paused, state] of [
    [true, 'paused'],
    [true, 'paused'],
    [false, 'active'],
    [false, 'active'],
  ] as const)
    expect((await owner.patch(`/api/webhooks/${id}`, { paused })).body).toMatchObject({ id, state })
})

test('own headers are masked; a change keeps values that it leaves out', async () => {
  const owner = await aFounder(t.url)
  const { id, headers } = await anEndpoint(owner, {
    headers: [
      { name: 'Authorization', value: 'Bearer 1' },
      { name: 'X-Team', value: 'web' },
    ],
  })
  const masked = (...names: string[]) => names.map((name) => ({ name, value: '••••••••' }))
  expect(headers).toEqual(masked('Authorization', 'X-Team'))
  const patch = (body: unknown) => owner.patch(`/api/webhooks/${id}`, { headers: body })
  expect((await patch([{ name: 'authorization' }, { name: 'X-New', value: 'a' }])).body).toMatchObject({
    headers: masked('authorization', 'X-New'),
  })
  expect((await patch([{ name: 'X-Unknown' }])).status).toBe(400)
  expect((await patch(masked('authorization'))).text).toContain('mask')
  expect((await owner.patch(`/api/webhooks/${id}`, { description: 'a' })).body).toMatchObject({
    headers: masked('authorization', 'X-New'),
  })
  expect((await patch([])).body).toMatchObject({ headers: [] })
  await patch([{ name: 'X-New', value: 'a' }])
  expect((await patch(null)).body).toMatchObject({ headers: [] })
})

test('a rotation shows the new secret once; during an overlap a second one needs force', async () => {
  const owner = await aFounder(t.url)
  const { id, secret } = await anEndpoint(owner)
  const rotate = (body?: Record<string, unknown>) => owner.post(`/api/webhooks/${id}/rotate-secret`, body)
  const first = EndpointWithSecret.parse((await rotate({ overlap_seconds: 3_600 })).body)
  expect(first.secret).not.toBe(secret)
  expect(first.secret_prefix).toBe(first.secret.slice(0, 12))
  expect(first.overlap_ends_at).toBe(new Date(t.clock.now().getTime() + 3_600_000).toISOString())
  expect((await rotate()).status).toBe(409)
  expect((await rotate({ force: true, overlap_seconds: 60 })).status).toBe(200)
  expect((await read(owner, id)).overlap_ends_at).toBe(new Date(t.clock.now().getTime() + 60_000).toISOString())
  t.clock.advance(60_000)
  expect((await read(owner, id)).overlap_ends_at).toBeNull()
  const last = await rotate()
  expect(last.status).toBe(200)
  expect(last.body).toMatchObject({ overlap_ends_at: null })
  for (const overlap_seconds of [-1, 604_801, 1.5, '60']) expect((await rotate({ overlap_seconds })).status).toBe(400)
  expect((await rotate({ overlap_seconds: 604_800 })).status).toBe(200)
})

test('an endpoint is deleted once; deleting it again changes nothing', async () => {
  const owner = await aFounder(t.url)
  const { id } = await anEndpoint(owner)
  expect((await owner.delete(`/api/webhooks/${id}`)).status).toBe(204)
  expect((await owner.delete(`/api/webhooks/${id}`)).status).toBe(204)
  for (const { status } of [
    await owner.get(`/api/webhooks/${id}`),
    await owner.patch(`/api/webhooks/${id}`, { paused: true }),
    await owner.post(`/api/webhooks/${id}/rotate-secret`),
    await owner.delete(`/api/webhooks/${newId()}`),
  ])
    expect(status).toBe(404)
  expect((await owner.get('/api/webhooks')).body).toMatchObject({ items: [], total: 0 })
})

test('webhooks need the role admin, and are invisible to other organisations', async () => {
  const owner = await aFounder(t.url)
  const stranger = await aFounder(t.url)
  const admin = await aMemberClient(t.app, t.url, owner, { name: 'Admin', role: 'admin' })
  const member = await aMemberClient(t.app, t.url, owner, { name: 'Member', role: 'member' })
  const { id } = await anEndpoint(owner)
  expect((await admin.get(`/api/webhooks/${id}`)).status).toBe(200)
  expect((await member.get('/api/webhooks')).status).toBe(403)
  expect((await member.post('/api/webhooks', { url: URL_OF_HOOK })).status).toBe(403)
  expect((await client(t.url).get('/api/webhooks')).status).toBe(401)
  expect((await stranger.get(`/api/webhooks/${id}`)).status).toBe(404)
  expect((await stranger.delete(`/api/webhooks/${id}`)).status).toBe(404)
  expect((await stranger.get('/api/webhooks')).body).toMatchObject({ total: 0 })
})

test('open dashboards read an endpoint again after each change of it', async () => {
  const owner = await aFounder(t.url)
  const messages: unknown[] = []
  t.onClose(() => Promise.resolve(off()))
  const off = t.app.bus.on('live', (payload) => messages.push(payload))
  const { id } = await anEndpoint(owner)
  await owner.patch(`/api/webhooks/${id}`, { paused: true })
  await owner.post(`/api/webhooks/${id}/rotate-secret`)
  await owner.delete(`/api/webhooks/${id}`)
  await waitFor('four messages', () => messages.filter((one) => JSON.stringify(one).includes(id)).length === 4)
  expect(messages).toContainEqual([expect.any(String), { kind: 'webhooks', endpoint_ids: [id] }])
})
