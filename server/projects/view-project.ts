import type { z } from 'zod'
import type { Config } from '../config.ts'
import { dsnOf } from './dsn.ts'
import { projectSettings } from './project-settings.ts'
import { Platform, Region, type Project, type ProjectSettings } from './projects.api.ts'
import type { ListedProject, ProjectKeyRow, ProjectRow } from './projects.queries.ts'

export type ProjectView = z.input<typeof Project>
export type ProjectSettingsView = z.input<typeof ProjectSettings>

/** A project as lists show it. */
export function viewProject(config: Config, row: Omit<ListedProject, 'folded_name'>): ProjectView {
  return {
    ...viewIdentity(row),
    name: row.name,
    slug: row.slug,
    dsn: dsnOf(config, viewIdentity(row), row.public_key ?? ''),
    open_issues: row.open_issues,
    events_24h: row.events_24h,
    last_event_at: row.last_event_at?.toISOString() ?? null,
  }
}

/** A project with all that can be set. @param keys newest first */
export function viewProjectSettings(
  config: Config,
  row: ProjectRow,
  keys: readonly ProjectKeyRow[],
): ProjectSettingsView {
  const identity = viewIdentity(row)
  return {
    ...identity,
    ...projectSettings(row.settings),
    name: row.name,
    slug: row.slug,
    dsn: dsnOf(config, identity, currentKey(keys)?.public_key ?? ''),
    keys: keys.map((key) => ({
      id: key.id,
      public_key: key.public_key,
      dsn: dsnOf(config, identity, key.public_key),
      created_at: key.created_at.toISOString(),
      expires_at: key.expires_at?.toISOString() ?? null,
      last_seen_at: key.last_seen_at?.toISOString() ?? null,
    })),
  }
}

/** The key new installations of an SDK shall use. */
export const currentKey = (keys: readonly ProjectKeyRow[]): ProjectKeyRow | undefined =>
  keys.find((key) => key.expires_at === null)

const viewIdentity = (row: ProjectRow) => ({
  id: row.id,
  number: row.number,
  platform: Platform.parse(row.platform),
  region: Region.parse(row.region),
  created_at: row.created_at.toISOString(),
})
