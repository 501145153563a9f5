import type { EventLoopUtilization } from 'node:perf_hooks'
import { Worker } from 'node:worker_threads'
import { addSums, type DigestSums, NO_SUMS } from '../../ingest/digest/digester.ts'
import { shardsOfThread, threadOfShard } from '../../ingest/spool/entry.ts'
import type { HandOvers, ThreadHandOver } from '../../ingest/spool/hand-over.ts'
import { lateShards } from '../../ingest/spool/project-backlog.ts'
import type { App } from '../../platform/context/app.ts'
import { withinGrace } from '../../platform/kernel/abortable.ts'
import { collectWhenCalm } from './collector.ts'
import type { DigestThreadCommand, DigestThreadData, DigestThreadReport } from './digest-thread.ts'

type DigestSupervisor = {
  /** Sums since the service started, over all threads. */
  figures(): DigestSums
  /** The number of threads that digest. */
  threads(): number
  /** Waits at most `graceMs` for each thread to finish its batch. What is not digested stays in the spool. */
  stop(graceMs: number): Promise<void>
}

const CHECK_EVERY_MS = 2_000
/** A request that waits longer is late. One batch that takes long, or a burst of a few seconds, makes none late. */
const LATE_MS = 5_000
/** New threads need this time until their code is compiled and their caches are filled. */
const GROW_EVERY_MS = 10_000
/** Without late requests for so long, threads end that the others can do without. */
const CALM_MS = 60_000
/** Share of its time that a thread may be busy after others ended: with more, requests would soon be late again. */
const MAX_BUSY = 0.6
/** For the batch of a thread that is no longer needed. */
const END_GRACE_MS = 10_000

type ThreadsAtWork = {
  readonly threads: number
  readonly maxThreads: number
  /** Shards of this process that have late requests. */
  readonly late: readonly number[]
  /** Since the number of threads changed. */
  readonly unchangedMs: number
  /** Since a request was late or the number changed, and the sum of shares of it in which each thread was busy. */
  readonly calmMs: number
  readonly busy: number
}

/**
 * The number of threads that should run. It doubles while requests are late in shards that more threads would divide: a
 * project is digested by one thread, however many there are.
 */
export function threadsNeeded({ threads, maxThreads, late, unchangedMs, calmMs, busy }: ThreadsAtWork): number {
  const more = Math.min(maxThreads, threads * 2)
  const working = (of: number): number => new Set(late.map((shard) => threadOfShard(shard, of))).size
  if (unchangedMs >= GROW_EVERY_MS && working(more) > working(threads)) return more
  return calmMs >= CALM_MS ? Math.min(threads, Math.max(1, Math.ceil(busy / MAX_BUSY))) : threads
}

/**
 * Runs the digest threads, each with shards of its own: the first one always, others while a backlog lasts. It restarts one
 * that ends unexpectedly. What a thread had not recorded is still in the spool.
 * @param handOvers where the intake of this process hands over what it wrote; null when there is no intake
 * @param checkEveryMs for tests
 */
export function superviseDigestion(
  app: App,
  connectionString: string,
  handOvers: HandOvers | null = null,
  checkEveryMs = CHECK_EVERY_MS,
): DigestSupervisor {
  const { clock } = app
  const maxThreads = app.config.digestThreads
  // The intake of this thread works when digestion does.
  const memory = collectWhenCalm()
  const all = Array.from({ length: maxThreads }, (_, index) =>
    superviseThread(app, connectionString, handOvers?.to(index) ?? null, () => memory.worked()),
  )
  let threads = 1
  let isStopped = false
  let changedAtMs = clock.monotonicMs()
  let calmSinceMs = changedAtMs

  const divide = (into: number): void => {
    threads = into
    handOvers?.divide(into)
    for (const [index, thread] of all.slice(0, into).entries()) thread.take(shardsOfThread(index, into))
  }
  const check = async (): Promise<void> => {
    const held = new Set(all.flatMap((thread) => thread.shards()))
    const late = (await lateShards(app, LATE_MS)).filter((shard) => held.has(shard))
    if (isStopped) return
    const nowMs = clock.monotonicMs()
    if (late.length > 0) {
      calmSinceMs = nowMs
      for (const thread of all) thread.watch()
    }
    const busy = all.reduce((sum, thread) => sum + thread.busy(), 0)
    const [unchangedMs, calmMs] = [nowMs - changedAtMs, nowMs - calmSinceMs]
    const needed = threadsNeeded({ threads, maxThreads, late, unchangedMs, calmMs, busy })
    if (needed === threads) return
    app.log.info({ threads: needed, before: threads, late_shards: late.length }, 'the number of digest threads changes')
    // Their shards are then free for the others.
    await Promise.all(all.slice(needed, threads).map((thread) => thread.stop(END_GRACE_MS)))
    if (isStopped) return
    divide(needed)
    changedAtMs = clock.monotonicMs()
    calmSinceMs = changedAtMs
    for (const thread of all) thread.watch()
  }
  divide(1)
  let isChecking = false
  const checking = setInterval(() => {
    if (isChecking || maxThreads === 1) return
    isChecking = true
    // While the database is away, nothing is to be divided.
    void check()
      .catch(() => {})
      .finally(() => {
        isChecking = false
      })
  }, checkEveryMs)
  checking.unref()
  return {
    figures: () => all.map((thread) => thread.figures()).reduce(addSums, NO_SUMS),
    threads: () => threads,
    async stop(graceMs) {
      isStopped = true
      clearInterval(checking)
      await Promise.all(all.map((thread) => thread.stop(graceMs)))
    },
  }
}

