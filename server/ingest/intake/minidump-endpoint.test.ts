import { ServerResponse, IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { rateLimited, tooLarge } from '../../platform/kernel/errors.ts'
import { minidumpEndpoint } from './minidump-endpoint.ts'

test('a crash handler never gets 429: it would retry for ever without a pause', () => {
  const head = {
    method: 'POST',
    params: {},
    query: '',
    headers: {},
    mediaType: '',
    encoding: 'none',
    receivedAt: new Date(),
  } as const
  const socket = new Socket()
  const answer = () => new ServerResponse(new IncomingMessage(socket))
  expect(minidumpEndpoint.refused?.(answer(), head, rateLimited('Too much at once.', 5))).toBe(503)
  expect(minidumpEndpoint.refused?.(answer(), head, tooLarge('Too large.'))).toBe(413)
  socket.destroy()
})
