import { newPublicKey } from '../../projects/registry/rotate-dsn.ts'
import { publish } from '../../platform/storage/bus.ts'
import { actorForLog, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, invalid } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { toSlug } from '../../platform/kernel/slug.ts'
import { LATEST_GROUPING_VERSION } from '../../issues/grouping/grouping-rules.api.ts'
import type { Platform, Region } from '../../projects/registry/projects.api.ts'
import { insertProject, insertProjectKey } from '../../projects/registry/projects.queries.ts'
import { viewProject, type ProjectView } from '../../projects/registry/view-project.ts'

type CreateProjectInput = {
  readonly name: string
  readonly platform: Platform
  readonly region: Region
  readonly slug?: string | undefined
  readonly scrub_ip_addresses?: boolean | undefined
}

/**
 * Creates a project with its first key.
 * @throws AppError invalid (this installation does not serve the region), conflict (slug taken)
 */
export async function createProject(app: App, actor: OrgActor, input: CreateProjectInput): Promise<ProjectView> {
  const { region } = app.config
  if (region !== null && input.region !== region) {
    throw invalid(`region must be ${region}: this installation serves only projects of that region.`)
  }
  const id = newId()
  const slug = input.slug ?? slugFor(input.name, id)
  const now = app.clock.now()
  const publicKey = newPublicKey()
  const project = await app.tx(async (tx) => {
    const row = await insertProject(tx, {
      id,
      org_id: actor.orgId,
      name: input.name,
      slug,
      platform: input.platform,
      region: input.region,
      settings: JSON.stringify({
        grouping_version: LATEST_GROUPING_VERSION,
        ...(input.scrub_ip_addresses === true ? { scrub_ip_addresses: true } : {}),
      }),
      created_at: now,
    })
    if (row === null) throw slugTaken(slug)
    await insertProjectKey(tx, { id: newId(), project_id: id, public_key: publicKey, created_at: now })
    // Processes may have cached a refusal of this key.
    await publish(tx, 'project_key', { public_key: publicKey })
    await recordFacts(tx, factContext(app, actor, now), [
      { kind: 'project.created', orgId: actor.orgId, projectId: id, data: { name: input.name, slug } },
    ])
    return row
  })
  app.log.info({ project_id: id, ...actorForLog(actor) }, 'project.created')
  return viewProject(app.config, { ...project, public_key: publicKey, open_issues: 0, events_24h: 0 })
}

export const slugTaken = (slug: string) =>
  conflict(`Your organisation already has a project with the slug ${slug}. Choose another name or slug.`)

/** Returns a slug, also for a name without Latin letters and digits. */
function slugFor(name: string, id: string): string {
  const slug = toSlug(name)
  return slug === '' ? `project-${id.slice(-8)}` : slug
}
