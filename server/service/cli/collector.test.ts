import { setImmediate } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { collectWhenCalm } from './collector.ts'

afterEach(() => {
  vi.useRealTimers()
})

test('collects the heap when the thread did nothing for 20 seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const memory = collectWhenCalm()
  const garbage = new WeakRef({})
  // An object lives until the end of the turn in which its reference was made or asked.
  const isCollected = async (): Promise<boolean> => {
    await setImmediate()
    return garbage.deref() === undefined
  }
  await setImmediate()
  vi.advanceTimersByTime(19_000)
  memory.worked()
  vi.advanceTimersByTime(19_000)
  expect(await isCollected()).toBe(false)
  await setImmediate()
  vi.advanceTimersByTime(1_000)
  expect(await isCollected()).toBe(true)
})
