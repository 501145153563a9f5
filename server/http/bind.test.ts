import { once } from 'node:events'
import { connect } from 'node:net'
import cookie from '@fastify/cookie'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { anOrigin } from '#test/kit/people.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { EventStream } from '../context/handlers.ts'
import { routes } from '../kernel/contract.ts'
import { unauthenticated } from '../kernel/errors.ts'
import { bindRoutes } from './bind.ts'

const { app, onClose } = await testApp()
const streams: EventStream[] = []
const specs = routes({
  flood: { method: 'GET', path: '/api/flood', tag: 'T', summary: 'A stream', permission: 'public', stream: 'sse' },
})
const fastify = Fastify()
await fastify.register(cookie)
bindRoutes(
  fastify,
  specs,
  {
    flood: (_app: unknown, _actor: unknown, call: { openStream(): EventStream }) => {
      streams.push(call.openStream())
      return Promise.resolve()
    },
  },
  {
    app,
    authenticate: () => Promise.resolve(null),
    refuseNobody: () => {
      throw unauthenticated()
    },
    originOf: () => anOrigin(),
    admit: () => {},
    stopping: new AbortController().signal,
  },
)
const url = new URL(await fastify.listen({ port: 0, host: '127.0.0.1' }))
onClose(() => fastify.close())

test('a client that stops reading a stream is hung up on instead of being written to for ever', async () => {
  const socket = connect(Number(url.port), url.hostname)
  await once(socket, 'connect')
  socket.pause()
  socket.write('GET /api/flood HTTP/1.1\r\nhost: x\r\n\r\n')
  const stream = await waitFor('the stream', () => streams.at(-1))
  const message = 'x'.repeat(64 * 1024)
  let sent = 0
  // What the operating system holds for a connection is some MiB; the rest would be ours.
  while (!stream.signal.aborted && sent < 1_000) {
    stream.send('flood', message)
    sent++
  }
  expect(stream.signal.aborted).toBe(true)
  expect(sent).toBeLessThan(500)
  socket.destroy()
})

test('HEAD opens no stream', async () => {
  const before = streams.length
  expect((await fetch(new URL('/api/flood', url), { method: 'HEAD' })).status).toBe(404)
  expect(streams.length).toBe(before)
})
