import { Worker } from 'node:worker_threads'
import { rateLimited } from '../../../platform/kernel/errors.ts'
import { MAX_STATEMENT_CHARACTERS } from '../query.api.ts'
import type { GuardReply, GuardRequest } from './guard-thread.ts'
import type { GuardedStatement } from './read-statement.ts'
import { RefusedStatement } from './refused-statement.ts'

/**
 * The parser is PostgreSQL's own C code: it runs in a thread that is replaced when it fails or takes too long. The thread
 * starts with the first statement and ends after some minutes without one.
 */

const MAX_BYTES = 16_384
/** Processor time of a statement. */
const MAX_CPU_MS = 250
const WATCH_EVERY_MS = 50
const MAX_WALL_MS = 5_000
const MAX_WAITING = 32
const IDLE_MS = 300_000
const HEAP_MB = 128

/** Control characters except tab and line ends, and the byte order mark: the parser would read only what is before a NUL. */
const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\uFEFF]/

/** Checks a text before it is parsed. @throws RefusedStatement */
export function checkText(text: string): void {
  if (text.trim() === '') throw new RefusedStatement('statements', 'It holds no statement.')
  if (text.length > MAX_STATEMENT_CHARACTERS)
    throw new RefusedStatement('text', `It is longer than ${MAX_STATEMENT_CHARACTERS.toLocaleString('en')} characters.`)
  if (Buffer.byteLength(text) > MAX_BYTES) throw new RefusedStatement('text', 'It is longer than 16 KiB.')
  if (FORBIDDEN.test(text)) throw new RefusedStatement('text', 'It holds a control character.')
  if (!text.isWellFormed()) throw new RefusedStatement('text', 'It holds half a character.')
}

type Thread = { readonly worker: Worker; readonly ready: Promise<void>; timer: NodeJS.Timeout | undefined }

let current: Thread | undefined
let last: Promise<unknown> = Promise.resolve()
let waiting = 0

/**
 * Checks a statement in the thread and adds the filter of the project.
 * @throws RefusedStatement, AppError rate_limited (too many statements wait)
 */
export async function guardStatement(text: string, projectId: string): Promise<GuardedStatement> {
  checkText(text)
  const reply = await askThread({ text, projectId })
  if (reply.kind === 'guarded') return reply.statement
  if (reply.kind === 'refused') throw new RefusedStatement(reply.rule, reply.message)
  throw new RefusedStatement('thread', 'It is too complicated.')
}

/** @internal One statement after the other, without the limits of its length. */
export async function askThread(request: GuardRequest): Promise<GuardReply> {
  if (waiting >= MAX_WAITING) throw rateLimited('Other statements are checked. Try again in a few seconds.', 2)
  waiting++
  const turn = last.then(() => ask(request))
  last = turn.catch(() => {})
  try {
    return await turn
  } finally {
    waiting--
  }
}

async function ask(request: GuardRequest): Promise<GuardReply> {
  current ??= startThread()
  const thread = current
  clearTimeout(thread.timer)
  let watch: NodeJS.Timeout | undefined
  const { promise, resolve } = Promise.withResolvers<GuardReply>()
  const fail = (message: string): void => resolve({ kind: 'broken', message })
  const failed = (error: Error): void => fail(error.message)
  const ended = (): void => fail('the thread ended')
  try {
    thread.worker.on('error', failed).on('exit', ended)
    await thread.ready
    thread.worker.on('message', resolve)
    const startedMs = performance.now()
    const before = await thread.worker.cpuUsage()
    watch = setInterval(() => {
      if (performance.now() - startedMs > MAX_WALL_MS) fail('it took too long')
      thread.worker.cpuUsage(before).then(
        ({ user, system }) => {
          if ((user + system) / 1_000 > MAX_CPU_MS) fail('it took too long')
        },
        // It has ended.
        () => {},
      )
    }, WATCH_EVERY_MS)
    thread.worker.postMessage(request)
    const reply = await promise
    if (reply.kind === 'broken') await endThread(thread)
    return reply
  } catch (error) {
    await endThread(thread)
    throw error
  } finally {
    clearInterval(watch)
    thread.worker.off('message', resolve).off('error', failed).off('exit', ended)
    if (current === thread) {
      thread.timer = setTimeout(() => void endThread(thread), IDLE_MS)
      thread.timer.unref()
    }
  }
}

function startThread(): Thread {
  const worker = new Worker(new URL('./guard-thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  })
  // The service may end meanwhile.
  worker.unref()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  worker.once('message', () => resolve())
  worker.once('error', reject)
  worker.once('exit', () => reject(new Error('the thread that checks statements did not start')))
  // Its reason is reported where it is awaited.
  promise.catch(() => {})
  return { worker, ready: promise, timer: undefined }
}

async function endThread(thread: Thread): Promise<void> {
  clearTimeout(thread.timer)
  if (current === thread) current = undefined
  await thread.worker.terminate()
}
