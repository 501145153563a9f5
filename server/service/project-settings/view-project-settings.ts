import type { z } from 'zod'
import type { Config } from '../../config/config.ts'
import { buildDsn } from '../../projects/registry/dsn.ts'
import { KeyRefusal } from '../../projects/registry/projects.api.ts'
import type { ProjectKeyRow, ProjectRow } from '../../projects/registry/projects.queries.ts'
import { currentKey, viewIdentity, viewProjectKey } from '../../projects/registry/view-project.ts'
import type { ProjectSettings } from './project-settings.api.ts'
import { projectSettings } from './project-settings.ts'

export type ProjectSettingsView = z.input<typeof ProjectSettings>

/** Returns a project with all settings. @param keys by place, newest first */
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
    dsn: buildDsn(config, identity, currentKey(keys)?.public_key ?? ''),
    last_key_refusal:
      row.key_refused_at === null || row.key_refused_reason === null
        ? null
        : { at: row.key_refused_at.toISOString(), reason: KeyRefusal.shape.reason.parse(row.key_refused_reason) },
    keys: keys.map((key) => viewProjectKey(config, identity, key)),
  }
}
