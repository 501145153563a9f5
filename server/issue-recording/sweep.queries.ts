import { CALM_MS } from '../issue-rules/escalating.ts'
import { LIFE_COLUMNS, type LifeRow } from '../issue-rules/life-columns.ts'
import { versionsOfCommit } from '../issue-rows/resolution.queries.ts'
import type { Tx } from '../storage/database.ts'

/** SQL of the sweeps: candidates by index, locked, a bounded piece at a time; what digestion holds is left for later. */

export const BATCH = 500

export type SweptRow = LifeRow & {
  id: string
  org_id: string
  project_id: string
  last_seen: Date
  severity: number
  severity_pinned: boolean
  event_severity: number
  high_impact_day: string | null
  users_today: number
}

const COLUMNS = [
  'id',
  'org_id',
  'project_id',
  'last_seen',
  'severity',
  'severity_pinned',
  'event_severity',
  'high_impact_day',
  'users_today',
  ...LIFE_COLUMNS,
]
  .map((column) => `i.${column}`)
  .join(', ')
/** Those hidden behind another one keep still until they are taken out again. */
const LOCKED = `and i.merged_into is null limit ${BATCH} for no key update of i skip locked`

/** Ignored until a time that has come. */
export const lockIgnoredUntil = async (tx: Tx, now: Date): Promise<SweptRow[]> =>
  (await tx.query<SweptRow>(`select ${COLUMNS} from issues i where i.unignore_at <= $1 ${LOCKED}`, [now])).rows

/** Resolved in a commit that releases have by now, with those releases. */
export const lockReleased = async (tx: Tx): Promise<(SweptRow & { versions: string[] })[]> =>
  (
    await tx.query<SweptRow & { versions: string[] }>(
      `select ${COLUMNS}, r.versions from issues i cross join lateral (
         select array_agg(k.version) as versions from (${versionsOfCommit('i.project_id', 'i.pending_commit')}) k
       ) r
       where i.pending_commit is not null and r.versions is not null ${LOCKED}`,
    )
  ).rows

/** Escalated, and below the limit for long. */
export const lockCalm = async (tx: Tx, now: Date): Promise<SweptRow[]> =>
  (
    await tx.query<SweptRow>(
      `select ${COLUMNS} from issues i
       where i.status = 'escalated' and coalesce(i.over_limit_at, i.status_changed_at) <= $1 ${LOCKED}`,
      [new Date(now.getTime() - CALM_MS)],
    )
  ).rows

/** Projects that resolve what was not seen since. */
export type QuietSince = { readonly projectId: string; readonly orgId: string; readonly before: Date }

/** Open, and without an event since. Organisation and status find them by the index lists use. */
export const lockQuiet = async (tx: Tx, projects: readonly QuietSince[]): Promise<SweptRow[]> =>
  (
    await tx.query<SweptRow>(
      `select ${COLUMNS} from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) p (id, org_id, before)
       join issues i on i.org_id = p.org_id and i.project_id = p.id and i.seen_slot <= p.before and i.last_seen <= p.before and i.open_since <= p.before
         and i.status = any('{unresolved,regressed,escalated}')
       ${LOCKED}`,
      [
        projects.map((project) => project.projectId),
        projects.map((project) => project.orgId),
        projects.map((project) => project.before),
      ],
    )
  ).rows

/** Reached many on a day that no longer counts. */
export const lockPastHighImpact = async (tx: Tx, yesterday: string): Promise<SweptRow[]> =>
  (
    await tx.query<SweptRow>(`select ${COLUMNS} from issues i where i.high_impact_day < $1::date ${LOCKED}`, [
      yesterday,
    ])
  ).rows

/** Of a project: at least so many users today, on errors, and not yet known to reach many. */
export const lockHighImpact = async (tx: Tx, projectId: string, today: string, minUsers: number): Promise<SweptRow[]> =>
  (
    await tx.query<SweptRow>(
      `select ${COLUMNS} from issues i
       where i.project_id = $1 and i.last_seen >= $2::date and i.users_day = $2::date and i.users_today >= $3
         and i.event_severity >= 2 and (i.high_impact_day is null or i.high_impact_day < $2::date) ${LOCKED}`,
      [projectId, today, minUsers],
    )
  ).rows

/** A day in UTC on which an issue reached many, and its severity then. */
export type RatedIssue = { readonly id: string; readonly highImpactDay: string | null; readonly severity: number }

export async function writeRatings(tx: Tx, issues: readonly RatedIssue[]): Promise<void> {
  await tx.query(
    `update issues i set high_impact_day = k.high_impact_day, severity = k.severity
     from unnest($1::uuid[], $2::date[], $3::smallint[]) k (id, high_impact_day, severity) where i.id = k.id`,
    [issues.map((one) => one.id), issues.map((one) => one.highImpactDay), issues.map((one) => one.severity)],
  )
}
