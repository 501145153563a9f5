import { z } from 'zod'
import type { IssueStatus } from './issue.api.ts'
import type { IgnoreProgress } from './ignoring.ts'
import type { Fix } from './resolution.ts'
import type { Life, Resolved } from './life-cycle.ts'

/**
 * Life-cycle state ↔ columns of an issue. An unreadable resolution counts as resolved without a fix, an unreadable
 * condition as ignored without one.
 */

const Time = z.iso.datetime({ offset: true }).transform((text) => new Date(text))

export const StoredFix = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('now') }),
  z.object({ kind: z.literal('release'), versions: z.array(z.string()).min(1) }),
  z.object({ kind: z.literal('next'), after: z.string().nullable(), besides: z.array(z.string()).optional() }),
  z.object({ kind: z.literal('commit'), sha: z.string() }),
])

const Late = z.object({
  entryId: z.string(),
  before: z.number(),
  unfixed: z.number(),
  unnamed: z.number().default(0),
  unknown: z.number().default(0),
  release: z.string().nullable(),
  unknownRelease: z.string().nullable().default(null),
})
/** Column `resolution`: the fix, and the late events counted since. */
const StoredResolution = z.intersection(
  StoredFix,
  z.object({ automatic: z.boolean(), late: Late.nullable().catch(null) }),
)

const StoredUntil = z.object({
  time: z.string().optional(),
  count: z.number().optional(),
  users: z.number().optional(),
  window: z.number().optional(),
  escalating: z.literal(true).optional(),
})

const StoredProgress = z.object({
  at: Time,
  events: z.number(),
  users: z.number(),
  window: z.array(z.tuple([z.number(), z.number(), z.number()])),
})

export const LIFE_COLUMNS = [
  'status',
  'status_reason',
  'status_changed_at',
  'open_since',
  'resolved_at',
  'resolution',
  'ignore_until',
  'ignore_progress',
  'escalated_at',
  'over_limit_at',
] as const

export type LifeRow = {
  status: IssueStatus
  status_reason: string | null
  status_changed_at: Date
  open_since: Date
  resolved_at: Date | null
  resolution: unknown
  ignore_until: unknown
  ignore_progress: unknown
  escalated_at: Date | null
  over_limit_at: Date | null
}

export function lifeFrom(row: LifeRow): Life {
  return {
    status: row.status,
    reason: row.status_reason,
    changedAt: row.status_changed_at,
    openSince: row.open_since,
    resolved: row.status === 'resolved' ? resolvedFrom(row) : null,
    ignored: row.status === 'ignored' ? { until: untilFrom(row.ignore_until), progress: progressFrom(row) } : null,
    escalatedAt: row.escalated_at,
    overLimitAt: row.over_limit_at,
  }
}

function resolvedFrom(row: LifeRow): Resolved {
  const at = row.resolved_at ?? row.status_changed_at
  const stored = StoredResolution.safeParse(row.resolution)
  if (!stored.success) return { at, fix: { kind: 'now' }, automatic: false, late: null }
  return { at, fix: StoredFix.parse(stored.data), automatic: stored.data.automatic, late: stored.data.late }
}

export function untilFrom(stored: unknown): z.output<typeof StoredUntil> | null {
  const until = StoredUntil.safeParse(stored)
  return until.success ? until.data : null
}

function progressFrom(row: LifeRow): IgnoreProgress {
  const progress = StoredProgress.safeParse(row.ignore_progress)
  return progress.success ? progress.data : { at: row.status_changed_at, events: 0, users: 0, window: [] }
}

/** Returns the fix of a resolved issue, or null if there is none. */
export function fixFrom(stored: unknown): Fix | null {
  const fix = StoredFix.safeParse(stored)
  return fix.success ? fix.data : null
}

/** Returns the columns that a change of the state writes, as JSON for one statement over many rows. */
export function lifeColumns(life: Life) {
  const { resolved, ignored } = life
  const fix = resolved?.fix
  return {
    status: life.status,
    status_reason: life.reason,
    status_changed_at: life.changedAt,
    open_since: life.openSince,
    resolved_at: resolved?.at ?? null,
    // Only the first of several; `resolution` has all.
    resolved_in_release: fix?.kind === 'release' ? (fix.versions[0] ?? null) : null,
    resolution: resolved === null ? null : { ...resolved.fix, automatic: resolved.automatic, late: resolved.late },
    pending_commit: fix?.kind === 'commit' ? fix.sha : null,
    ignore_until: ignored?.until ?? null,
    ignore_progress: ignored?.progress ?? null,
    unignore_at: ignored?.until?.time ?? null,
    escalated_at: life.escalatedAt,
    over_limit_at: life.overLimitAt,
  }
}
