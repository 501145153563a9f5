import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { processorTimeOfTree, type SeenThreads } from './processor-time.ts'

const sumOf = (time: ReturnType<typeof processorTimeOfTree>): number =>
  Object.values(time).reduce((sum, ms) => sum + ms, 0)

test('a process that ended counts with what it had used', async () => {
  const child = spawn(process.execPath, ['-e', 'console.log("up"); setInterval(() => {}, 1_000)'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await once(child.stdout, 'data')
  const root = child.pid ?? 0
  const seen: SeenThreads = new Map()
  const before = sumOf(processorTimeOfTree(root, seen))
  expect(before).toBeGreaterThan(0)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(sumOf(processorTimeOfTree(root, seen))).toBeGreaterThanOrEqual(before)
  expect(sumOf(processorTimeOfTree(root))).toBe(0)
})
