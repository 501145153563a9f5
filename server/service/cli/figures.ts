import { readBackupTimes } from '../backup/backup-runs.queries.ts'
import { CANARY_CHANNEL } from '../canary/canary-channel.ts'
import type { Figure } from '../http/metrics.ts'
import type { DigestSums } from '../../ingest/digest/digester.ts'
import type { Intake } from '../../ingest/intake/create-intake.ts'
import { oldestDueMs } from '../../platform/outbox/engine.queries.ts'
import type { DelivererFigures } from '../../platform/outbox/start-deliverer.ts'
import { largestLags } from '../../ingest/spool/project-backlog.ts'
import type { Mover, OpenLog } from '../../ingest/spool/open-intake-log.ts'
import type { App } from '../../platform/context/app.ts'
import type { Database } from '../../platform/storage/database.ts'

/** Figures of the intake since the process started, for `/-/metrics`. */
export async function intakeFigures(intake: Intake): Promise<Figure[]> {
  const { counters, spool } = intake
  const waiting = spool.waiting()
  const counter = (name: string, help: string, value: number, labels: Record<string, string> = {}): Figure => ({
    name: `faultline_intake_${name}`,
    help,
    kind: 'counter',
    value,
    labels,
  })
  const spoolFigure =
    (kind: Figure['kind']) =>
    (name: string, help: string, value: number): Figure => ({
      name: `faultline_spool_${name}`,
      help,
      kind,
      value,
    })
  const [gauge, spoolCounter] = [spoolFigure('gauge'), spoolFigure('counter')]
  const file = spool.fileFigures()
  const backlog = await spool.backlog().catch(() => null)
  const disk = spool.disk()
  let cumulated = 0
  return [
    counter('requests_total', 'Requests of SDKs.', counters.requests),
    counter('accepted_total', 'Requests whose data is on disk.', counters.accepted),
    counter('accepted_bytes_total', 'Bytes of accepted bodies, as received.', counters.acceptedBytes),
    counter('aborted_total', 'Requests whose client disconnected before the end.', counters.aborted),
    ...[...counters.answers].map(([status, n]) =>
      counter('answers_total', 'Answers by status.', n, { status: String(status) }),
    ),
    ...Object.entries(counters.dropped).map(([reason, n]) =>
      counter('dropped_items_total', 'Items that the intake dropped, by reason.', n, { reason }),
    ),
    counter(
      'let_through_total',
      'Events over their limit that flood sampling accepted because their fingerprint was new.',
      counters.letThrough,
    ),
    ...counters.latency.map((n, index) => {
      cumulated += n
      const bound = counters.latencyBoundsMs[index]
      return counter(
        'latency_seconds_bucket',
        'Accepted requests by time from their headers to their commit.',
        cumulated,
        {
          le: bound === undefined ? '+Inf' : String(bound / 1000),
        },
      )
    }),
    counter('latency_seconds_sum', 'Total time of accepted requests.', counters.latencySumMs / 1000),
    counter('latency_seconds_count', 'Accepted requests that were timed.', cumulated),
    gauge(
      'open',
      'Whether the intake accepts requests: 0 while the spool is full, the disk is nearly full or the database is unreachable, or, with an intake log, while that is full or unreachable.',
      spool.readiness() === 'open' ? 1 : 0,
    ),
    ...(disk === null
      ? []
      : [gauge('disk_free_bytes', 'Free bytes on the volume of the embedded database.', disk.freeBytes)]),
    ...(file === null
      ? []
      : [
          spoolCounter('file_entries_total', 'Requests that the file of the spool took.', file.entries),
          spoolCounter('file_moved_rows_total', 'Rows that were moved from the file into the table.', file.moved),
        ]),
    gauge('waiting_entries', 'Entries in memory that wait for their commit.', waiting.entries),
    gauge('waiting_bytes', 'Bytes in memory that wait for their commit.', waiting.bytes),
    ...(backlog === null
      ? []
      : [
          gauge('backlog_entries', 'Entries in the spool that are not digested yet.', backlog.entries),
          gauge('backlog_bytes', 'Bytes in the spool that are not digested yet.', backlog.bytes),
          gauge('backlog_age_seconds', 'Age of the oldest entry in the spool.', backlog.oldestAgeMs / 1000),
        ]),
  ]
}

/** The intake log: what waits in it, for all processes, and what this one wrote and moved. */
export async function logFigures(used: OpenLog, mover: Mover | null): Promise<Figure[]> {
  const figure = (kind: Figure['kind'], name: string, help: string, value: number): Figure => ({
    name: `faultline_intake_log_${name}`,
    help,
    kind,
    value,
  })
  const { log } = used
  const waiting = await used.backlog().catch(() => null)
  return [
    figure('gauge', 'up', 'Whether the intake log answers.', waiting === null ? 0 : 1),
    ...(waiting === null
      ? []
      : [
          figure('gauge', 'backlog_messages', 'Messages that wait to be moved into the spool.', waiting.messages),
          figure('gauge', 'backlog_bytes', 'Bytes of messages that wait to be moved.', waiting.bytes),
          figure('gauge', 'backlog_age_seconds', 'Age of the oldest message that waits.', waiting.oldestAgeMs / 1000),
        ]),
    figure('gauge', 'max_bytes', 'Size at which the log refuses.', log.maxBytes),
    figure('counter', 'stored_total', 'Rows that the log acknowledged.', log.figures.stored),
    figure(
      'counter',
      'publish_retries_total',
      'Attempts to store a row that failed and were repeated.',
      log.figures.retries,
    ),
    figure(
      'counter',
      'publish_errors_total',
      'Rows that could not be stored; their requests were refused.',
      log.figures.errors,
    ),
    ...(mover === null
      ? []
      : [
          figure('counter', 'moved_total', 'Messages that this process moved into the spool.', mover.figures.messages),
          figure(
            'counter',
            'unreadable_total',
            'Messages that are none of ours and were left out.',
            mover.figures.unreadable,
          ),
          figure('counter', 'missing_total', 'Messages that all replicas lost.', mover.figures.missing),
          figure(
            'counter',
            'position_restarts_total',
            'Moves that stopped because the log or its position changed.',
            mover.figures.restarts,
          ),
        ]),
  ]
}

