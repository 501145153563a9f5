import type { z } from 'zod'
import type { Config } from '../../config.ts'
import { buildDsn } from './dsn.ts'
import { Platform, Region, type Project } from './projects.api.ts'
import type { ListedProject, ProjectKeyRow, ProjectRow } from './projects.queries.ts'

export type ProjectView = z.input<typeof Project>

/** Converts a row to the project of lists. */
export function viewProject(config: Config, row: Omit<ListedProject, 'folded_name'>): ProjectView {
  return {
    ...viewIdentity(row),
    name: row.name,
    slug: row.slug,
    dsn: buildDsn(config, viewIdentity(row), row.public_key ?? ''),
    open_issues: row.open_issues,
    events_24h: row.events_24h,
    last_event_at: row.last_event_at?.toISOString() ?? null,
  }
}

/** Returns the key for new SDK installations. @param keys newest first */
export const currentKey = (keys: readonly ProjectKeyRow[]): ProjectKeyRow | undefined =>
  keys.find((key) => key.expires_at === null)

/** Returns the fields of a project that never change. */
export const viewIdentity = (row: ProjectRow) => ({
  id: row.id,
  number: row.number,
  platform: Platform.parse(row.platform),
  region: Region.parse(row.region),
  created_at: row.created_at.toISOString(),
})
