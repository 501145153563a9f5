import type { Figure } from '../http/metrics.ts'
import type { Intake } from '../intake/create-intake.ts'
import { LATENCY_BOUNDS_MS } from '../intake/intake-counters.ts'

/** Sums of digestion, whoever does it. */
export type DigestSums = {
  readonly entries: number
  readonly events: number
  readonly duplicates: number
  readonly quarantined: number
  readonly batches: number
}

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
  const gauge = (name: string, help: string, value: number): Figure => ({
    name: `faultline_spool_${name}`,
    help,
    kind: 'gauge',
    value,
  })
  const backlog = await spool.backlog().catch(() => null)
  const disk = spool.disk()
  let cumulated = 0
  return [
    counter('requests_total', 'Requests of SDKs.', counters.requests),
    counter('accepted_total', 'Requests whose data is on disk.', counters.accepted),
    counter('accepted_bytes_total', 'Bodies of accepted requests, as they came.', counters.acceptedBytes),
    counter('aborted_total', 'Requests whose client went away half-way.', counters.aborted),
    ...[...counters.answers].map(([status, n]) =>
      counter('answers_total', 'Answers by status.', n, { status: String(status) }),
    ),
    ...Object.entries(counters.dropped).map(([reason, n]) =>
      counter('dropped_items_total', 'Items dropped at the door, by reason.', n, { reason }),
    ),
    counter(
      'let_through_total',
      'Events over their limit, let through because their kind was new.',
      counters.letThrough,
    ),
    ...counters.latency.map((n, index) => {
      cumulated += n
      const bound = LATENCY_BOUNDS_MS[index]
      return counter('latency_seconds_bucket', 'Accepted requests by time from headers to commit.', cumulated, {
        le: bound === undefined ? '+Inf' : String(bound / 1000),
      })
    }),
    counter('latency_seconds_sum', 'Time of accepted requests in all.', counters.latencySumMs / 1000),
    counter('latency_seconds_count', 'Accepted requests with a time.', cumulated),
    gauge(
      'open',
      'Whether the intake takes anything: 0 while the spool is full, the disk short or the database away.',
      spool.readiness() === 'open' ? 1 : 0,
    ),
    ...(disk === null
      ? []
      : [gauge('disk_free_bytes', 'Free on the volume of the embedded database.', disk.freeBytes)]),
    gauge('waiting_entries', 'Entries waiting in memory for their commit.', waiting.entries),
    gauge('waiting_bytes', 'Bytes waiting in memory for their commit.', waiting.bytes),
    ...(backlog === null
      ? []
      : [
          gauge('backlog_entries', 'Entries on disk, not digested yet.', backlog.entries),
          gauge('backlog_bytes', 'Bytes on disk, not digested yet.', backlog.bytes),
          gauge('backlog_age_seconds', 'Age of the oldest of them.', backlog.oldestAgeMs / 1000),
        ]),
  ]
}

export function digestFigures(sums: DigestSums): Figure[] {
  const counter = (name: string, help: string, value: number): Figure => ({
    name: `faultline_digest_${name}_total`,
    help,
    kind: 'counter',
    value,
  })
  return [
    counter('entries', 'Spooled requests digested.', sums.entries),
    counter('events', 'Events stored.', sums.events),
    counter('duplicates', 'Events that were stored before.', sums.duplicates),
    counter('quarantined', 'Requests set aside because they could not be digested.', sums.quarantined),
    counter('batches', 'Transactions of digestion.', sums.batches),
  ]
}
