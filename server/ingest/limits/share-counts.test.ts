import { expect, test } from 'vitest'
import { secondApp } from '#test/kit/second-app.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { App } from '../../platform/context/app.ts'
import { publish } from '../../platform/storage/bus.ts'
import { createRateLimiter, type RateLimiter, createCountSharing, type CountSharing } from './rate-limiter.ts'

const t = await testApp()
const second = await secondApp(t)

/** The rate limits of one ingest process. */
function process_(app: App): { limiter: RateLimiter; sharing: CountSharing; received: () => number } {
  let received = 0
  const limiter: RateLimiter = createRateLimiter({
    scale: 1,
    loopbackExempt: false,
    nowMs: () => app.clock.monotonicMs(),
    onTaken: (name, quantity, perBurst) => sharing.share(name, quantity, perBurst),
  })
  const sharing = createCountSharing(app, (name, quantity) => {
    received += quantity
    limiter.addForeign(name, quantity)
  })
  return { limiter, sharing, received: () => received }
}

const taken = (limiter: RateLimiter, count: number): number =>
  Array.from({ length: count }, () => limiter.takeItem('key', 'error')).filter((wait) => wait === 0).length

test('two processes share one limit and exceed it only a little', async () => {
  const [one, other] = [process_(t.app), process_(second)]
  try {
    await waitFor('both to know each other', () => one.sharing.peers() === 1 && other.sharing.peers() === 1)
    // 1,000 in ten seconds are allowed; each process takes 2,000, fifty at a time, and receives the other's counts in
    // between.
    let throughOne = 0
    let throughOther = 0
    for (let round = 0; round < 40; round++) {
      throughOne += taken(one.limiter, 50)
      throughOther += taken(other.limiter, 50)
      await waitFor(
        'each to receive the counts of the other',
        () => one.received() === throughOther && other.received() === throughOne,
      )
    }
    const through = throughOne + throughOther
    expect(through).toBeGreaterThanOrEqual(1_000)
    expect(through).toBeLessThanOrEqual(1_100)
    // Usage below the immediate share is sent within a second.
    one.limiter.takeItem('other key', 'error')
    const before = other.received()
    await waitFor('the rest', () => other.received() > before)
  } finally {
    await one.sharing.close()
    await waitFor('the goodbye', () => other.sharing.peers() === 0)
    await other.sharing.close()
  }
})

test('a single process sends and keeps no counts', async () => {
  const heard: string[] = []
  const stop = second.bus.on('rates', (payload) => void heard.push(JSON.stringify(payload)))
  const { limiter, sharing } = process_(t.app)
  try {
    await waitFor('the greeting', () => heard.some((text) => text.includes('hello')))
    expect(taken(limiter, 1_500)).toBe(1_000)
    await publish(t.app.db, 'rates', { from: 'the last', kind: 'bye' })
    await waitFor('a later message', () => heard.some((text) => text.includes('the last')))
    expect(heard.filter((text) => text.includes('counts'))).toEqual([])
    expect(sharing.peers()).toBe(0)
  } finally {
    stop()
    await sharing.close()
  }
})

test('malformed messages change nothing', async () => {
  const { limiter, sharing, received } = process_(t.app)
  let heard = 0
  const stop = second.bus.on('rates', () => heard++)
  try {
    const nonsense = [
      null,
      [],
      'x',
      { from: 1, kind: 'counts' },
      { from: 'x', kind: 'shout' },
      { from: 'x', kind: 'counts', counts: [['key/error', -5]] },
      { from: 'x', kind: 'counts', counts: [['key/error', 1e300]] },
      { from: 'x', kind: 'counts', counts: [['k'.repeat(1_000), 1]] },
    ]
    for (const payload of nonsense) await publish(t.app.db, 'rates', payload)
    await waitFor('all of it', () => heard >= nonsense.length)
    expect(received()).toBe(0)
    expect(sharing.peers()).toBe(0)
    expect(taken(limiter, 1_500)).toBe(1_000)
  } finally {
    stop()
    await sharing.close()
  }
})
