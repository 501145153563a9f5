import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import cookie from '@fastify/cookie'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { aCaller } from '#test/kit/members.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { EventStream } from '../../platform/context/handlers.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { csvTable, formatQuery } from '../../platform/kernel/csv.ts'
import { unauthenticated } from '../../platform/kernel/errors.ts'
import { bindRoutes } from './bind.ts'

const { app, onClose } = await testApp()
const streams: EventStream[] = []
const Devices = z.object({ rows: z.array(z.object({ name: z.string(), sessions: z.number() })) })
const specs = routes({
  devices: {
    method: 'GET',
    path: '/api/devices',
    tag: 'T',
    summary: 'A table',
    permission: 'public',
    query: z.strictObject(formatQuery),
    response: Devices,
    csv: csvTable('devices', Devices, ({ rows }) => rows, ['name', 'sessions']),
  },
  flood: { method: 'GET', path: '/api/flood', tag: 'T', summary: 'A stream', permission: 'public', stream: 'sse' },
  talk: {
    method: 'POST',
    path: '/api/talk',
    tag: 'T',
    summary: 'A stream for a body',
    permission: 'public',
    body: z.strictObject({ text: z.string() }),
    stream: 'sse',
  },
  late: { method: 'GET', path: '/api/late', tag: 'T', summary: 'A late one', permission: 'public', stream: 'sse' },
})
const unlimited = () => ({ headers: () => ({}), giveBack: () => {} })
const stopping = new AbortController()
const { promise: isLateAsked, resolve: lateAsked } = Promise.withResolvers<void>()
const { promise: leftEarly, resolve: leave } = Promise.withResolvers<void>()
const fastify = Fastify()
await fastify.register(cookie)
bindRoutes(
  fastify,
  specs,
  {
    devices: () => Promise.resolve({ rows: [{ name: '=A1', sessions: 2, secret: 'not declared' }] }),
    flood: (_app: unknown, _actor: unknown, call: { openStream(): EventStream }) => {
      streams.push(call.openStream())
      return Promise.resolve()
    },
    talk: (_app: unknown, _actor: unknown, call: { openStream(): EventStream }) => {
      streams.push(call.openStream())
      return Promise.resolve()
    },
    late: async (_app: unknown, _actor: unknown, call: { openStream(): EventStream }) => {
      lateAsked()
      await leftEarly
      streams.push(call.openStream())
    },
  },
  {
    app,
    authenticate: () => Promise.resolve(null),
    refuseUnauthenticated: () => {
      throw unauthenticated()
    },
    metrics: { authenticated: () => {} },
    callerOf: () => aCaller(),
    limits: { address: unlimited, key: unlimited },
    stopping: stopping.signal,
  },
)
const url = new URL(await fastify.listen({ port: 0, host: '127.0.0.1' }))
onClose(() => fastify.close())

test('a client that stops reading a stream is disconnected', async () => {
  const socket = connect(Number(url.port), url.hostname)
  await once(socket, 'connect')
  socket.pause()
  socket.write('GET /api/flood HTTP/1.1\r\nhost: x\r\n\r\n')
  const stream = await waitFor('the stream', () => streams.at(-1))
  const message = 'x'.repeat(64 * 1024)
  let sent = 0
  // The operating system buffers a few MiB per connection; the rest would be in our memory.
  while (!stream.signal.aborted && sent < 1_000) {
    stream.send('flood', message)
    sent++
  }
  expect(stream.signal.aborted).toBe(true)
  expect(sent).toBeLessThan(500)
  socket.destroy()
})

test('the same answer is JSON, or a CSV file that no browser shows as a page', async () => {
  const json = await fetch(new URL('/api/devices', url))
  expect(await json.json()).toEqual({ rows: [{ name: '=A1', sessions: 2 }] })
  const csv = await fetch(new URL('/api/devices?format=csv', url))
  expect(await csv.text()).toBe("name,sessions\r\n'=A1,2\r\n")
  expect(Object.fromEntries(csv.headers)).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="devices.csv"; filename*=UTF-8''devices.csv`,
    'x-content-type-options': 'nosniff',
  })
})

const talk = (signal?: AbortSignal) =>
  fetch(new URL('/api/talk', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"text":"hello"}',
    ...(signal === undefined ? {} : { signal }),
  })

test('the answer to a body is a stream, too, and its last data may be no JSON', async () => {
  const answer = await talk()
  const stream = streams.at(-1)
  expect(stream?.signal.aborted).toBe(false)
  stream?.send(null, { delta: 'a\nb' })
  stream?.end('[DONE]')
  stream?.end('[TWICE]')
  expect(await answer.text()).toBe(': open\n\ndata: {"delta":"a\\nb"}\n\ndata: [DONE]\n\n')
})

test('a stream for a body ends when its client leaves', async () => {
  const leaving = new AbortController()
  await talk(leaving.signal)
  const stream = streams.at(-1)
  leaving.abort()
  await waitFor('the stream to end', () => stream?.signal.aborted === true)
})

test('HEAD opens no stream', async () => {
  const before = streams.length
  expect((await fetch(new URL('/api/flood', url), { method: 'HEAD' })).status).toBe(404)
  expect(streams.length).toBe(before)
})

test('a stream whose client disconnected before it opened ends immediately', async () => {
  const before = streams.length
  const connection = once(fastify.server, 'connection')
  const socket = connect(Number(url.port), url.hostname)
  socket.write('GET /api/late HTTP/1.1\r\nhost: x\r\n\r\n')
  const [ours] = (await connection) as [Socket]
  await isLateAsked
  socket.destroy()
  await once(ours, 'close')
  leave()
  const stream = await waitFor('the stream', () => streams[before])
  expect(stream.signal.aborted).toBe(true)
})

test('a stream that opens while the service stops ends immediately and does not delay the stop', async () => {
  stopping.abort()
  const answer = await fetch(new URL('/api/flood', url), { signal: AbortSignal.timeout(5_000) })
  expect(await answer.text()).toBe(': open\n\n')
  expect(streams.at(-1)?.signal.aborted).toBe(true)
})
