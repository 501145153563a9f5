import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '#test/kit/free-port.ts'

export type Service = {
  url: string
  pid: number
  /** From the spawn to the first 200 of /readyz. */
  readyMs: number
  dataDir: string
  /**
   * Sends Ctrl-C or another signal, waits, and removes everything the service wrote unless the data directory was
   * given. Returns the exit code, null when a signal ended it.
   */
  stop(signal?: NodeJS.Signals): Promise<number | null>
  /** The output so far. */
  output(): string
}

const root = join(import.meta.dirname, '..')

/**
 * Starts the real product as a user does, on a free port with a new data directory.
 * @throws Error with its output when it is not ready within a minute; with `cores` when there are not so many, or no taskset
 */
export async function startService(
  options: {
    checkout?: string
    dataDir?: string
    /** Default: a free one. */
    port?: number
    command?: readonly string[]
    /** Binds the service and its database to the first so many processors. */
    cores?: number
    env?: Readonly<Record<string, string>>
  } = {},
): Promise<Service> {
  const checkout = options.checkout ?? root
  const scratch = options.dataDir === undefined ? mkdtempSync(join(tmpdir(), 'faultline-bench-')) : undefined
  if (scratch !== undefined) chmodSync(scratch, 0o755)
  const dataDir = options.dataDir ?? join(scratch ?? '', 'data')
  const port = options.port ?? (await freePort())
  const url = `http://127.0.0.1:${port}`
  const [command = '', ...args] = [
    ...boundTo(options.cores),
    ...(options.command ?? [process.execPath, join(checkout, 'scripts', 'start.mjs')]),
  ]

  const startedAt = performance.now()
  const child = spawn(command, args, {
    cwd: checkout,
    env: {
      ...process.env,
      NODE_ENV: '',
      PORT: String(port),
      FAULTLINE_DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const pid = child.pid ?? 0
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const gone = once(child, 'exit')
  let isGone = false
  // A bench that is stopped early must not leave a service behind.
  const endWithBench = (): void => {
    if (!isGone) process.kill(-pid, 'SIGINT')
  }
  process.once('exit', endWithBench)
  void gone.then(() => {
    isGone = true
    process.off('exit', endWithBench)
  })

  while (!(await isReady(url))) {
    if (isGone || performance.now() - startedAt > 60_000) {
      if (!isGone) process.kill(-pid, 'SIGKILL')
      throw new Error(`the service did not become ready:\n${output}`)
    }
    await delay(5)
  }
  return {
    url,
    pid,
    readyMs: performance.now() - startedAt,
    dataDir,
    output: () => output,
    async stop(signal = 'SIGINT') {
      // The whole group, like Ctrl-C in a terminal: npm, which may be in between, waits only for its child.
      if (!isGone) process.kill(-pid, signal)
      await gone
      if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true })
      return child.exitCode
    },
  }
}

function boundTo(cores: number | undefined): string[] {
  if (cores === undefined) return []
  const all = availableParallelism()
  if (!Number.isInteger(cores) || cores < 1 || cores > all)
    throw new Error(`--cores must be a number from 1 to ${all}, the processors of this machine.`)
  if (spawnSync('taskset', ['--version']).error !== undefined)
    throw new Error('--cores needs the command taskset (util-linux), which is not on this machine.')
  return ['taskset', '-c', `0-${cores - 1}`]
}

async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/readyz`)
    await answer.arrayBuffer()
    return answer.status === 200
  } catch {
    return false
  }
}
