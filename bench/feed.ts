import { setTimeout as delay } from 'node:timers/promises'
import { target } from './intake.ts'
import { type LoadResult, runLoad } from './load.ts'
import { type BenchEvent, type Coding, makeEvents, STANDARD_SHAPE } from './payloads.ts'
import { memoryOfTree } from './process-tree.ts'
import { PARTS, processorTimeOfTree, type ProcessorTime, type SeenThreads } from './processor-time.ts'
import type { Service } from './service.ts'
import { type BenchProject, readMetric } from './setup-project.ts'

/** Events kept waiting for digestion, so that it is never idle and never far behind. */
export const BACKLOG_ENTRIES = 4_000
export const SAMPLE_MS = 500

export type Sample = {
  readonly atMs: number
  readonly drained: number
  readonly backlog: number
  readonly processor: ProcessorTime
  /** Processor time of this process, which generates the load. */
  readonly ownProcessorMs: number
}

/** Proportional set size, MiB. */
export type Memory = { readonly service: number; readonly database: number }

export type Fed = {
  readonly load: LoadResult
  readonly samples: readonly Sample[]
  /** Where the sum was largest, read every 2.5 s. */
  readonly memory: Memory
}

export type Feed = {
  readonly events: readonly BenchEvent[]
  readonly coding?: Coding
  readonly isFixed?: boolean
  /** Stops after so many requests. */
  readonly maxRequests?: number
}

/** The generated events of a size. @param issues many need no variants to make many distinct bodies */
export const eventsOfSize = (sizeBytes: number, issues: number, coding: Coding = 'gzip'): BenchEvent[] =>
  makeEvents({ ...STANDARD_SHAPE, sizeBytes, issues, variantsPerIssue: issues > 2_000 ? 1 : 4 }, coding)

/** Sends as much as is digested, so that some events always wait. */
export async function feedAndWatch(
  service: Service,
  project: BenchProject,
  payload: Feed,
  durationMs: number,
): Promise<Fed> {
  const samples: Sample[] = []
  let rate = 3_000
  let memory: Memory = { service: 0, database: 0 }
  const seen: SeenThreads = new Map()
  let over = false
  const readMemory = (): void => {
    const now = { service: 0, database: 0 }
    for (const { command, pssMiB } of memoryOfTree(service.pid))
      now[command.includes('postgres') ? 'database' : 'service'] += pssMiB
    if (wholeMiB(now) > wholeMiB(memory)) memory = now
  }
  const watching = (async () => {
    while (!over) {
      const [drained, backlog] = await Promise.all([
        readMetric(service.url, 'faultline_digest_events_total'),
        readMetric(service.url, 'faultline_spool_backlog_entries'),
      ])
      samples.push({
        atMs: performance.now(),
        drained,
        backlog,
        processor: processorTimeOfTree(service.pid, seen),
        ownProcessorMs: ownProcessorMs(),
      })
      const before = samples.at(-6) ?? samples[0]
      const last = samples.at(-1)
      if (before !== undefined && last !== undefined && last.atMs > before.atMs) {
        const drainedPerMs = (last.drained - before.drained) / (last.atMs - before.atMs)
        // The rate of digestion, corrected until the backlog has its planned size.
        rate = Math.max(200, drainedPerMs * 1000 + (BACKLOG_ENTRIES - backlog) / 2)
      }
      if (samples.length % 5 === 0) readMemory()
      await delay(SAMPLE_MS)
    }
  })()
  const load = await runLoad({
    ...target(service.url, project),
    ...payload,
    connections: 64,
    ratePerSecond: () => rate,
    durationMs,
  })
  readMemory()
  over = true
  await watching
  return { load, samples, memory }
}

export const wholeMiB = ({ service, database }: Memory): number => service + database

export function drainedPerSecond({ samples }: Fed): number {
  const [first] = samples
  const last = samples.at(-1)
  if (first === undefined || last === undefined) throw new Error('nothing was measured')
  return ((last.drained - first.drained) / (last.atMs - first.atMs)) * 1000
}

/** Processor time of service and database. */
export const serviceMs = ({ processor }: Sample): number => PARTS.reduce((sum, part) => sum + processor[part], 0)

/** Microseconds of processor time per drained event. */
export function processorPerEvent({ samples }: Fed, ms: (sample: Sample) => number): number {
  const [first] = samples
  const last = samples.at(-1)
  if (first === undefined || last === undefined) throw new Error('nothing was measured')
  return ((ms(last) - ms(first)) * 1000) / (last.drained - first.drained)
}

function ownProcessorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Waits until everything accepted is stored, by the counters of /-/metrics. */
export async function waitUntilDrained(service: Service): Promise<void> {
  const deadline = performance.now() + 120_000
  while ((await readMetric(service.url, 'faultline_spool_backlog_entries')) > 0) {
    if (performance.now() > deadline) throw new Error('the spool was not empty two minutes after the load ended')
    await delay(100)
  }
  // The digest thread reports its sums shortly after its commit.
  await delay(1_500)
}
