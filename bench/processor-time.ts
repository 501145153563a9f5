import { readdirSync, readFileSync } from 'node:fs'
import { treeOf } from './process-tree.ts'

/** Processor time so far of the parts of a service, in milliseconds; other programs hardly disturb it. */
export type ProcessorTime = Readonly<Record<Part, number>>

export const PARTS = ['main thread', 'digest thread', 'collector', 'other threads of node', 'database'] as const
type Part = (typeof PARTS)[number]

/** Threads by process and number, with the time that each had used when it was last seen. */
export type SeenThreads = Map<string, { readonly part: Part; readonly ms: number }>

/**
 * Reads the processor time of a service and its descendants. Linux only.
 * @param seen from earlier readings: threads and processes that ended since then count with what they had used. Without it
 *   they are left out, and a connection that is closed makes the sum smaller
 */
export function processorTimeOfTree(root: number, seen: SeenThreads = new Map()): ProcessorTime {
  for (const pid of treeOf(root)) {
    for (const thread of threadsOf(pid)) {
      const name = contentOf(`/proc/${pid}/task/${thread}/comm`).trim()
      // The first number is the time on a processor, in nanoseconds.
      const ms = Number(contentOf(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]) / 1e6
      if (ms > 0) seen.set(`${pid} ${thread}`, { part: partOf(name), ms })
    }
  }
  const sums: Record<Part, number> = {
    'main thread': 0,
    'digest thread': 0,
    collector: 0,
    'other threads of node': 0,
    database: 0,
  }
  for (const { part, ms } of seen.values()) sums[part] += ms
  return sums
}

function partOf(threadName: string): Part {
  if (threadName.startsWith('postgres')) return 'database'
  if (threadName === 'digest') return 'digest thread'
  // Garbage collection beside the threads of the program, and a little compiling.
  if (threadName === 'node-V8Worker') return 'collector'
  return threadName === 'node-MainThread' ? 'main thread' : 'other threads of node'
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
