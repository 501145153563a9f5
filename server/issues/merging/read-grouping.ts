import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { newerVersions } from '../grouping/registry.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import type { GroupingSettings } from '../grouping/grouping.ts'
import { groupingSettings } from '../grouping/grouping-settings.ts'
import { readProject } from '../../projects/registry/projects.queries.ts'

/**
 * The grouping version of a project, the newer versions, and the current change of version, if any.
 * @throws AppError not_found
 */
export async function readGrouping(
  app: App,
  actor: OrgActor,
  projectId: string,
): Promise<{ version: number; newer: number[]; transition: GroupingSettings['grouping_transition'] }> {
  const project = await readProject(app.db, actor.orgId, projectId)
  if (project === null) throw notFound('Project')
  const { grouping_version: version, grouping_transition: transition } = groupingSettings(project.settings)
  const isCurrent = transition !== null && Date.parse(transition.until) > app.clock.now().getTime()
  return { version, newer: newerVersions(version), transition: isCurrent ? transition : null }
}
