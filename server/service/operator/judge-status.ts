import type { Finding } from '../doctor/finding.ts'
import type { CanaryReport } from '../canary/canary.api.ts'
import type { OperatorStatus } from './operator.api.ts'

/** The verdict about an installation (pure). */

/** Share of the disk that may be used before events are at risk. */
const FULL_SHARE = 0.9
const SHORT_DAYS = 14

type Concern = OperatorStatus['concerns'][number]

/** Everything that is not well, problems first. */
export function listConcerns(
  findings: readonly (Finding | null)[],
  canary: Pick<CanaryReport, 'state' | 'explanation'>,
  daysLeft: number | null,
): Concern[] {
  const concerns: Concern[] = findings.flatMap((finding) =>
    finding === null || finding.level === 'ok' ? [] : [{ ...finding, level: finding.level }],
  )
  if (canary.state === 'broken' || canary.state === 'late')
    concerns.unshift({
      level: canary.state === 'broken' ? 'problem' : 'note',
      part: 'canary',
      text: canary.explanation,
    })
  if (daysLeft !== null && daysLeft < SHORT_DAYS)
    concerns.push({
      level: 'note',
      part: 'disk',
      text: `In ${Math.floor(daysLeft)} days the disk is 90 % full. Free some space, or shorten the retention of projects.`,
    })
  return concerns.toSorted((a, b) => Number(b.level === 'problem') - Number(a.level === 'problem'))
}

export const judgeConcerns = (concerns: readonly Concern[]): OperatorStatus['verdict'] =>
  concerns.some(({ level }) => level === 'problem') ? 'problem' : concerns.length > 0 ? 'attention' : 'ok'

/** Days until the disk is 90 % full; null where nothing says it, or where nothing is added. */
export function daysUntilFull(
  disk: { readonly freeBytes: number; readonly totalBytes: number } | null,
  bytesPerDay: number | null,
): number | null {
  if (disk === null || bytesPerDay === null || bytesPerDay <= 0) return null
  const usable = disk.freeBytes - disk.totalBytes * (1 - FULL_SHARE)
  return Math.max(0, Math.floor(usable / bytesPerDay))
}

/** The mean of what whole days stored; null before there are three of them. */
export const meanOfDays = (bytes: readonly number[]): number | null =>
  bytes.length < 3 ? null : bytes.reduce((sum, one) => sum + one, 0) / bytes.length

type BackupTimes = {
  readonly completeAt: Date | null
  readonly problem: string | null
  readonly restorableAt: Date | null
  readonly drillProblem: string | null
}

/** A backup is called restorable only after a drill that restored one and found it equal. */
export function judgeBackups({
  completeAt,
  problem,
  restorableAt,
  drillProblem,
}: BackupTimes): OperatorStatus['backups']['state'] {
  if (problem !== null || (drillProblem !== null && completeAt !== null)) return 'failed'
  if (completeAt === null) return 'none'
  return restorableAt === null ? 'made' : 'restorable'
}
