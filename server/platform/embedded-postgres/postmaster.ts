import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { withinGrace } from '../kernel/abortable.ts'
import { DatabaseStartError, DiskFullError } from '../storage/pool.ts'
import { TOOL_ENVIRONMENT } from './cluster.ts'
import type { RunAs } from './run-as.ts'

export type Postmaster = {
  pid: number
  /** Resolves with a line for the log when the process has ended for any reason. */
  ended: Promise<string>
  /** Fast shutdown; immediate shutdown after `patienceMs`. Resolves when the process has ended. */
  stop(patienceMs?: number): Promise<void>
  /** Whether this start replayed the log after an unclean stop. */
  recovered: boolean
}

/** Enough to replay `max_wal_size` on a slow disk after a crash. */
const startTimeoutMs = 120_000
/** Enough for a checkpoint of a busy database on a slow disk. */
const STOP_PATIENCE_MS = 20_000
/** For the lines of a start, which are in the pipe before the server says that it is ready. */
const LINES_PATIENCE_MS = 2_000
/** Short, because there are no connections yet, and the next start replays the log again. */
const ABORT_PATIENCE_MS = 5_000

/**
 * For glibc: blocks from 128 KiB on are returned when they are freed, and so is free memory above the last block. By default
 * both limits grow with the largest block that was ever freed, up to 64 MiB: connections that answer the dashboard used 3 MiB
 * and held up to 38.
 */
const ALLOCATOR = { MALLOC_MMAP_THRESHOLD_: String(128 * 1024), MALLOC_TRIM_THRESHOLD_: String(128 * 1024) }

/**
 * Starts the server and waits until it accepts connections.
 * @throws DatabaseStartError with the server's message when it does not start; the signal's reason
 */
export async function startPostmaster(options: {
  postgres: string
  clusterDir: string
  user: RunAs
  settings: string[]
  log: (line: string) => void
  /** Called when the server logs that the disk is full; it may end because of that. */
  onDiskFull: () => void
  /** Ends a server that is not ready yet; has no effect afterwards. */
  signal: AbortSignal
}): Promise<Postmaster> {
  const { clusterDir, log, onDiskFull, signal } = options
  signal.throwIfAborted()
  // In its own process group, because Ctrl-C in our terminal must not stop the database before we have drained.
  const child = spawn(options.postgres, ['-D', clusterDir, ...options.settings], {
    ...options.user,
    env: { ...TOOL_ENVIRONMENT, ...ALLOCATOR },
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said: string[] = []
  let phase: 'starting' | 'serving' | 'stopping' = 'starting'
  const saidReady = Promise.withResolvers<void>()
  const onLine = (line: string) => {
    said.push(line)
    if (line.includes(READY)) saidReady.resolve()
    if (said.length > 50) said.shift()
    if (DISK_FULL.test(line)) onDiskFull()
    if (phase === 'serving' && !line.includes(READY)) log(`PostgreSQL: ${line}`)
  }
  createInterface({ input: child.stdout }).on('line', onLine)
  createInterface({ input: child.stderr }).on('line', onLine)

  const pid = child.pid ?? 0
  const watchdog = startWatchdog(pid, clusterDir, options.user)
  let isGone = false
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => {
      isGone = true
      resolve(error.message)
    })
    child.on('exit', (code, signalName) => {
      isGone = true
      resolve(signalName ? `was ended by ${signalName}` : `ended with exit code ${code}`)
    })
  })

  const end = async (patienceMs: number): Promise<void> => {
    phase = 'stopping'
    if (!isGone) {
      child.kill('SIGINT')
      const timer = setTimeout(() => child.kill('SIGQUIT'), patienceMs)
      await ended
      clearTimeout(timer)
    }
    watchdog.dismiss()
  }

  const deadline = performance.now() + startTimeoutMs
  while (!isReady(clusterDir, child.pid)) {
    if (isGone) {
      watchdog.dismiss()
      await delay(20) // its last lines may still be in the pipe
      throw explain(said, await ended)
    }
    if (signal.aborted) {
      await end(ABORT_PATIENCE_MS)
      signal.throwIfAborted()
    }
    if (performance.now() > deadline) {
      child.kill('SIGQUIT')
      await ended
      watchdog.dismiss()
      throw new DatabaseStartError(
        `PostgreSQL did not become ready within ${startTimeoutMs / 1000} s: ${said.at(-1) ?? 'it logged nothing'}.`,
      )
    }
    await delay(5)
  }
  // The file is read before the lines when this process is busy.
  await withinGrace(LINES_PATIENCE_MS, saidReady.promise)
  phase = 'serving'

  return {
    pid,
    ended,
    recovered: said.some((line) => line.includes('automatic recovery in progress')),
    stop: (patienceMs = STOP_PATIENCE_MS) => end(patienceMs),
  }
}

const READY = 'ready to accept connections'

/** Reads the status in the eighth line of `postmaster.pid`, as `pg_ctl` does. */
function isReady(clusterDir: string, pid: number | undefined): boolean {
  try {
    const lines = readFileSync(join(clusterDir, 'postmaster.pid'), 'utf8').split('\n')
    return Number(lines[0]) === pid && lines[7]?.trim() === 'ready'
  } catch {
    return false
  }
}

/**
 * Starts a shell that waits until our end of a pipe closes, also after `kill -9`, and then shuts down the database.
 * Needs a few hundred kilobytes; without it an orphan would run until the next start.
 */
function startWatchdog(pid: number, clusterDir: string, user: RunAs): { dismiss(): void } {
  const script =
    'read -r word && exit 0; recorded=$1; [ -f "$2/postmaster.pid" ] && read -r recorded < "$2/postmaster.pid"; [ "$recorded" = "$1" ] && kill -INT "$1"'
  const child: ChildProcess = spawn('/bin/sh', ['-c', script, 'faultline-watchdog', String(pid), clusterDir], {
    ...user,
    env: TOOL_ENVIRONMENT,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.on('error', () => {})
  child.stdin?.on('error', () => {})
  // Neither the shell nor its pipe keeps our process alive.
  child.unref()
  if (child.stdin instanceof Socket) child.stdin.unref()
  return { dismiss: () => child.stdin?.end('dismissed\n') }
}

const DISK_FULL = /No space left on device|Disk quota exceeded/i

function explain(said: string[], ending: string): DatabaseStartError {
  const text = said.join('\n')
  if (DISK_FULL.test(text))
    return new DiskFullError('The disk is full: PostgreSQL cannot start. Free some space and start again.')
  return new DatabaseStartError(reasonOf(said, text, ending))
}

function reasonOf(said: string[], text: string, ending: string): string {
  if (/Permission denied/i.test(text))
    return `PostgreSQL cannot read its data: ${line(said, /Permission denied/i)}. Did another user start it before?`
  if (/shared memory/i.test(text)) return `PostgreSQL gets no shared memory: ${line(said, /shared memory/i)}.`
  return `PostgreSQL did not start (${ending}): ${line(said, /FATAL|PANIC|ERROR/) || said.at(-1) || 'it gave no reason'}.`
}

const line = (said: string[], pattern: RegExp): string =>
  (said.find((text) => pattern.test(text)) ?? '').replace(/^[A-Z]+:\s+/, '').replace(/\.$/, '')
