import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { healthSettings } from '../../telemetry/app-health/health-settings.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { readProject } from '../../projects/registry/projects.queries.ts'
import type { HealthQuery } from './health-source.queries.ts'
import { selectProjects } from './overview.queries.ts'

type Projects = HealthQuery['projects']

/**
 * A project of the actor's organisation, with what counts as a crash in it.
 * @throws AppError not_found
 */
export async function readMetricsProject(app: App, actor: OrgActor, projectId: string): Promise<Projects[number]> {
  const project = await readProject(app.db, actor.orgId, projectId)
  if (project === null) throw notFound('Project')
  return viewed(project)
}

export async function readMetricsProjects(app: App, actor: OrgActor): Promise<Projects> {
  return (await selectProjects(app.db, actor.orgId)).map(viewed)
}

const viewed = ({ id, settings }: { readonly id: string; readonly settings: unknown }): Projects[number] => ({
  id,
  unhandledIsCrash: healthSettings(settings).unhandled_is_crash,
})
