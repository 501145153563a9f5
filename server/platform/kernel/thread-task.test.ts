import { describe, expect, test, vi } from 'vitest'
import { watchLoop } from '#test/kit/loop-watch.ts'
import { waitFor } from '#test/kit/wait.ts'
import { unavailable } from './errors.ts'
import { type Ask, inThread, threadCpuMs, eachWithPauses } from './thread-task.ts'

type Request = 'name' | 'refuse' | 'fail' | 'never'
const FILE = new URL('./endless-thread.fixture.ts', import.meta.url)
const limits = (cpuLimitMs: number) => ({ cpuLimitMs, onLimit: () => unavailable('too long.') })

const run = <T>(orgId: string, work: (ask: Ask<Request, string>) => Promise<T>, cpuLimitMs = 60_000): Promise<T> =>
  inThread(orgId, FILE, limits(cpuLimitMs), work)

test('a thread answers, and ends with the work', async () => {
  expect(await run('a', async (ask) => [await ask('name'), await ask('name')])).toEqual(['answer 0', 'answer 0'])
})

test('work that never comes back ends at its limit, without holding up this thread', async () => {
  const loop = watchLoop()
  await expect(run('a', (ask) => ask('never'), 1_000)).rejects.toMatchObject({
    code: 'unavailable',
    message: 'too long.',
  })
  expect(loop.longestHoldMs()).toBeLessThan(200)
  loop.stop()
  // Its turn is free again.
  expect(await run('a', (ask) => ask('name'))).toBe('answer 0')
})

test('a refusal reaches the caller as it is, a fault as an error', async () => {
  await expect(run('a', (ask) => ask('refuse'))).rejects.toMatchObject({ code: 'invalid', message: 'no.' })
  await expect(run('a', (ask) => ask('fail'))).rejects.toThrow('a fault')
})

describe('turns', () => {
  test('an organisation has one thread, two that wait, and takes no turn of another', async () => {
    const gate = Promise.withResolvers<void>()
    const started: string[] = []
    const start = (orgId: string, name: string) =>
      run(orgId, async (ask) => {
        started.push(name)
        await ask('name')
        await gate.promise
        return name
      })
    const first = start('a', 'a1')
    const second = start('a', 'a2')
    const third = start('a', 'a3')
    await expect(start('a', 'a4')).rejects.toMatchObject({ code: 'rate_limited' })
    const other = start('b', 'b1')
    await waitFor('the other organisation', () => started.includes('b1'))
    expect(started).toEqual(['a1', 'b1'])
    gate.resolve()
    expect(await Promise.all([first, second, third, other])).toEqual(['a1', 'a2', 'a3', 'b1'])
  })
})

test('other work of the thread runs while a long loop does', async () => {
  let others = 0
  const count = (): void => {
    others++
    immediate = setImmediate(count)
  }
  let immediate = setImmediate(count)
  const seen: number[] = []
  await eachWithPauses([1, 2, 3, 4], (item) => {
    seen.push(item)
    const untilMs = threadCpuMs() + 10
    while (threadCpuMs() < untilMs);
  })
  clearImmediate(immediate)
  expect(seen).toEqual([1, 2, 3, 4])
  expect(others).toBeGreaterThanOrEqual(3)
})

test('a short loop does not wait', async () => {
  vi.spyOn(performance, 'now').mockReturnValue(0)
  let others = 0
  const immediate = setImmediate(() => others++)
  const seen: number[] = []
  await eachWithPauses([1, 2, 3], (item) => seen.push(item))
  clearImmediate(immediate)
  expect([seen, others]).toEqual([[1, 2, 3], 0])
})
