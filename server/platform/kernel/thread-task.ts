import { setPriority } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { parentPort, Worker } from 'node:worker_threads'
import { AppError, type ErrorCode, rateLimited } from './errors.ts'

/**
 * Work that members start and whose cost their settings decide runs in a thread that lives for one request, so that it
 * never blocks the main thread and can be ended at any moment. Nothing is loaded or kept while no such request runs.
 */

/** Threads of this process, at most one for each organisation; further requests wait for their turn. */
const MAX_THREADS = 2
const MAX_WAITING = 16
const MAX_WAITING_PER_ORG = 2

const HEAP_MB = 256
const WATCH_EVERY_MS = 100
const MAX_WALL_MS = 60_000
/** Intake, digestion and pages come first where processors are short. */
const NICENESS = 10

const running = new Set<string>()
const waiting: { readonly orgId: string; readonly start: () => void }[] = []

/** Asks the thread; requests are answered one after the other. Both are copied: views of buffers with all of their memory. */
export type Ask<Request, Answer> = (request: Request) => Promise<Answer>

type Reply<Answer> = { readonly answer: Answer } | { readonly code: ErrorCode; readonly message: string }

type ThreadLimits = {
  /** Processor time of the thread, its start included: on a busy machine it takes longer, and is not at fault. */
  readonly cpuLimitMs: number
  /** The error that the caller gets at the limit, or after a minute. */
  readonly onLimit: () => AppError
}

/**
 * Runs a file that calls {@link serveThread} in a thread of its own, as long as `work` takes.
 * @throws AppError rate_limited (too many of the organisation, or of all, wait), the error of `onLimit`, or an error of
 *   the thread
 */
export async function inThread<Request, Answer, T>(
  orgId: string,
  file: URL,
  { cpuLimitMs, onLimit }: ThreadLimits,
  work: (ask: Ask<Request, Answer>) => Promise<T>,
): Promise<T> {
  await takeTurn(orgId)
  let worker: Worker | undefined
  let watch: NodeJS.Timeout | undefined
  try {
    const thread = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } })
    worker = thread
    // The service may end meanwhile.
    thread.unref()
    const ended = new Promise<never>((_, reject) => {
      thread.once('error', reject)
      thread.once('exit', () => reject(new Error('the thread ended unexpectedly')))
      const startedMs = performance.now()
      watch = setInterval(() => {
        if (performance.now() - startedMs > MAX_WALL_MS) reject(onLimit())
        thread.cpuUsage().then(
          ({ user, system }) => {
            if ((user + system) / 1_000 > cpuLimitMs) reject(onLimit())
          },
          // It has ended.
          () => {},
        )
      }, WATCH_EVERY_MS)
    })
    // Its reason is reported where it is awaited, if it still is.
    ended.catch(() => {})
    const ask: Ask<Request, Answer> = (request) => {
      const answered = new Promise<Answer>((resolve, reject) => {
        thread.once('message', (reply: Reply<Answer>) => {
          if ('answer' in reply) resolve(reply.answer)
          else reject(new AppError(reply.code, reply.message))
        })
      })
      thread.postMessage(request)
      return Promise.race([answered, ended])
    }
    return await Promise.race([work(ask), ended])
  } finally {
    clearInterval(watch)
    await worker?.terminate()
    giveTurn(orgId)
  }
}

async function takeTurn(orgId: string): Promise<void> {
  if (running.size < MAX_THREADS && !running.has(orgId)) {
    running.add(orgId)
    return
  }
  const ofOrg = waiting.filter((one) => one.orgId === orgId).length
  if (ofOrg >= MAX_WAITING_PER_ORG || waiting.length >= MAX_WAITING)
    throw rateLimited('Other previews are running. Try again in a few seconds.', 5)
  await new Promise<void>((resolve) => {
    waiting.push({ orgId, start: resolve })
  })
}

/** Passes the turn on, to the first whose organisation has none. */
function giveTurn(orgId: string): void {
  running.delete(orgId)
  const index = waiting.findIndex((one) => !running.has(one.orgId))
  const [next] = index === -1 ? [] : waiting.splice(index, 1)
  if (next === undefined) return
  running.add(next.orgId)
  next.start()
}

/** Serves requests in a thread of {@link inThread}. An AppError that `answer` throws reaches the caller. */
export function serveThread<Request, Answer>(answer: (request: Request) => Answer): void {
  // On other systems this is the priority of the whole process.
  if (process.platform === 'linux') setPriority(NICENESS)
  parentPort?.on('message', (request: Request) => {
    parentPort?.postMessage(replyTo(request, answer))
  })
}

function replyTo<Request, Answer>(request: Request, answer: (request: Request) => Answer): Reply<Answer> {
  try {
    return { answer: answer(request) }
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, message: error.message }
    throw error
  }
}

/**
 * Processor time that this thread has used, in ms. For limits of work: unlike the time of day it does not grow while other
 * processes have the processor.
 */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** A request that arrives during a long loop waits about so long. */
const PAUSE_AFTER_MS = 5

/**
 * Calls `work` with each item, for much work that need not hold up the thread: after each 5 ms, what else waits for the thread
 * runs first. An async iterator would cost half a microsecond for each item.
 */
export async function eachWithPauses<Item>(items: Iterable<Item>, work: (item: Item) => void): Promise<void> {
  let startedMs = performance.now()
  for (const item of items) {
    work(item)
    if (performance.now() - startedMs < PAUSE_AFTER_MS) continue
    await setImmediate()
    startedMs = performance.now()
  }
}
