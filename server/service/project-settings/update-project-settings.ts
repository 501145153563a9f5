import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { dropCachedProject } from '../../projects/registry/view-project.ts'
import { actorForLog, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { checkOwnershipRules } from '../../issues/ownership/ownership.ts'
import { checkScrubRules } from '../../ingest/scrubbing/check-scrub-rules.ts'
import { slugTaken } from './create-project.ts'
import { projectSettings } from './project-settings.ts'
import type { ProjectSettingsPatch } from './project-settings.api.ts'
import { sealedNewScrubKey } from '../../ingest/scrubbing/scrub-settings.ts'
import {
  isSlugCollision,
  type ProjectRow,
  lockProject,
  readProject,
  readProjectKeys,
  updateProjectRow,
} from '../../projects/registry/projects.queries.ts'
import { viewProjectSettings, type ProjectSettingsView } from './view-project-settings.ts'

/**
 * Changes the given fields. Every process is notified on the topic `project`.
 * @throws AppError not_found, conflict (slug taken), invalid (scrub or ownership rules), rate_limited
 */
export async function updateProjectSettings(
  app: App,
  actor: OrgActor,
  projectId: string,
  patch: z.output<typeof ProjectSettingsPatch>,
): Promise<ProjectSettingsView> {
  const { name, slug, inbound_filters: filters, escalating, severity_rules: severityRules, ...rest } = patch
  const changes: Record<string, unknown> = Object.fromEntries(
    Object.entries(rest).filter(([, value]) => value !== undefined),
  )
  if (rest.scrub_rules !== undefined) {
    // Before the transaction: a trial takes up to seconds.
    const before = await readProject(app.db, actor.orgId, projectId)
    if (before === null) throw notFound('Project')
    await checkScrubRules(actor.orgId, rest.scrub_rules, projectSettings(before.settings).scrub_rules)
  }
  const { project, keys } = await app
    .tx(async (tx) => {
      const before = await lockProject(tx, actor.orgId, projectId)
      if (before === null) throw notFound('Project')
      if (rest.ownership_rules !== undefined)
        await checkOwnershipRules(
          tx,
          actor.orgId,
          rest.ownership_rules,
          projectSettings(before.settings).ownership_rules,
        )
      if (filters !== undefined)
        changes['inbound_filters'] = { ...projectSettings(before.settings).inbound_filters, ...filters }
      if (escalating !== undefined)
        changes['escalating'] = { ...projectSettings(before.settings).escalating, ...escalating }
      if (severityRules !== undefined)
        changes['severity_rules'] = { ...projectSettings(before.settings).severity_rules, ...severityRules }
      const needsKey = before.scrub_key_sealed === null && rest.scrub_rules?.some(({ action }) => action === 'hash')
      const after = await updateProjectRow(tx, projectId, {
        name: name ?? before.name,
        slug: slug ?? before.slug,
        settings: { ...before.settings, ...changes },
        scrubKeySealed:
          needsKey === true ? await sealedNewScrubKey(app, actor.orgId, projectId, tx) : before.scrub_key_sealed,
      })
      await dropCachedProject(tx, projectId)
      const fields = changedFields(before, after)
      if (fields.length > 0)
        await recordFacts(tx, factContext(app, actor), [
          { kind: 'project.settings_updated', orgId: actor.orgId, projectId, data: { fields } },
        ])
      return { project: after, keys: await readProjectKeys(tx, projectId) }
    })
    .catch((error: unknown) => {
      throw isSlugCollision(error) ? slugTaken(slug ?? '') : error
    })
  app.log.info({ project_id: projectId, ...actorForLog(actor), fields: Object.keys(patch) }, 'project.settings_updated')
  return viewProjectSettings(app.config, project, keys)
}

const fieldsOf = ({ name, slug, settings }: ProjectRow): Record<string, unknown> => ({
  name,
  slug,
  ...projectSettings(settings),
})

/** Names of the fields that differ. */
function changedFields(before: ProjectRow, after: ProjectRow): string[] {
  const [old, current] = [fieldsOf(before), fieldsOf(after)]
  return Object.keys(current).filter((field) => !isDeepStrictEqual(old[field], current[field]))
}

/** @throws AppError not_found */
export async function readProjectSettings(app: App, actor: OrgActor, projectId: string): Promise<ProjectSettingsView> {
  const project = await readProject(app.db, actor.orgId, projectId)
  if (project === null) throw notFound('Project')
  return viewProjectSettings(app.config, project, await readProjectKeys(app.db, projectId))
}
