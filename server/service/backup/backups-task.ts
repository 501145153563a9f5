import { spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { App } from '../../platform/context/app.ts'
import { isEmbeddedPostgresInstalled } from '../../platform/embedded-postgres/start.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { DAY_MS, HOUR_MS } from '../../platform/kernel/day.ts'
import { type BackupTimes, readBackupTimes } from './backup-runs.queries.ts'

/**
 * Scheduled backups and restore drills. Each is the operator's command in a process of its own, with low priority: it takes
 * no time of the threads that serve requests, and its memory is free afterwards.
 */

const DRILL_EVERY_MS = 30 * DAY_MS
/** After a drill that failed, and after a run that did. */
const DRILL_RETRY_MS = DAY_MS
const RETRY_MS = HOUR_MS
const NICENESS = 10
const COMMANDS = { backup: ['backup'], drill: ['backup', 'drill'] } as const

export const backupsTask = defineTask({
  name: 'backups',
  payload: NoPayload,
  cron: '*/10 * * * *',
  isLong: true,
  async run(app, _payload, signal) {
    const { folder, everyMs } = app.config.backup
    if (folder === null) return
    const isDue = async (what: keyof typeof COMMANDS): Promise<boolean> => {
      const times = await readBackupTimes(app.db, folder)
      const now = app.clock.now().getTime()
      return what === 'backup' ? isBackupDue(times, now, everyMs) : isDrillDue(times, now)
    }
    if (await isDue('backup')) await runCommand(app, 'backup', signal)
    if (isEmbeddedPostgresInstalled() && (await isDue('drill'))) await runCommand(app, 'drill', signal)
  },
})

/** A backup begins as long after the last complete one as the setting says, and at most once an hour. */
export function isBackupDue({ startedAt, completeAt }: BackupTimes, nowMs: number, everyMs: number): boolean {
  const isOver = (since: Date | null, ms: number): boolean => since === null || nowMs - since.getTime() >= ms
  return isOver(completeAt, everyMs) && isOver(startedAt, Math.min(RETRY_MS, everyMs))
}

/** The first backup is restored as soon as it is there, later ones once a month. */
export function isDrillDue({ completeAt, drilledAt, restorableAt }: BackupTimes, nowMs: number): boolean {
  if (completeAt === null) return false
  if (drilledAt === null) return true
  const sinceMs = nowMs - drilledAt.getTime()
  const hasPassed = restorableAt !== null && restorableAt.getTime() === drilledAt.getTime()
  return sinceMs >= (hasPassed ? DRILL_EVERY_MS : DRILL_RETRY_MS)
}

const MAIN = fileURLToPath(new URL('../../main.ts', import.meta.url))

/** Waits for the command. Its result is in the database; a failure is an error of the log as well. */
async function runCommand(app: App, what: keyof typeof COMMANDS, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const child = spawn(process.execPath, [MAIN, ...COMMANDS[what], ...(what === 'backup' ? keepOption(app) : [])], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000)))
  const end = (): void => void child.kill()
  signal.addEventListener('abort', end, { once: true })
  try {
    if (child.pid !== undefined) lowerPriority(child.pid)
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject).once('close', resolve)
    })
    signal.throwIfAborted()
    if (code === 0) app.log.info({ folder: app.config.backup.folder }, `the scheduled ${what} is complete`)
    else
      app.log.error(
        { folder: app.config.backup.folder, problem: said.trim().split('\n').at(-1) },
        `the scheduled ${what} failed`,
      )
  } finally {
    signal.removeEventListener('abort', end)
  }
}

const keepOption = ({ config }: App): string[] => ['--keep', String(config.backup.keep)]

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, NICENESS)
  } catch {
    // It has ended, or this system refuses.
  }
}