type SupervisedThread = {
  /** Starts it, or has it finish its batch and digest these shards instead. */
  take(shards: readonly number[]): void
  /** The shards that it has locked. */
  shards(): readonly number[]
  figures(): DigestSums
  /** Begins to measure {@link busy}. */
  watch(): void
  /** The share of the time in which it was busy; 0 when it does not run. */
  busy(): number
  stop(graceMs: number): Promise<void>
}

const MIN_PAUSE_MS = 200
const MAX_PAUSE_MS = 5_000
/** After a thread ran this long, the next failure starts with the shortest pause again. */
const HEALTHY_MS = 30_000
const HEAP_MB = 512

function superviseThread(
  app: App,
  connectionString: string,
  handOver: ThreadHandOver | null,
  onReport: () => void,
): SupervisedThread {
  let isWanted = false
  let wanted: readonly number[] = []
  let worker: Worker | null = null
  let past = NO_SUMS
  let current: DigestThreadReport = { sums: NO_SUMS, shards: [] }
  let usedBefore: EventLoopUtilization | undefined
  let pauseMs = MIN_PAUSE_MS
  let restart: NodeJS.Timeout | undefined

  const start = (): void => {
    const startedAtMs = app.clock.monotonicMs()
    const handedOver = handOver?.connect() ?? null
    const next = new Worker(new URL('./digest-thread.ts', import.meta.url), {
      name: 'digest',
      workerData: { config: app.config, connectionString, shards: wanted, handedOver } satisfies DigestThreadData,
      transferList: handedOver === null ? [] : [handedOver.port],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    })
    worker = next
    next.on('message', (report: DigestThreadReport) => {
      current = report
      onReport()
    })
    next.on('error', (error) => {
      // The next start recovers from a failure while stopping.
      if (isWanted) app.log.error({ err: error }, 'the digest thread failed')
    })
    next.once('exit', (code) => {
      past = addSums(past, current.sums)
      current = { sums: NO_SUMS, shards: [] }
      usedBefore = undefined
      worker = null
      handOver?.disconnect()
      if (!isWanted) return
      if (app.clock.monotonicMs() - startedAtMs > HEALTHY_MS) pauseMs = MIN_PAUSE_MS
      app.log.error({ code, restart_in_ms: pauseMs }, 'the digest thread ended unexpectedly and restarts')
      restart = setTimeout(start, pauseMs)
      restart.unref()
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)
    })
  }

  return {
    take(shards) {
      const isNew = !isWanted
      isWanted = true
      wanted = shards
      if (isNew) start()
      else if (worker !== null) {
        const handedOver = handOver?.connect() ?? null
        const command: DigestThreadCommand = { shards, handedOver }
        worker.postMessage(command, handedOver === null ? [] : [handedOver.port])
      }
    },
    shards: () => current.shards,
    figures: () => addSums(past, current.sums),
    watch: () => void (usedBefore = worker?.performance.eventLoopUtilization()),
    busy: () => worker?.performance.eventLoopUtilization(usedBefore).utilization ?? 0,
    async stop(graceMs) {
      isWanted = false
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
