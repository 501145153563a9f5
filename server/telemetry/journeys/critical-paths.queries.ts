import type { Connection } from '../../platform/storage/database.ts'
import { criticalPathSettings } from './critical-path-settings.ts'

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
