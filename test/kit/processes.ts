import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { waitFor } from './wait.ts'

/**
 * Processes in tests. A process has not ended when it is signalled, its children outlive its exit, and survivors may
 * react to the death of the others: these helpers wait for the state a test means.
 */

/** A busy machine needs this long for a database's last checkpoint. */
const PATIENCE_MS = 60_000

export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null }

/** Waits for the exit of a child that may have exited already. */
export async function exitOf(child: ChildProcess): Promise<Exit> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return { code: child.exitCode, signal: child.signalCode }
}

/** Sends a signal and waits for the exit. */
export async function endBy(child: ChildProcess, name: NodeJS.Signals): Promise<Exit> {
  child.kill(name)
  return exitOf(child)
}

/**
 * Kills processes at one moment, as a power cut does. They are stopped first, parents before their children, because
 * one that outlives the others by a millisecond restarts or cleans up what the test looks for.
 */
export function killAtOnce(pids: readonly number[]): void {
  for (const name of ['SIGSTOP', 'SIGKILL'] as const) for (const pid of pids) send(pid, name)
}

/** Signals a process, or a group by its negative id; does nothing when it has ended. */
export function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/** Process ids whose command line contains the text, oldest first. */
export function pidsNaming(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)
      } catch {
        return false
      }
    })
    .map(Number)
    .toSorted((a, b) => a - b)
}

/** Children of a process; none after its exit. */
export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/** Waits until no process has the path in its command line: no server, no database, no watchdog. */
export const nothingRunsIn = (path: string): Promise<true> =>
  waitFor(`every process of ${path} to end`, () => pidsNaming(path).length === 0, PATIENCE_MS)
