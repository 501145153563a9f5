import { actorForLog, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, notFound } from '../../platform/kernel/errors.ts'
import { dropCachedProject } from '../../projects/registry/view-project.ts'
import { groupingSettings } from '../grouping/grouping-settings.ts'
import { lockProject, updateProjectRow } from '../../projects/registry/projects.queries.ts'
import { requireNewer } from './preview-grouping.ts'

/** How long an event with an unknown new fingerprint is looked up by its old one. */
const TRANSITION_MS = 30 * 86_400_000

export type Upgraded = { grouping_version: number; grouping_transition: { from: number; until: string } }

/**
 * Changes a project to a newer grouping version.
 * @throws AppError not_found, invalid (not newer), conflict (during an earlier change)
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
    const earlier = before.grouping_transition
    // Fingerprints of two versions ago would no longer be looked up.
    if (earlier !== null && Date.parse(earlier.until) > now)
      throw conflict(
        `This project is changing from version ${earlier.from} until ${earlier.until.slice(0, 10)}. Wait until then.`,
      )
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
    await dropCachedProject(tx, input.projectId)
    await recordFacts(tx, factContext(app, actor), [
      {
        kind: 'project.grouping_upgraded',
        orgId: actor.orgId,
        projectId: input.projectId,
        data: { version: input.version },
      },
    ])
    return changed
  })
  app.log.info(
    { project_id: input.projectId, ...actorForLog(actor), version: input.version },
    'project.grouping_upgraded',
  )
  return upgraded
}
