import { actorForLog, type OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { conflict, notFound } from '../kernel/errors.ts'
import { announceProject } from '../projects/announce-project.ts'
import { groupingSettings } from '../grouping/grouping-settings.ts'
import { lockProject, updateProjectRow } from '../projects/projects.queries.ts'
import { requireNewer } from './preview-grouping.ts'

/** How long events unknown to the new version are looked up under the one before. */
const TRANSITION_MS = 30 * 86_400_000

export type Upgraded = { grouping_version: number; grouping_transition: { from: number; until: string } }

/**
 * Moves a project to a newer version of grouping.
 * @throws AppError not_found, invalid (not newer), conflict (an earlier move is under way)
 */
export async function upgradeGrouping(
  app: App,
  actor: OrgActor,
  input: { projectId: string; version: number },
): Promise<Upgraded> {
  const upgraded = await app.tx(async (tx): Promise<Upgraded> => {
    const project = await lockProject(tx, actor.orgId, input.projectId)
    if (project === null) throw notFound('Project')
    const before = groupingSettings(project.settings)
    requireNewer(before.grouping_version, input.version)
    const now = app.clock.now().getTime()
    const under = before.grouping_transition
    // Fingerprints of two versions ago would be forgotten half-way.
    if (under !== null && Date.parse(under.until) > now)
      throw conflict(`This project is still moving from version ${under.from} until ${under.until.slice(0, 10)}.`)
    const changed = {
      grouping_version: input.version,
      grouping_transition: { from: before.grouping_version, until: new Date(now + TRANSITION_MS).toISOString() },
    }
    await updateProjectRow(tx, input.projectId, {
      name: project.name,
      slug: project.slug,
      settings: { ...project.settings, ...changed },
      scrubKeySealed: project.scrub_key_sealed,
    })
    await announceProject(tx, actor.orgId, input.projectId)
    return changed
  })
  app.log.info(
    { project_id: input.projectId, ...actorForLog(actor), version: input.version },
    'project.grouping_upgraded',
  )
  return upgraded
}
