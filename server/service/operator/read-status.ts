import { statfs } from 'node:fs/promises'
import { isOperator } from '../../identity/auth/auth.queries.ts'
import { readBacklog } from '../../ingest/spool/project-backlog.ts'
import { countQuarantined, quarantineByReason } from '../../ingest/spool/spool.queries.ts'
import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { DAY_MS, dayPlus, MINUTE_MS, utcDay } from '../../platform/kernel/day.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { oldestDueMs } from '../../platform/outbox/engine.queries.ts'
import { oldestDay } from '../../projects/registry/general-settings.ts'
import { selectAllSettings } from '../../projects/registry/projects.queries.ts'
import { readBackupTimes } from '../backup/backup-runs.queries.ts'
import { readCanary } from '../canary/create-canary.ts'
import { checkBackups } from '../doctor/check-backups.ts'
import { checkAlerts, checkDatabase, checkQueues } from '../doctor/check-database.ts'
import { checkMover } from '../doctor/check-intake-log.ts'
import { checkBodiesPlace } from '../doctor/check-stores.ts'
import { checkDisk } from '../doctor/check-surroundings.ts'
import { readDatabaseFacts, readJobs } from '../doctor/doctor.queries.ts'
import { judgeBackups, listConcerns, daysUntilFull, meanOfDays, judgeConcerns } from './judge-status.ts'
import type { OperatorStatus } from './operator.api.ts'
import * as sql from './operator.queries.ts'

/** The installation is asked at most this often, however many look. */
const FRESH_MS = 5_000
const MAX_COUNTED = 10_000
const MAX_REASONS = 20
const GROWTH_DAYS = 7
const QUARTER_MS = 15 * MINUTE_MS

type Read = { readonly atMs: number; readonly status: Promise<OperatorStatus> }
const reads = new WeakMap<App['db'], Read>()

/**
 * The status of the installation.
 * @throws AppError not_found for everyone but owners of the organisation that set it up
 */
export async function readOperatorStatus(app: App, actor: SessionActor): Promise<OperatorStatus> {
  if (!(await isOperator(app.db, actor))) throw notFound('Page')
  const atMs = app.clock.monotonicMs()
  const before = reads.get(app.db)
  if (before !== undefined && atMs - before.atMs < FRESH_MS) return before.status
  const status = readStatus(app)
  reads.set(app.db, { atMs, status })
  // A failure is not kept.
  status.catch(() => reads.delete(app.db))
  return status
}

