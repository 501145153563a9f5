import { expect, test } from 'vitest'
import { aPerson } from '#test/kit/members.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { createKey } from '../../identity/api-keys/create-key.ts'

// Its clock stands still: what expires soon does not expire before its stream is open.
const { app, url } = await testServer()

type Stream = { readonly close: () => void; isEnded: boolean }

async function openStream(headers: Record<string, string>): Promise<Stream> {
  const leaving = new AbortController()
  const response = await fetch(`${url}/api/live`, { headers, signal: leaving.signal })
  expect(response.status).toBe(200)
  const stream: Stream = { close: () => leaving.abort(), isEnded: false }
  void response
    .text()
    .catch(() => undefined)
    .finally(() => (stream.isEnded = true))
  return stream
}

const soon = () => new Date(app.clock.now().getTime() + 200)

async function sessionUntil(change: { expires_at: Date } | { idle_expires_at: Date }): Promise<Stream> {
  const { actor, cookie } = await aPerson(app)
  await app.db.updateTable('sessions').set(change).where('id', '=', actor.sessionId).execute()
  return openStream({ cookie })
}

async function keyUntil(expiresAt: Date | null): Promise<Stream> {
  const { actor } = await aPerson(app)
  const input = { name: 'CI', scopes: ['projects:read'], expires_at: expiresAt?.toISOString() ?? null }
  const { key } = await createKey(app, actor, input)
  return openStream({ authorization: `Bearer ${key}` })
}

test('a stream ends when its API key or session expires', async () => {
  const ending = [
    await keyUntil(soon()),
    await sessionUntil({ expires_at: soon() }),
    await sessionUntil({ idle_expires_at: soon() }),
  ]
  const year = new Date(app.clock.now().getTime() + 365 * 86_400_000)
  const lasting = [
    await keyUntil(null),
    await keyUntil(year),
    await openStream({ cookie: (await aPerson(app)).cookie }),
  ]
  await waitFor('the streams to end', () => ending.every(({ isEnded }) => isEnded))
  expect(lasting.map(({ isEnded }) => isEnded)).toEqual([false, false, false])
  for (const stream of lasting) stream.close()
})
