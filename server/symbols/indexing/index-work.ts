import { z } from 'zod'
import { SYMBOL_KINDS } from '../files/symbol-kinds.api.ts'

/** The bounds of the process that builds indexes. */
export const IndexLimits = z.object({
  /** Heap of its thread; buffers of an index are beside it. */
  heapMb: z.number(),
  /** Resident memory of the process. */
  memoryMb: z.number(),
})
export type IndexLimits = z.infer<typeof IndexLimits>

/** A request of the service to the process. */
export const IndexWork = z.object({
  path: z.string(),
  kind: z.enum(SYMBOL_KINDS),
  /** The place of the object in a file with several. */
  object: z.number(),
  /** Processor time that the file may take. */
  cpuSeconds: z.number(),
})
export type IndexWork = z.infer<typeof IndexWork>

/** Its answer: the index, why the file cannot be used (`isLast` when the process ends with it), or an error of the reader. */
export const IndexReply = z.union([
  z.object({ packed: z.object({ path: z.string(), lengths: z.array(z.number()).readonly() }) }),
  z.object({ problem: z.string(), isLast: z.literal(true).optional() }),
  z.object({ fault: z.string() }),
])
export type IndexReply = z.infer<typeof IndexReply>

/** The answer at a limit, after which the process ends. */
export const overLimit = (problem: string): IndexReply => ({ problem, isLast: true })
export const needsMemory = (mb: number): IndexReply => overLimit(`Indexing needs more than ${mb} MiB of memory.`)
