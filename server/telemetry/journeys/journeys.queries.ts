import { sql } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { criticalPathSettings } from './critical-path-settings.ts'

export type JourneyErrors = {
  readonly projectId: string
  readonly minute: Date
  /** The pattern of `critical_paths`. */
  readonly journey: string
  readonly errors: number
}

export async function insertErrors(tx: Tx, rows: readonly JourneyErrors[]): Promise<void> {
  await tx.query({
    name: 'journeys-insert-errors',
    text: `insert into journey_errors (project_id, minute, journey, errors)
           select * from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::int[])`,
    values: [
      rows.map(({ projectId }) => projectId),
      rows.map(({ minute }) => minute),
      rows.map(({ journey }) => journey),
      rows.map(({ errors }) => errors),
    ],
  })
}

/** Errors of each journey from `from` to before `to`, by interval after `from`. */
export async function sumErrors(
  db: Connection,
  projectIds: readonly string[],
  { from, to }: { readonly from: Date; readonly to: Date },
  intervalMs: number,
): Promise<{ projectId: string; journey: string; slot: number; errors: number }[]> {
  const { rows } = await sql<{ project_id: string; journey: string; slot: number; errors: number }>`
    select project_id, journey,
      floor((extract(epoch from minute) * 1000 - ${from.getTime()}::float8) / ${intervalMs}::float8)::int as slot,
      sum(errors)::int as errors
    from journey_errors where project_id = any(${[...projectIds]}::uuid[]) and minute >= ${from} and minute < ${to}
    group by 1, 2, 3`.execute(db)
  return rows.map(({ project_id: projectId, ...row }) => ({ projectId, ...row }))
}

export const JOURNEY_ROWS = ownRows('journey_errors')
export const JOURNEY_PART = projectPart(5_000, [JOURNEY_ROWS])

/** The critical paths of projects; those without any are left out. */
export async function selectCriticalPaths(
  db: Connection,
  projectIds: readonly string[],
): Promise<Map<string, readonly string[]>> {
  const { rows } = await db.query<{ id: string; settings: unknown }>({
    name: 'journeys-critical-paths',
    text: `select id, jsonb_build_object('critical_paths', settings -> 'critical_paths') as settings from projects
           where id = any($1::uuid[]) and settings ? 'critical_paths'`,
    values: [projectIds],
  })
  return new Map(
    rows.flatMap(({ id, settings }) => {
      const paths = criticalPathSettings(settings).critical_paths
      return paths.length === 0 ? [] : [[id, paths] as const]
    }),
  )
}
