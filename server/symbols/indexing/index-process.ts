import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import { IndexLimits, type IndexReply, IndexWork, needsMemory, overLimit } from './index-work.ts'

/**
 * Body of the process that builds indexes. It watches the thread that does, and ends with it at the limits of memory and
 * time, and with the service.
 */

const NICENESS = 10
const LOOK_MS = 100
/** Most objects and buffers of a reader are used once. A small young generation lets them go before many have gathered. */
const YOUNG_MB = 24

const { heapMb, memoryMb } = IndexLimits.parse(JSON.parse(process.argv[2] ?? ''))

setPriority(NICENESS)
try {
  // Where the machine has no memory left, this process ends before the service or its database.
  writeFileSync('/proc/self/oom_score_adj', '1000')
} catch {
  // Not on Linux.
}

const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
/** The thread may be in the middle of anything. */
const end = (): void => void process.kill(process.pid, 'SIGKILL')
const answer = (reply: IndexReply): void => void process.send?.(reply)
const answerLast = (reply: IndexReply): void => void process.send?.(reply, undefined, undefined, end)

let allowedSeconds = 0
let endsAtSeconds = Infinity
const thread = new Worker(new URL('./index-thread.ts', import.meta.url), {
  resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB },
})
thread.on('message', (reply: IndexReply) => {
  endsAtSeconds = Infinity
  answer(reply)
})
thread.on('error', (error: Error) => {
  const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  answerLast(isMemory ? needsMemory(heapMb) : { fault: error.stack ?? error.message })
})
process.on('message', (message: unknown) => {
  const work = IndexWork.parse(message)
  allowedSeconds = work.cpuSeconds
  endsAtSeconds = cpuSeconds() + allowedSeconds
  thread.postMessage(work)
})
process.on('disconnect', end)
setInterval(() => {
  if (process.memoryUsage.rss() > memoryMb * 1024 ** 2) answerLast(needsMemory(memoryMb))
  else if (cpuSeconds() > endsAtSeconds)
    answerLast(overLimit(`Indexing takes more than ${allowedSeconds} s of processor time.`))
}, LOOK_MS)
