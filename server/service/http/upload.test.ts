import { once } from 'node:events'
import { connect } from 'node:net'
import cookie from '@fastify/cookie'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { aCaller } from '#test/kit/members.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { Upload } from '../../platform/context/handlers.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { unauthenticated } from '../../platform/kernel/errors.ts'
import { bindRoutes, MAX_UPLOADS_PER_OWNER } from './bind.ts'
import { errorAnswer } from './errors.ts'

const { app, onClose } = await testApp()
const MAX_BYTES = 200_000
const specs = routes({
  take: {
    method: 'POST',
    path: '/api/files',
    tag: 'T',
    summary: 'Takes a file',
    permission: 'public',
    upload: { maxBytes: MAX_BYTES },
    response: z.object({ bytes: z.number(), type: z.string().nullable() }),
  },
})
let calls = 0
let owner = aCaller().origin.ip
const failures: unknown[] = []
const fastify = Fastify()
await fastify.register(cookie)
fastify.setErrorHandler((error, _request, reply) => {
  const { status, body } = errorAnswer(error)
  return reply.code(status).send(body)
})
const unlimited = () => ({ headers: () => ({}), giveBack: () => {} })
bindRoutes(
  fastify,
  specs,
  {
    take: async (_app: unknown, _actor: unknown, call: { upload(): Upload }) => {
      calls++
      const { content, contentType } = call.upload()
      let bytes = 0
      try {
        for await (const part of content) bytes += part.length
      } catch (error) {
        failures.push(error)
        throw error
      }
      return { bytes, type: contentType }
    },
  },
  {
    app,
    authenticate: () => Promise.resolve(null),
    refuseUnauthenticated: () => {
      throw unauthenticated()
    },
    metrics: { authenticated: () => {} },
    callerOf: () => aCaller({ ip: owner }),
    limits: { address: unlimited, key: unlimited },
    stopping: new AbortController().signal,
  },
)
const url = new URL('/api/files', await fastify.listen({ port: 0, host: '127.0.0.1' }))
onClose(() => fastify.close())

async function send(body: Buffer | ReadableStream, headers: Record<string, string> = {}) {
  const answer = await fetch(url, { method: 'POST', body, headers, duplex: 'half' })
  return [answer.status, await answer.json()]
}

const inParts = (bytes: number): ReadableStream => {
  let left = bytes
  return new ReadableStream({
    pull(controller) {
      const size = Math.min(left, 10_000)
      left -= size
      if (size === 0) controller.close()
      else controller.enqueue(new Uint8Array(size))
    },
  })
}

test('a file of any type arrives up to the maximum size, and unchanged', async () => {
  expect(await send(Buffer.alloc(MAX_BYTES))).toEqual([200, { bytes: MAX_BYTES, type: null }])
  expect(await send(inParts(MAX_BYTES))).toEqual([200, { bytes: MAX_BYTES, type: null }])
  const json = Buffer.from('{ not parsed')
  expect(await send(json, { 'content-type': 'application/json' })).toEqual([
    200,
    { bytes: json.length, type: 'application/json' },
  ])
  expect(await send(Buffer.alloc(0))).toEqual([200, { bytes: 0, type: null }])
})

test('a larger file is refused by its announced length before, and otherwise while it is read', async () => {
  const refusal = [413, { error: 'A file may have at most 200,000 bytes.' }]
  const before = calls
  expect(await send(Buffer.alloc(MAX_BYTES + 1))).toEqual(refusal)
  expect(calls).toBe(before)
  expect(await send(inParts(MAX_BYTES + 1))).toEqual(refusal)
  expect(calls).toBe(before + 1)
})

test('an encoded file is refused, because it would be stored encoded', async () => {
  expect(await send(Buffer.alloc(1), { 'content-encoding': 'gzip' })).toEqual([
    400,
    { error: 'Send the file without a Content-Encoding.' },
  ])
})

test('a client that breaks off ends the reading with an error', async () => {
  const [before, earlier] = [failures.length, calls]
  const socket = connect(Number(url.port), url.hostname)
  await once(socket, 'connect')
  socket.write(`POST /api/files HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\nsome bytes`)
  await waitFor('the handler', () => calls > earlier)
  socket.destroy()
  const failure = await waitFor('the failure', () => failures[before])
  expect(failure).toMatchObject({ code: 'invalid', message: 'The file did not arrive completely.' })
})

test('one owner has a share of all uploads', async () => {
  // Without an announced length, or with a long one, a body needs a place.
  const sendUnannounced = async (): Promise<unknown> => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(1))
        controller.close()
      },
    })
    const answer = await fetch(new URL('/api/files', url), { method: 'POST', body, duplex: 'half' })
    return [answer.status, await answer.json()]
  }
  const earlier = calls
  const sockets = await Promise.all(
    Array.from({ length: MAX_UPLOADS_PER_OWNER }, async () => {
      const socket = connect(Number(url.port), url.hostname)
      await once(socket, 'connect')
      socket.write(`POST /api/files HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\na\r\nsome bytes\r\n`)
      return socket
    }),
  )
  await waitFor('the handlers', () => calls === earlier + MAX_UPLOADS_PER_OWNER)
  const full = [503, { error: 'Too many uploads at once. Try again in a few seconds.' }]
  expect(await sendUnannounced()).toEqual(full)
  expect(await send(Buffer.alloc(1))).toEqual([200, { bytes: 1, type: null }])
  owner = '192.0.2.11'
  expect(await sendUnannounced()).toEqual([200, { bytes: 1, type: null }])
  owner = aCaller().origin.ip
  for (const socket of sockets) socket.destroy()
  await waitFor('room', async () => JSON.stringify(await sendUnannounced()).startsWith('[200'))
})
