import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { waitFor } from './wait.ts'

/**
 * Processes in tests. A process that has been signalled is not gone yet, its exit is not the end of its children, and
 * whatever survives may react to the death of the rest: these helpers wait for what a test means.
 */

/** A loaded machine needs this long for a database's last checkpoint. */
const PATIENCE_MS = 60_000

export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null }

/** Waits for the end of a child, whether it has ended already or not. */
export async function exitOf(child: ChildProcess): Promise<Exit> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return { code: child.exitCode, signal: child.signalCode }
}

/** Sends a signal and waits for the end. */
export async function endBy(child: ChildProcess, name: NodeJS.Signals): Promise<Exit> {
  child.kill(name)
  return exitOf(child)
}

/**
 * Kills processes as a power cut does: all at one moment. They are stopped first, parents before their children, because
 * one that outlives the others by a millisecond restarts or tidies up what the test wants to find.
 */
export function killAtOnce(pids: readonly number[]): void {
  for (const name of ['SIGSTOP', 'SIGKILL'] as const) for (const pid of pids) send(pid, name)
}

function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/** Numbers of the processes whose command line contains the text, oldest first. */
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

/** Children of a process; none when it has ended. */
export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/** Waits until no process names the path any more: no server, no database, no watchdog. */
export const nothingRunsIn = (path: string): Promise<true> =>
  waitFor(`every process of ${path} to end`, () => pidsNaming(path).length === 0, PATIENCE_MS)
