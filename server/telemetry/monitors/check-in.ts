import type { CheckIn } from '../../events/protocol/check-in.ts'
import type { Note } from '../../events/protocol/strings.ts'
import type { SentStatus } from '../../events/protocol/telemetry.api.ts'

/** A run of a job, as reported by its check-ins. */
export type Run = {
  /** 32 hex digits. */
  readonly id: string
  readonly monitorId: string
  readonly projectId: string
  readonly status: SentStatus
  readonly environment: string
  readonly release: string | null
  readonly traceId: string | null
  readonly durationMs: number | null
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
  readonly receivedAt: Date
  readonly updatedAt: Date
  readonly notes: readonly Note[]
}

const RANK: Readonly<Record<SentStatus, number>> = { in_progress: 0, ok: 1, error: 2 }
const MAX_NOTES = 50

type RunOf = { readonly id: string; readonly monitorId: string; readonly projectId: string }

/**
 * Applies a check-in to a run (null: the first one). Order and repetition of check-ins do not matter: the status only
 * moves forward (in progress → ok → error), and the earliest start and end are kept.
 */
export function afterCheckIn(run: Run | null, of: RunOf, checkIn: CheckIn, receivedAt: Date): Run {
  const isStart = checkIn.status === 'in_progress'
  if (run === null) {
    return {
      ...of,
      status: checkIn.status,
      environment: checkIn.environment,
      release: checkIn.release,
      traceId: checkIn.traceId,
      durationMs: checkIn.durationMs,
      startedAt: isStart ? receivedAt : null,
      finishedAt: isStart ? null : receivedAt,
      receivedAt,
      updatedAt: receivedAt,
      notes: checkIn.notes,
    }
  }
  return {
    ...run,
    status: RANK[checkIn.status] > RANK[run.status] ? checkIn.status : run.status,
    release: run.release ?? checkIn.release,
    traceId: run.traceId ?? checkIn.traceId,
    durationMs: maxOf(run.durationMs, checkIn.durationMs),
    startedAt: isStart ? earliest(run.startedAt, receivedAt) : run.startedAt,
    finishedAt: isStart ? run.finishedAt : earliest(run.finishedAt, receivedAt),
    receivedAt: earliest(run.receivedAt, receivedAt),
    updatedAt: run.updatedAt > receivedAt ? run.updatedAt : receivedAt,
    notes: mergeNotes(run.notes, checkIn.notes),
  }
}

/** Start of a run: as reported, else computed from end and duration, else null. */
export function runStart(run: Pick<Run, 'startedAt' | 'finishedAt' | 'durationMs'>): Date | null {
  const { startedAt, finishedAt, durationMs } = run
  const isReported = startedAt !== null && (finishedAt === null || startedAt <= finishedAt)
  if (isReported || finishedAt === null || durationMs === null) return isReported ? startedAt : null
  return new Date(finishedAt.getTime() - durationMs)
}

/** Duration of a run in milliseconds: as sent, else from start to end; null while it runs. */
export function runDuration(run: Pick<Run, 'startedAt' | 'finishedAt' | 'durationMs'>): number | null {
  if (run.durationMs !== null) return run.durationMs
  const started = runStart(run)
  return started === null || run.finishedAt === null ? null : run.finishedAt.getTime() - started.getTime()
}

const earliest = (a: Date | null, b: Date): Date => (a !== null && a < b ? a : b)
const maxOf = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b)

function mergeNotes(a: readonly Note[], b: readonly Note[]): readonly Note[] {
  const fresh = b.filter((note) => !a.some((one) => one.name === note.name && one.reason === note.reason))
  return fresh.length === 0 ? a : [...a, ...fresh].slice(0, MAX_NOTES)
}
