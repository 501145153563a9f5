import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { newerVersions } from '../grouping/registry.ts'
import { previewInThread, type PreviewLimits } from '../issue-events/preview-events.ts'
import { invalid, notFound } from '../../platform/kernel/errors.ts'
import type { GroupingRules } from '../grouping/grouping-rules.api.ts'
import { groupingSettings } from '../grouping/grouping-settings.ts'
import { readProject } from '../../projects/registry/projects.queries.ts'
import type { GroupingPreview } from './merging.api.ts'
import type { GroupingStart } from './grouping-thread.ts'
import { describeRegrouping, type Regrouped } from './regrouping.ts'
import { selectNames } from './merging.queries.ts'

const WEEK_MS = 7 * 86_400_000

export type Proposed = { readonly grouping_rules?: GroupingRules | undefined; readonly version?: number | undefined }

/**
 * Groups the newest stored events of a project by the saved and by the proposed settings, without changing anything.
 * @throws AppError not_found, invalid (a version that is not newer), rate_limited (too many previews run),
 *   unavailable (it takes too long)
 */
export async function previewGrouping(
  app: App,
  actor: OrgActor,
  projectId: string,
  proposed: Proposed,
  limits: PreviewLimits = {},
): Promise<GroupingPreview> {
  const project = await readProject(app.db, actor.orgId, projectId)
  if (project === null) throw notFound('Project')
  const saved = groupingSettings(project.settings)
  const { version = saved.grouping_version, grouping_rules: rules = saved.grouping_rules } = proposed
  if (version !== saved.grouping_version) requireNewer(saved.grouping_version, version)
  const now = app.clock.now()
  const { result, ...previewed } = await previewInThread<GroupingStart, Regrouped>(
    app,
    { orgId: actor.orgId, projectId },
    new URL('./grouping-thread.ts', import.meta.url),
    { saved, proposed: { grouping_version: version, grouping_rules: rules }, now },
    { ...limits, since: new Date(now.getTime() - WEEK_MS) },
  )
  return { ...previewed, ...describeRegrouping(result, await selectNames(app.db, [...result.cells.keys()])) }
}

/** @throws AppError invalid */
export function requireNewer(current: number, version: number): void {
  const newer = newerVersions(current)
  if (newer.includes(version)) return
  throw invalid(
    newer.length === 0
      ? `version: this project has the newest grouping version, ${current}.`
      : `version must be one of ${newer.join(', ')}: newer than ${current}.`,
  )
}
