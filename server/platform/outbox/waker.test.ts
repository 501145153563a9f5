import { getEventListeners } from 'node:events'
import { expect, test, vi } from 'vitest'
import { createWaker } from './waker.ts'

const LONG_MS = 60_000

test('a wait ends when woken, when its time is over and when its signal aborts', async () => {
  const waker = createWaker()
  const stopping = new AbortController()
  const woken = waker.wait(LONG_MS, stopping.signal)
  waker.wake()
  expect(await woken).toBe(true)
  waker.wake()
  expect(await waker.wait(LONG_MS, stopping.signal)).toBe(true)
  expect(await waker.wait(1, stopping.signal)).toBe(false)
  const stopped = waker.wait(LONG_MS, stopping.signal)
  stopping.abort()
  expect(await stopped).toBe(false)
  expect(await waker.wait(LONG_MS, stopping.signal)).toBe(false)
})

test('a wait leaves nothing with its signal', async () => {
  const combined = vi.spyOn(AbortSignal, 'any')
  const waker = createWaker()
  const { signal } = new AbortController()
  for (let wait = 0; wait < 20; wait++) await waker.wait(0.1, signal)
  expect(getEventListeners(signal, 'abort')).toEqual([])
  // Node 20 and 22 keep what was combined with a signal as long as the signal.
  expect(combined).not.toHaveBeenCalled()
})
