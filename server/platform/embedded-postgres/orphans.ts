import { readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseStartError } from '../storage/pool.ts'
import { readCommandLine, isAlive, postgresProcessesIn, signal, waitUntil } from './processes.ts'

/**
 * Stops processes of an earlier start of this cluster: its postmaster after our `kill -9`, or backends after a
 * `kill -9` of the postmaster. Call it only under the lock of the data directory, when no other process uses them.
 * Removes a `postmaster.pid` with the process id of an unrelated process, which would keep PostgreSQL from starting.
 * @returns a line for the log; undefined when there was nothing to stop
 */
export async function stopOrphans(clusterDir: string): Promise<string | undefined> {
  const recorded = recordedPostmaster(clusterDir)
  const postmaster = recorded !== undefined && isPostmasterOf(recorded, clusterDir) ? recorded : undefined
  const isLeft = () => [...postgresProcessesIn(clusterDir), ...(postmaster ? [postmaster] : [])].some(isAlive)

  const wasLeft = isLeft()
  if (wasLeft && !(await endAll(clusterDir, postmaster, isLeft))) {
    throw new DatabaseStartError(
      `PostgreSQL processes of an earlier start still use ${clusterDir} and cannot be stopped.`,
    )
  }
  rmSync(join(clusterDir, 'postmaster.pid'), { force: true })
  if (!wasLeft) return undefined
  return postmaster
    ? `stopped the database that an earlier start left running (process ${postmaster})`
    : 'waited for database processes that an earlier start left running'
}

/** Fast shutdown (with a checkpoint), then immediate shutdown (with recovery at the next start), then SIGKILL. */
async function endAll(clusterDir: string, postmaster: number | undefined, isLeft: () => boolean): Promise<boolean> {
  const isDone = () => !isLeft()
  if (postmaster) signal(postmaster, 'SIGINT')
  if (await waitUntil(isDone, postmaster ? 20_000 : 5_000)) return true
  if (postmaster) signal(postmaster, 'SIGQUIT')
  if (await waitUntil(isDone, 5_000)) return true
  for (const pid of postgresProcessesIn(clusterDir)) signal(pid, 'SIGKILL')
  if (postmaster && isAlive(postmaster)) signal(postmaster, 'SIGKILL')
  return waitUntil(isDone, 5_000)
}

/** First line of `postmaster.pid`. */
export function recordedPostmaster(clusterDir: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(clusterDir, 'postmaster.pid'), 'utf8').split('\n')[0])
    return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined
  } catch {
    return undefined
  }
}

function isPostmasterOf(pid: number, clusterDir: string): boolean {
  if (!isAlive(pid)) return false
  if (process.platform === 'linux') return postgresProcessesIn(clusterDir).includes(pid)
  const command = readCommandLine(pid) ?? ''
  return command.includes(clusterDir) && basename(command.split(' ')[0] ?? '') === 'postgres'
}
