import type { CheckIn } from '../protocol/check-in.ts'
import type { Note } from '../protocol/notes.ts'
import type { SentStatus } from '../protocol/telemetry.api.ts'

/** A run of a job, as its check-ins report it. */
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

export type RunOf = { readonly id: string; readonly monitorId: string; readonly projectId: string }

/**
 * What a run is once another check-in of it came. The order of check-ins does not matter, nor does hearing one twice: a
 * run only moves forward (in progress → ok → error), and keeps its earliest start and end.
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
    durationMs: largest(run.durationMs, checkIn.durationMs),
    startedAt: isStart ? earliest(run.startedAt, receivedAt) : run.startedAt,
    finishedAt: isStart ? run.finishedAt : earliest(run.finishedAt, receivedAt),
    receivedAt: earliest(run.receivedAt, receivedAt),
    updatedAt: run.updatedAt > receivedAt ? run.updatedAt : receivedAt,
    notes: together(run.notes, checkIn.notes),
  }
}

/** When it began: as heard, else reckoned back from its end. */
export function startOf(run: Pick<Run, 'startedAt' | 'finishedAt' | 'durationMs'>): Date | null {
  const { startedAt, finishedAt, durationMs } = run
  const isHeard = startedAt !== null && (finishedAt === null || startedAt <= finishedAt)
  if (isHeard || finishedAt === null || durationMs === null) return isHeard ? startedAt : null
  return new Date(finishedAt.getTime() - durationMs)
}

/** How long it took: as sent, else from start to end; null while it runs. */
export function durationOf(run: Pick<Run, 'startedAt' | 'finishedAt' | 'durationMs'>): number | null {
  if (run.durationMs !== null) return run.durationMs
  const started = startOf(run)
  return started === null || run.finishedAt === null ? null : run.finishedAt.getTime() - started.getTime()
}

const earliest = (a: Date | null, b: Date): Date => (a !== null && a < b ? a : b)
const largest = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b)

function together(a: readonly Note[], b: readonly Note[]): readonly Note[] {
  const fresh = b.filter((note) => !a.some((one) => one.name === note.name && one.reason === note.reason))
  return fresh.length === 0 ? a : [...a, ...fresh].slice(0, MAX_NOTES)
}
