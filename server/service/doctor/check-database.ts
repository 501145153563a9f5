import { operatorCommand } from '../../config/manifest.ts'
import { countQuarantined, selectBacklog } from '../../ingest/spool/spool.queries.ts'
import { checkCanary, readCanary } from '../../platform/storage/canary.queries.ts'
import type { Database } from '../../platform/storage/database.ts'
import { oldestDueMs } from '../../platform/outbox/engine.queries.ts'
import type { Clock } from '../../platform/kernel/clock.ts'
import { countedWord } from '../../platform/kernel/value-text.ts'
import { createSealer, type Key } from '../../platform/storage/seal.ts'
import { selectReport } from '../canary/canary.queries.ts'
import { readDatabaseFacts, readJobs } from './doctor.queries.ts'
import { type Finding, note, ok, problem, reasonText } from './finding.ts'

/** Later than this, something does not work. */
const MAX_SPOOL_MS = 60_000
const MAX_DELIVERY_MS = 5 * 60_000
const MAX_JOB_MS = 15 * 60_000
const CLOCK_NOTE_MS = 2_000
const CLOCK_PROBLEM_MS = 60_000

/** Version, clock, and whether the service is connected. */
export async function checkDatabase(db: Database, clock: Clock): Promise<Finding[]> {
  const sentMs = clock.now().getTime()
  const { version, now, sizeBytes, isServing } = await readDatabaseFacts(db)
  const middleMs = (sentMs + clock.now().getTime()) / 2
  const apartMs = Math.abs(now.getTime() - middleMs)
  const apart = `the clocks of this machine and of the database are ${(apartMs / 1_000).toFixed(1)} s apart`
  return [
    ok('database', `PostgreSQL ${version}, ${(sizeBytes / 1e9).toFixed(1)} GB`),
    apartMs > CLOCK_PROBLEM_MS
      ? problem(
          'clock',
          `${capital(apart)}. Synchronise both with NTP: sessions, alerts and the audit log depend on them.`,
        )
      : apartMs > CLOCK_NOTE_MS
        ? note('clock', `${apart}. Synchronise both with NTP.`)
        : ok('clock', apart),
    isServing
      ? ok('service', 'is connected to the database')
      : problem('service', 'No process of the service is connected to the database. Start it with npm start.'),
  ]
}

/** Whether the encryption keys open what is sealed. @param keys null where they cannot be read */
export async function checkKeys(db: Database, keys: readonly Key[] | Error): Promise<Finding> {
  const part = 'keys'
  if (keys instanceof Error) return problem(part, `The encryption keys cannot be read: ${reasonText(keys)}`)
  const sealed = await readCanary(db)
  if (sealed === null) return note(part, 'Nothing is sealed yet: the service has not run.')
  try {
    checkCanary(sealed, createSealer(keys))
    return ok(part, 'the encryption keys open what is sealed')
  } catch {
    return problem(
      part,
      'The encryption keys do not open what is sealed in the database. Add the key it was set up with to ENCRYPTION_KEYS.',
    )
  }
}

/** The queues: how much waits, and for how long. */
export async function checkQueues(db: Database, clock: Clock): Promise<Finding[]> {
  const backlog = await selectBacklog(db, clock.now())
  const dueMs = await oldestDueMs(db)
  const jobs = await readJobs(db)
  const quarantined = await countQuarantined(db)
  return [
    backlog.oldestAgeMs > MAX_SPOOL_MS
      ? problem(
          'digestion',
          `${countedWord(backlog.entries, 'request')} wait, the oldest for ${ageText(backlog.oldestAgeMs)}. Look at the log of the processes with the role digest.`,
        )
      : ok(
          'digestion',
          `${countedWord(backlog.entries, 'request')} wait, the oldest for ${ageText(backlog.oldestAgeMs)}`,
        ),
    dueMs > MAX_DELIVERY_MS
      ? problem(
          'deliveries',
          `The oldest delivery is due since ${ageText(dueMs)}. Look at the log of the processes with the role deliver.`,
        )
      : ok('deliveries', dueMs === 0 ? 'none is late' : `the oldest is due since ${ageText(dueMs)}`),
    jobs.waitedMs > MAX_JOB_MS
      ? problem(
          'jobs',
          `The job ${jobs.task} is due since ${ageText(jobs.waitedMs)}. Does a process with the role schedule run? Look at its log.`,
        )
      : ok('jobs', 'none is late'),
    ...(jobs.givenUp > 0
      ? [
          problem(
            'jobs',
            `${countedWord(jobs.givenUp, 'job')} failed too often. The log of the service has the reasons.`,
          ),
        ]
      : []),
    quarantined > 0
      ? problem(
          'quarantine',
          `${countedWord(quarantined, 'request')} could not be digested. "${operatorCommand('quarantine list')}" has the reasons. After an upgrade that can process them, "${operatorCommand('quarantine retry --all')}" digests them.`,
        )
      : ok('quarantine', 'is empty'),
  ]
}

/** Whether alerts arrive, as the end-to-end test found. */
export async function checkAlerts(db: Database): Promise<Finding | null> {
  const { state, explanation } = await selectReport(db)
  if (state === 'broken' || state === 'late') return problem('alerts', `Alerts do not arrive. ${explanation}`)
  return state === 'ok' ? ok('alerts', 'arrive, as the end-to-end test says') : null
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** `3 s`, `12 min`, `2 h`, `4 days` */
export function ageText(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`
}
