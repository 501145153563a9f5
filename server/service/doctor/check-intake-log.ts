import pino from 'pino'
import type { Config } from '../../config/config.ts'
import { inspectIntakeLog, readMovedUntil } from '../../ingest/spool/open-intake-log.ts'
import { countedWord } from '../../platform/kernel/value-text.ts'
import type { Database } from '../../platform/storage/database.ts'
import { ageText } from './check-database.ts'
import { type Finding, note, ok, problem, reasonText } from './finding.ts'

const PART = 'intake log'
const MAX_WAIT_MS = 15 * 60_000

/** How the stream of SPOOL_URL is set up; none without one. Whether its servers sync always cannot be asked. */
export async function checkIntakeLog({ intakeLog }: Config): Promise<Finding[]> {
  if (intakeLog === null) return []
  try {
    const setup = await inspectIntakeLog(intakeLog, pino({ level: 'silent' }))
    const { faults, replicas, currentReplicas, serverVersion } = setup
    if (faults.length > 0)
      return [
        problem(PART, `The stream ${intakeLog.stream} may lose events: ${faults.join('; ')}. See docs/scaling.md.`),
      ]
    if (currentReplicas * 2 <= replicas)
      return [problem(PART, `Only ${currentReplicas} of ${replicas} replicas are up and current.`)]
    if (replicas < 3)
      return [
        note(PART, `${countedWord(replicas, 'replica')}: three survive the end of a server. Set SPOOL_REPLICAS=3.`),
      ]
    if (currentReplicas < replicas)
      return [note(PART, `${currentReplicas} of ${replicas} replicas are up and current. Look at the others.`)]
    return [
      ok(
        PART,
        `${countedWord(replicas, 'replica')}, all current, NATS ${serverVersion}. Its servers need sync_interval: always, which cannot be asked from here`,
      ),
    ]
  } catch (error) {
    return [problem(PART, `The servers of SPOOL_URL cannot be used: ${reasonText(error)}.`)]
  }
}

/** Whether the entries of the log reach the spool; none without a log. */
export async function checkMover(db: Database, { intakeLog }: Config, now: Date): Promise<Finding[]> {
  if (intakeLog === null) return []
  const movedUntil = await readMovedUntil(db, intakeLog)
  if (movedUntil === null)
    return [note('mover', 'Nothing was moved from the intake log yet. Does a process with the role digest run?')]
  const waitedMs = now.getTime() - movedUntil.getTime()
  if (waitedMs < MAX_WAIT_MS) return [ok('mover', 'events of the intake log reach the spool')]
  return [
    problem(
      'mover',
      `Events of the last ${ageText(waitedMs)} wait in the intake log. Does a process with the role digest run? Look at its log.`,
    ),
  ]
}
