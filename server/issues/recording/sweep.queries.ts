import { CALM_MS } from '../rules/life-cycle.ts'
import { LIFE_COLUMNS, type LifeRow } from '../rules/life-columns.ts'
import { versionsOfCommit } from '../rows/issues.queries.ts'
import type { Tx } from '../../platform/storage/database.ts'

/** SQL of sweeps: finds candidates by index and locks a bounded number; skips issues that digestion has locked. */

/** Issues of one statement. */
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
/** Merged issues do not change before they are unmerged. */
const LOCKED = `and i.merged_into is null limit ${BATCH} for no key update of i skip locked`

/** Issues that were ignored until a time that has passed. */
export const lockIgnoredUntil = async (tx: Tx, now: Date): Promise<SweptRow[]> =>
  (await tx.query<SweptRow>(`select ${COLUMNS} from issues i where i.unignore_at <= $1 ${LOCKED}`, [now])).rows

/** Issues resolved in a commit that is part of releases now, with those releases. */
export const lockReleased = async (tx: Tx): Promise<(SweptRow & { versions: string[] })[]> =>
  (
    await tx.query<SweptRow & { versions: string[] }>(
      `select ${COLUMNS}, r.versions from issues i cross join lateral (
         select array_agg(k.version) as versions from (${versionsOfCommit('i.project_id', 'i.pending_commit')}) k
       ) r
       where i.pending_commit is not null and r.versions is not null ${LOCKED}`,
    )
  ).rows

/** Escalated issues that have stayed below their limit. */
export const lockCalm = async (tx: Tx, now: Date): Promise<SweptRow[]> =>
  (
    await tx.query<SweptRow>(
      `select ${COLUMNS} from issues i
       where i.status = 'escalated' and coalesce(i.over_limit_at, i.status_changed_at) <= $1 ${LOCKED}`,
      [new Date(now.getTime() - CALM_MS)],
    )
  ).rows

/** A project that resolves issues without an event since `before`. */
type QuietSince = { readonly projectId: string; readonly orgId: string; readonly before: Date }

/** Open issues without an event since. Organisation and status select the index of lists. */
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

/** Issues whose high-impact day is over. */
export const lockPastHighImpact = async (tx: Tx, yesterday: string): Promise<SweptRow[]> =>
  (
    await tx.query<SweptRow>(`select ${COLUMNS} from issues i where i.high_impact_day < $1::date ${LOCKED}`, [
      yesterday,
    ])
  ).rows

/** Errors and crashes of a project with at least `minUsers` today for which today is not a high-impact day yet. */
export const lockHighImpact = async (tx: Tx, projectId: string, today: string, minUsers: number): Promise<SweptRow[]> =>
  (
    await tx.query<SweptRow>(
      `select ${COLUMNS} from issues i
       where i.project_id = $1 and i.last_seen >= $2::date and i.users_day = $2::date and i.users_today >= $3
         and i.event_severity >= 2 and (i.high_impact_day is null or i.high_impact_day < $2::date) ${LOCKED}`,
      [projectId, today, minUsers],
    )
  ).rows
