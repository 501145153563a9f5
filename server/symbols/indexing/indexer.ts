import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type IndexLimits, IndexReply, type IndexWork, needsMemory, overLimit } from './index-work.ts'

const LIMITS: IndexLimits = { heapMb: 512, memoryMb: 768 }
const MAX_MINUTES = 10

/** The process that builds indexes ended, and did not say why. */
export class IndexerEndedError extends Error {}

/**
 * Builds indexes in a process of its own, which runs from the first file until {@link Indexer.close}. A thread would not do:
 * where it needs too much memory at once, V8 ends the whole process.
 */
export class Indexer {
  readonly #limits: IndexLimits
  #process: ChildProcess | null = null

  constructor(limits = LIMITS) {
    this.#limits = limits
  }

  /** Starts the process, so that it is ready when the first file is. */
  start(): ChildProcess {
    // The channel of a process that was killed closes before its exit is reported.
    if (this.#process?.connected === true) return this.#process
    const child = startProcess(this.#limits)
    child.once('exit', () => {
      if (this.#process === child) this.#process = null
    })
    return (this.#process = child)
  }

  /**
   * @param signal ends the process
   * @throws IndexerEndedError, and the reason of the signal
   */
  async build(work: IndexWork, signal: AbortSignal): Promise<IndexReply> {
    signal.throwIfAborted()
    const child = this.start()
    const { promise, resolve, reject } = Promise.withResolvers<IndexReply>()
    const onMessage = (message: unknown): void => resolve(IndexReply.parse(message))
    const onExit = (code: number | null, by: NodeJS.Signals | null): void => {
      // As V8 ends a process that needs too much memory at once.
      if (by === 'SIGABRT' || by === 'SIGTRAP' || by === 'SIGILL' || code === 134)
        resolve(needsMemory(this.#limits.memoryMb))
      else reject(new IndexerEndedError(`the process that builds indexes ended: ${by ?? code}`))
    }
    const onSent = (error: Error | null): void => {
      if (error !== null) reject(new IndexerEndedError(`the process that builds indexes ended: ${error.message}`))
    }
    const onAbort = (): void => reject(signal.reason as Error)
    const timer = setTimeout(
      () => resolve(overLimit(`Indexing took longer than ${MAX_MINUTES} minutes.`)),
      MAX_MINUTES * 60_000,
    )
    child.on('message', onMessage).on('exit', onExit).on('error', reject)
    signal.addEventListener('abort', onAbort)
    try {
      child.send(work, onSent)
      const reply = await promise
      if ('fault' in reply || ('problem' in reply && reply.isLast === true)) this.close()
      return reply
    } catch (error) {
      this.close()
      throw error
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      child.off('message', onMessage).off('exit', onExit).off('error', reject)
    }
  }

  close(): void {
    this.#process?.kill('SIGKILL')
    this.#process = null
  }
}

function startProcess(limits: IndexLimits): ChildProcess {
  const child = fork(fileURLToPath(new URL('./index-process.ts', import.meta.url)), [JSON.stringify(limits)], {
    // It needs neither the settings nor the secrets of the service.
    env: {},
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  // Errors of a process that is no longer needed.
  return child.on('error', () => {})
}
