import { operatorCommand } from '../../config/manifest.ts'
import { existsSync, statSync } from 'node:fs'
import type { Config } from '../../config/config.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'
import { readBackupTimes } from '../backup/backup-runs.queries.ts'
import { ageText } from './check-database.ts'
import { selectInstalledAt } from './doctor.queries.ts'
import { type Finding, note, ok, problem } from './finding.ts'

/** Without a schedule, a backup by hand counts for a week. */
const BY_HAND_MS = 7 * DAY_MS
/** Before that, a new installation is still being set up. */
const SET_UP_MS = DAY_MS
/** A drill is due every 30 days. */
const DRILL_MS = 40 * DAY_MS

/** Age of the newest backup, and whether a drill restored one. */
export async function checkBackups(db: Connection, { backup, dataDir }: Config, now: Date): Promise<Finding[]> {
  const times = await readBackupTimes(db, backup.folder)
  const ageMs = (time: Date): number => now.getTime() - time.getTime()
  const findings: Finding[] = []
  const maxMs = backup.folder === null ? BY_HAND_MS : 2 * backup.everyMs
  const advice =
    backup.folder === null
      ? 'Set BACKUP_FOLDER to a folder on another disk.'
      : 'Look at the log of the processes with the role schedule.'
  const why = times.problem === null ? '' : ` The last one failed: ${times.problem}`
  if (times.completeAt === null) {
    const isNew = times.problem === null && ageMs(await selectInstalledAt(db)) < SET_UP_MS
    const first = backup.folder === null ? advice : 'The schedule makes the first one.'
    findings.push(
      isNew
        ? note('backup', `There is no backup yet. ${first}`)
        : problem('backup', `There is no backup.${why} ${advice}`),
    )
  } else if (ageMs(times.completeAt) > maxMs)
    findings.push(problem('backup', `The newest backup is ${ageText(ageMs(times.completeAt))} old.${why} ${advice}`))
  else {
    findings.push(ok('backup', `the newest is ${ageText(ageMs(times.completeAt))} old`))
    if (why !== '') findings.push(note('backup', why.trim()))
    if (backup.folder === null) findings.push(note('backup', `It was made by hand. ${advice}`))
  }
  if (backup.folder !== null && isSameDisk(backup.folder, dataDir))
    findings.push(
      note(
        'backup',
        'BACKUP_FOLDER is on the disk of the data folder: a broken disk destroys both. Copy it elsewhere.',
      ),
    )
  if (times.completeAt !== null) findings.push(checkDrill(times, ageMs))
  return findings
}

function checkDrill(
  { drilledAt, restorableAt, drillProblem }: Awaited<ReturnType<typeof readBackupTimes>>,
  ageMs: (time: Date) => number,
): Finding {
  const part = 'restore drill'
  const command = `Run "${operatorCommand('backup drill')}".`
  if (drilledAt === null) return note(part, `No backup was ever restored. ${command}`)
  if (drillProblem !== null) return problem(part, `The last one failed: ${drillProblem}`)
  return restorableAt !== null && ageMs(restorableAt) > DRILL_MS
    ? problem(part, `The last one was ${ageText(ageMs(restorableAt))} ago. ${command}`)
    : ok(part, `a backup was restored ${ageText(ageMs(restorableAt ?? drilledAt))} ago`)
}

const isSameDisk = (one: string, other: string): boolean =>
  existsSync(one) && existsSync(other) && statSync(one).dev === statSync(other).dev