/** The cost of log-ins for this process: most of a log-in is its hash. */
export const passwordFigures = ({ passwords }: App): Figure[] => [
  {
    name: 'faultline_password_hashes_total',
    help: 'Hashes of passwords and codes that were computed.',
    kind: 'counter',
    value: passwords.computed(),
  },
]

/** @param threads that digest now; in their sums are ended ones too */
export function digestFigures(sums: DigestSums, threads: number): Figure[] {
  const counter = (name: string, help: string, value: number): Figure => ({
    name: `faultline_digest_${name}_total`,
    help,
    kind: 'counter',
    value,
  })
  return [
    counter('entries', 'Spooled requests digested.', sums.entries),
    counter('events', 'Events stored.', sums.events),
    counter('duplicates', 'Events that were already stored.', sums.duplicates),
    counter('quarantined', 'Requests moved to quarantine because they could not be digested.', sums.quarantined),
    counter('batches', 'Batches that digestion committed.', sums.batches),
    {
      name: 'faultline_digest_threads',
      help: 'Threads that digest: more than one while a backlog lasts.',
      kind: 'gauge',
      value: threads,
    },
  ]
}

/** Spool backlogs of the projects that wait longest for digestion, for all processes; at most ten projects. */
export async function lagFigures(app: App): Promise<Figure[]> {
  const lags = await largestLags(app).catch(() => [])
  return lags.flatMap(({ projectNumber, entries, bytes, oldestAgeMs }) => {
    const gauge = (name: string, help: string, value: number): Figure => ({
      name: `faultline_spool_project_${name}`,
      help: `${help} Of the ten projects that wait longest.`,
      kind: 'gauge',
      value,
      labels: { project: String(projectNumber) },
    })
    return [
      gauge('backlog_entries', 'Entries of a project that are not digested yet.', entries),
      gauge('backlog_bytes', 'Bytes of a project that are not digested yet.', bytes),
      gauge('backlog_age_seconds', 'Age of the oldest entry of a project.', oldestAgeMs / 1_000),
    ]
  })
}

/** Figures of this process's deliveries; the age covers the deliveries of all processes. */
export async function deliveryFigures(db: Database, figures: DelivererFigures): Promise<Figure[]> {
  const oldestMs = await oldestDueMs(db).catch(() => null)
  const gauge = (name: string, help: string, value: number): Figure => ({
    name: `faultline_deliveries_${name}`,
    help,
    kind: 'gauge',
    value,
  })
  return [
    ...[...figures.attempts].filter(isShown).flatMap(([channel, sums]) =>
      Object.entries(sums).map(([outcome, value]): Figure => ({
        name: 'faultline_delivery_attempts_total',
        help: 'Attempts of deliveries, by channel and outcome.',
        kind: 'counter',
        value,
        labels: { channel, outcome },
      })),
    ),
    ...[...figures.notSent].filter(isShown).map(([channel, value]): Figure => ({
      name: 'faultline_deliveries_not_sent_total',
      help: 'Deliveries that waited because their channel could not send them yet, such as for a connection.',
      kind: 'counter',
      value,
      labels: { channel },
    })),
    gauge('in_flight', 'Deliveries that this process has and has not recorded yet.', figures.inFlight),
    ...(oldestMs === null
      ? []
      : [gauge('oldest_due_seconds', 'Age of the oldest delivery that is due.', oldestMs / 1000)]),
  ]
}

/** Figures of scheduled backups; none without a schedule, and no age before the first one. */
export async function backupFigures({ db, config, clock }: App): Promise<Figure[]> {
  const { folder } = config.backup
  if (folder === null) return []
  const times = await readBackupTimes(db, folder).catch(() => null)
  if (times === null) return []
  const age = (name: string, help: string, since: Date | null): Figure[] =>
    since === null
      ? []
      : [{ name: `faultline_${name}`, help, kind: 'gauge', value: (clock.now().getTime() - since.getTime()) / 1_000 }]
  return [
    ...age('backup_age_seconds', 'Age of the newest complete backup.', times.completeAt),
    ...age('restore_drill_age_seconds', 'Age of the last restore drill that passed.', times.restorableAt),
  ]
}

/** The canary's channel has no figures. */
const isShown = ([channel]: readonly [string, unknown]): boolean => channel !== CANARY_CHANNEL
