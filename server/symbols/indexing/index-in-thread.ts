import { Worker } from 'node:worker_threads'
import type { BuiltIndex } from '../index-file/built-index.ts'
import type { SymbolKind } from '../files/symbol-kinds.api.ts'

/** Heap of the thread; buffers of an index are beside it. */
const HEAP_MB = 512
const MAX_MINUTES = 10

export type Indexed = { readonly index: BuiltIndex } | { readonly problem: string }

type Reply = { readonly index: { directory: Uint8Array; parts: readonly Uint8Array[] } } | { readonly problem: string }

/**
 * Builds the index of a file in a thread of its own, with bounds of memory and time.
 * @param signal ends the thread
 * @throws what the thread throws unexpectedly, and the reason of the signal
 */
export async function indexInThread(
  path: string,
  kind: SymbolKind,
  object: number,
  signal: AbortSignal,
): Promise<Indexed> {
  signal.throwIfAborted()
  const thread = new Worker(new URL('./index-thread.ts', import.meta.url), {
    workerData: { path, kind, object },
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  })
  thread.unref()
  let timer: NodeJS.Timeout | undefined
  const { promise, resolve, reject } = Promise.withResolvers<Indexed>()
  const abort = (): void => reject(signal.reason as Error)
  signal.addEventListener('abort', abort)
  try {
    timer = setTimeout(
      () => resolve({ problem: `Indexing took longer than ${MAX_MINUTES} minutes.` }),
      MAX_MINUTES * 60_000,
    )
    thread.once('message', (reply: Reply) => resolve('problem' in reply ? reply : { index: asBuffers(reply.index) }))
    thread.once('error', (error: Error) => {
      if ('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
        resolve({ problem: `Indexing needs more than ${HEAP_MB} MiB of memory.` })
      else reject(error)
    })
    thread.once('exit', () => reject(new Error('the thread ended unexpectedly')))
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    await thread.terminate()
  }
}

/** Buffers arrive as plain arrays of bytes. */
const asBuffers = ({ directory, parts }: { directory: Uint8Array; parts: readonly Uint8Array[] }): BuiltIndex => ({
  directory: bufferOn(directory),
  parts: parts.map(bufferOn),
})

const bufferOn = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
