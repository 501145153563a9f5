import { Worker } from 'node:worker_threads'
import { SHARD_NUMBERS, threadOfShard } from '../../ingest/spool/entry.ts'
import type { ThreadHandOver } from '../../ingest/spool/hand-over.ts'
import type { App } from '../../platform/context/app.ts'
import { withinGrace } from '../../platform/kernel/abortable.ts'
import type { DigestThreadCommand, DigestThreadData, DigestThreadReport } from './digest-thread.ts'

type DigestSupervisor = {
  /** Sums since the service started, over all threads. */
  figures(): DigestThreadReport
  /** Waits at most `graceMs` for each thread to finish its batch. What is not digested stays in the spool. */
  stop(graceMs: number): Promise<void>
}

const NOTHING: DigestThreadReport = { entries: 0, events: 0, duplicates: 0, quarantined: 0, batches: 0 }
const MIN_PAUSE_MS = 200
const MAX_PAUSE_MS = 5_000
/** After a thread ran this long, the next failure starts with the shortest pause again. */
const HEALTHY_MS = 30_000
const HEAP_MB = 512

/**
 * Runs the digest threads, each with shards of its own, and restarts one that ends unexpectedly. What it had not recorded
 * is still in the spool.
 * @param handOvers where the intake of this process hands over what it wrote, one for each thread; null when there is no intake
 */
export function superviseDigestion(
  app: App,
  connectionString: string,
  handOvers: readonly ThreadHandOver[] | null = null,
): DigestSupervisor {
  const { digestThreads } = app.config
  const threads = Array.from({ length: digestThreads }, (_, index) => {
    const shards = SHARD_NUMBERS.filter((shard) => threadOfShard(shard, digestThreads) === index)
    return superviseThread(app, connectionString, shards, handOvers?.[index] ?? null)
  })
  return {
    figures: () => threads.map((thread) => thread.figures()).reduce(sum, NOTHING),
    stop: async (graceMs) => void (await Promise.all(threads.map((thread) => thread.stop(graceMs)))),
  }
}

function superviseThread(
  app: App,
  connectionString: string,
  shards: readonly number[],
  handOver: ThreadHandOver | null,
): DigestSupervisor {
  let stopped = false
  let worker: Worker | null = null
  let past = NOTHING
  let current = NOTHING
  let pauseMs = MIN_PAUSE_MS
  let restart: NodeJS.Timeout | undefined

  const start = (): void => {
    const startedAtMs = app.clock.monotonicMs()
    const handedOver = handOver?.connect() ?? null
    const next = new Worker(new URL('./digest-thread.ts', import.meta.url), {
      name: 'digest',
      workerData: { config: app.config, connectionString, shards, handedOver } satisfies DigestThreadData,
      transferList: handedOver === null ? [] : [handedOver.port],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    })
    worker = next
    next.on('message', (report: DigestThreadReport) => {
      current = report
    })
    next.on('error', (error) => {
      // The next start recovers from a failure while stopping.
      if (!stopped) app.log.error({ err: error }, 'the digest thread failed')
    })
    next.once('exit', (code) => {
      past = sum(past, current)
      current = NOTHING
      worker = null
      handOver?.disconnect()
      if (stopped) return
      if (app.clock.monotonicMs() - startedAtMs > HEALTHY_MS) pauseMs = MIN_PAUSE_MS
      app.log.error({ code, restart_in_ms: pauseMs }, 'the digest thread ended unexpectedly and restarts')
      restart = setTimeout(start, pauseMs)
      restart.unref()
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)
    })
  }
  start()

  return {
    figures: () => sum(past, current),
    async stop(graceMs) {
      stopped = true
      clearTimeout(restart)
      const running = worker
      if (running === null) return
      const ended = new Promise<void>((resolve) => {
        running.once('exit', () => resolve())
      })
      running.postMessage('stop' satisfies DigestThreadCommand)
      await withinGrace(graceMs, ended)
      await running.terminate()
    },
  }
}

const sum = (a: DigestThreadReport, b: DigestThreadReport): DigestThreadReport => ({
  entries: a.entries + b.entries,
  events: a.events + b.events,
  duplicates: a.duplicates + b.duplicates,
  quarantined: a.quarantined + b.quarantined,
  batches: a.batches + b.batches,
})