async function readStatus(app: App): Promise<OperatorStatus> {
  const { db, clock, config } = app
  const now = clock.now()
  const dayAgo = new Date(now.getTime() - DAY_MS)
  const [
    minutes,
    dropped,
    backlog,
    dueMs,
    deliveries,
    jobs,
    dueJobs,
    canary,
    backups,
    quarantine,
    quarantined,
    runs,
    facts,
  ] = await Promise.all([
    sql.sumMinutes(db, dayAgo),
    sql.sumDropped(db, dayAgo),
    readBacklog(app),
    oldestDueMs(db),
    sql.countDeliveries(db, MAX_COUNTED),
    readJobs(db),
    sql.countJobs(db, MAX_COUNTED),
    readCanary(app),
    readBackupTimes(db, config.backup.folder),
    quarantineByReason(db, MAX_REASONS),
    countQuarantined(db),
    sql.lastRuns(db),
    readDatabaseFacts(db),
  ])
  const findings = [
    ...(await checkDatabase(db, clock)),
    ...(await checkQueues(db, clock)),
    ...(await checkMover(db, config, now)),
    await checkBodiesPlace(db, config),
    await checkAlerts(db),
    ...(await checkBackups(db, config, now)),
    ...(config.databaseUrl === null ? [await checkDisk(config.dataDir)] : []),
  ]
  const disk = config.databaseUrl === null ? await diskOf(config.dataDir) : null
  const bytesPerDay = await growthOf(app, now)
  const daysLeft = daysUntilFull(disk, bytesPerDay)
  const concerns = listConcerns(findings, canary, daysLeft)
  return {
    version: config.version,
    started_at: new Date(now.getTime() - Math.round(process.uptime() * 1000)).toISOString(),
    at: now.toISOString(),
    verdict: judgeConcerns(concerns),
    concerns,
    events: { ...viewMinutes(minutes, now), dropped_24h: dropped },
    queues: [
      {
        name: 'spool',
        waiting: backlog.entries,
        oldest_seconds: backlog.oldestAgeMs / 1000,
        given_up: quarantined,
      },
      { name: 'deliveries', waiting: deliveries, oldest_seconds: dueMs / 1000, given_up: null },
      { name: 'jobs', waiting: dueJobs, oldest_seconds: jobs.waitedMs / 1000, given_up: jobs.givenUp },
    ],
    canary,
    backups: {
      state: judgeBackups(backups),
      is_scheduled: config.backup.folder !== null,
      every_hours: config.backup.folder === null ? null : config.backup.everyMs / 3_600_000,
      last_complete_at: backups.completeAt?.toISOString() ?? null,
      last_drill_at: backups.drilledAt?.toISOString() ?? null,
      last_restorable_at: backups.restorableAt?.toISOString() ?? null,
      problem: backups.problem ?? backups.drillProblem,
    },
    quarantine: quarantine.map(({ reason, count, oldest }) => ({ reason, count, oldest_at: oldest.toISOString() })),
    jobs: [...runs].map(([name, at]) => ({ name, last_run_at: at?.toISOString() ?? null })),
    disk: {
      database_bytes: facts.sizeBytes,
      free_bytes: disk?.freeBytes ?? null,
      total_bytes: disk?.totalBytes ?? null,
      bytes_per_day: bytesPerDay,
      days_left: daysLeft,
    },
  }
}

/** Bytes that the last whole days added, less those that retention deletes in as many days from now on; null before three of them. */
async function growthOf({ db }: App, now: Date): Promise<number | null> {
  const today = utcDay(now)
  const kept = (await selectAllSettings(db)).map(({ settings }) => oldestDay(settings, now))
  const oldest = kept.reduce((first, day) => (day < first ? day : first), today)
  const added = meanOfDays(await sql.bytesOfDays(db, dayPlus(today, -GROWTH_DAYS), GROWTH_DAYS))
  const leaving = await sql.bytesOfDays(db, oldest, GROWTH_DAYS)
  return added === null ? null : Math.round(added - leaving.reduce((sum, bytes) => sum + bytes, 0) / GROWTH_DAYS)
}

async function diskOf(folder: string): Promise<{ freeBytes: number; totalBytes: number }> {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}

type EventFigures = Omit<OperatorStatus['events'], 'dropped_24h'>

/** Rates by the minutes in which events arrived. */
export function viewMinutes(minutes: readonly sql.MinuteSum[], now: Date): EventFigures {
  const current = Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS
  const recent = minutes.filter(({ minute }) => {
    const at = minute.getTime()
    return at >= current - 5 * MINUTE_MS && at < current
  })
  const busiest = minutes.reduce<sql.MinuteSum | null>(
    (top, one) => (one.events > (top?.events ?? 0) ? one : top),
    null,
  )
  const first = Math.floor((current - DAY_MS) / QUARTER_MS) * QUARTER_MS + QUARTER_MS
  const sums = new Map<number, number>()
  for (const { minute, events } of minutes) {
    const quarter = Math.floor(minute.getTime() / QUARTER_MS) * QUARTER_MS
    sums.set(quarter, (sums.get(quarter) ?? 0) + events)
  }
  const quarters = Array.from({ length: DAY_MS / QUARTER_MS }, (_, index) => first + index * QUARTER_MS)
  return {
    per_second: recent.reduce((sum, { events }) => sum + events, 0) / 300,
    busiest_per_second: (busiest?.events ?? 0) / 60,
    busiest_at: busiest?.minute.toISOString() ?? null,
    by_quarter_hour: quarters.map((at) => ({
      t: new Date(at).toISOString(),
      per_second: (sums.get(at) ?? 0) / (QUARTER_MS / 1000),
    })),
  }
}
