import { Worker } from 'node:worker_threads'

export type FileSync = {
  /** Resolves when everything that was written to the file before is on disk. @throws Error of the disk, or of the thread */
  sync(file: number): Promise<void>
  close(): Promise<void>
}

type Waiting = { readonly resolve: () => void; readonly reject: (error: Error) => void }

/**
 * Syncs files one after the other in a thread of its own: the four threads that Node has for files may all compute hashes of
 * passwords, resolve names or compress, and an answer to an SDK must not wait for them. It starts with the first sync.
 */
export function startFileSync(): FileSync {
  let thread: Worker | null = null
  const waiting: Waiting[] = []

  const start = (): Worker => {
    const next = new Worker(new URL('./sync-thread.ts', import.meta.url), {
      name: 'spool sync',
      resourceLimits: { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16 },
    })
    next.unref()
    const fail = (error: Error): void => {
      if (thread !== next) return
      thread = null
      for (const { reject } of waiting.splice(0)) reject(error)
    }
    next.on('message', (problem: string | null) => {
      // An answer of an ended thread belongs to none of those that wait now.
      if (thread !== next) return
      const first = waiting.shift()
      if (problem === null) first?.resolve()
      else first?.reject(new Error(problem))
    })
    next.once('error', (error: Error) => fail(error))
    next.once('exit', () => fail(new Error('the thread ended unexpectedly')))
    return next
  }
  return {
    sync: (file) =>
      new Promise((resolve, reject) => {
        // Perhaps no thread can be made: then nothing waits.
        const to = (thread ??= start())
        waiting.push({ resolve, reject })
        to.postMessage(file)
      }),
    async close() {
      const ended = thread
      thread = null
      for (const { reject } of waiting.splice(0)) reject(new Error('the file is closed'))
      await ended?.terminate()
    },
  }
}
