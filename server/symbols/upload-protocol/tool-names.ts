import { z } from 'zod'
import { requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { selectNamedProjects, type ToolProject } from './tools.queries.ts'
import type { uploadProtocolRoutes } from './upload-protocol.api.ts'

/** Organisations, projects and users as upload tools name and read them. */

type OrgView = z.input<(typeof uploadProtocolRoutes)['toolReadOrg']['response']>
type ProjectView = z.input<(typeof uploadProtocolRoutes)['toolReadProject']['response']>

const Caller = z.object({
  user: z.object({ id: z.string(), email: z.string(), name: z.string() }),
  org: z.object({ id: z.string(), slug: z.string(), name: z.string() }),
})

const readCaller = async (app: App, actor: OrgActor): Promise<z.output<typeof Caller>> =>
  Caller.parse(await app.operations.call(actor, 'readMe', {}))

export async function viewToolUser(app: App, actor: OrgActor) {
  const { user } = await readCaller(app, actor)
  return { id: user.id, email: user.email, name: user.name, username: user.email }
}

/**
 * The organisation of the caller.
 * @param name its slug or id, as the tool was configured
 * @throws AppError not_found when the tool names another one
 */
export async function toolOrg(app: App, actor: OrgActor, name?: string): Promise<OrgView> {
  requireActingMember(actor)
  const { org } = await readCaller(app, actor)
  if (name !== undefined && name !== org.slug && name !== org.id) throw notFound('Organisation')
  return {
    id: org.id,
    slug: org.slug,
    name: org.name,
    dateCreated: NO_DATE,
    isEarlyAdopter: false,
    require2FA: false,
    requireEmailVerification: false,
    features: [],
    links: { organizationUrl: app.config.publicUrl, regionUrl: app.config.publicUrl },
  }
}

/** Tools require a date and show it nowhere. */
const NO_DATE = '2026-01-01T00:00:00.000Z'

/**
 * Projects that a tool names.
 * @throws AppError not_found when the organisation or one of them is not the caller's
 */
export async function toolProjects(
  app: App,
  actor: OrgActor,
  org: string,
  names: readonly string[],
): Promise<ToolProject[]> {
  await toolOrg(app, actor, org)
  const found = await selectNamedProjects(app.db, actor.orgId, names)
  const isFound = (name: string): boolean =>
    found.some(({ slug, id, number }) => [slug, id, String(number)].includes(name.toLowerCase()))
  if (!names.every(isFound)) throw notFound('Project')
  return found
}

export async function toolProject(
  app: App,
  actor: OrgActor,
  { org, project }: { readonly org: string; readonly project: string },
): Promise<ToolProject> {
  const [found] = await toolProjects(app, actor, org, [project])
  if (found === undefined) throw notFound('Project')
  return found
}

export const viewToolProject = (organization: OrgView, project: ToolProject): ProjectView => ({
  id: String(project.number),
  slug: project.slug,
  name: project.name,
  platform: project.platform,
  dateCreated: project.created_at.toISOString(),
  isMember: true,
  features: [],
  team: null,
  teams: [],
  organization,
})
