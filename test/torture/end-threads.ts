import { subscribe } from 'node:diagnostics_channel'
import { isMainThread, Worker } from 'node:worker_threads'

/** Loaded before the service by kill-fold.ts: SIGUSR2 ends one of its digest threads in the middle of its work. */

/** Printed for each. */
export const THREAD_ENDS = 'a digest thread is ended\n'

if (isMainThread && process.argv.includes('serve')) {
  const running: Worker[] = []
  subscribe('worker_threads', (message) => {
    const worker = typeof message === 'object' && message !== null && 'worker' in message ? message.worker : null
    if (!(worker instanceof Worker)) return
    running.push(worker)
    worker.once('exit', () => running.splice(running.indexOf(worker), 1))
  })
  process.on('SIGUSR2', () => {
    // The one that has run for the longest time, so that each has its turn.
    const victim = running.find(({ threadName }) => threadName === 'digest')
    if (victim === undefined) return
    process.stdout.write(THREAD_ENDS)
    void victim.terminate()
  })
}
