import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../kernel/ids.ts'
import { MAX_STREAMS, type OpenStream, registerStream } from './open-streams.ts'

const { app } = await testApp()
const ended: OpenStream[] = []

function opened(of: { holder?: string; orgId: string }, usedAtMs: number): OpenStream & { close(): void } {
  const stream: OpenStream = {
    holder: newId(),
    ...of,
    usedAtMs,
    end: () => {
      ended.push(stream)
      close()
    },
  }
  const close = registerStream(app, stream)
  return Object.assign(stream, { close })
}

test('the stream that was idle longest ends when its session or key, its organisation or the process has too many', () => {
  const orgId = newId()
  const holder = newId()
  const ofSession = Array.from({ length: MAX_STREAMS.session }, (_, n) => opened({ holder, orgId }, 1_000 - n))
  expect(ended).toEqual([])
  opened({ holder, orgId }, 2_000)
  expect(ended.splice(0)).toEqual([ofSession.at(-1)])

  // The organisation has as many as the session by now.
  const others = Array.from({ length: MAX_STREAMS.org - MAX_STREAMS.session }, (_, n) => opened({ orgId }, 3_000 + n))
  expect(ended).toEqual([])
  opened({ orgId }, 9_000)
  expect(ended.splice(0)).toEqual([ofSession.at(-2)])

  // One organisation with few, and many with some: the largest share gives.
  const small = newId()
  const smallOnes = [opened({ orgId: small }, 0), opened({ orgId: small }, 0)]
  for (let count = MAX_STREAMS.org + 2; count < MAX_STREAMS.all; count++)
    opened({ orgId: `org ${count % 12}` }, 5_000 + count)
  expect(ended).toEqual([])
  opened({ orgId: small }, 9_000)
  expect(ended).toHaveLength(1)
  expect(smallOnes).not.toContain(ended[0])
  expect(ended.splice(0)[0]?.orgId).toBe(orgId)

  // A stream that was closed takes no share.
  for (const one of others.slice(0, 50)) one.close()
  opened({ orgId: newId() }, 9_000)
  expect(ended).toEqual([])
})
