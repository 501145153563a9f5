import { orgSealer } from '../../identity/auth/org-sealer.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { actorForLog, memberBehind, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { conflict, invalid, unavailable } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { toSlug } from '../../platform/kernel/slug.ts'
import { listProjectRows } from '../../projects/registry/projects.queries.ts'
import type { Platform } from '../../projects/registry/projects.api.ts'
import type { Import, ProjectMapping } from './imports.api.ts'
import { countUnderWay, forgetOldImports, insertImport, sourceTokenPlace } from './imports.queries.ts'
import { FIRST } from './position.ts'
import { readAll, type Source, SourceError, SourceProject } from './source.ts'
import { readImport } from './view-import.ts'

const MAX_PROJECTS = 1_000
const MAX_UNDER_WAY = 10
/** Imports that ended; older ones are forgotten. */
const KEPT = 50

/**
 * Connects a source: tries the token, reads its projects, and proposes what becomes of each.
 * @throws AppError invalid (address, token), unavailable (no answer), conflict (the source is being imported)
 */
export async function createImport(
  app: App,
  actor: OrgActor,
  given: { readonly url: string; readonly organisation: string; readonly token: string },
): Promise<Import> {
  const url = app.egress.checkUrl(given.url).href.replace(/\/+$/, '')
  const source: Source = { url, org: given.organisation, token: given.token }
  const projects = await readAll(
    app,
    source,
    `/api/0/organizations/${source.org}/projects/`,
    SourceProject,
    MAX_PROJECTS,
  ).catch(refusal(source))
  if (projects.length === 0)
    throw invalid(`The token shows no project of ${source.org}. Give it read access to projects.`)
  const mapping = proposeMapping(projects, await ownSlugs(app, actor))
  const id = newId()
  const now = app.clock.now()
  await app.tx(async (tx) => {
    if ((await countUnderWay(tx, actor.orgId)) >= MAX_UNDER_WAY)
      throw conflict(`${MAX_UNDER_WAY} imports are under way, the maximum. Finish or stop one first.`)
    const sealer = await orgSealer(app, actor.orgId, tx)
    const isNew = await insertImport(tx, {
      id,
      org_id: actor.orgId,
      source_url: url,
      source_org: source.org,
      token_sealed: sealer.seal(Buffer.from(source.token), sourceTokenPlace(actor.orgId, id)),
      state: 'mapping',
      mapping: JSON.stringify(mapping),
      position: JSON.stringify(FIRST),
      counts: JSON.stringify(emptyCounts(mapping)),
      created_by: memberBehind(actor)?.userId ?? null,
      created_at: now,
    })
    if (!isNew)
      throw conflict(`${source.org} of ${new URL(url).host} is being imported already. Continue or stop that import.`)
    await forgetOldImports(tx, actor.orgId, KEPT)
    await recordFacts(tx, factContext(app, actor, now), [
      {
        kind: 'import.created',
        orgId: actor.orgId,
        targetId: id,
        label: source.org,
        data: { url, organisation: source.org },
      },
    ])
  })
  app.log.info({ ...actorForLog(actor), import_id: id }, 'import.created')
  return readImport(app, actor, id)
}

/** Turns an error of the source into an answer. */
const refusal =
  ({ org }: Source) =>
  (error: unknown): never => {
    if (!(error instanceof SourceError)) throw error
    if (error.kind === 'wait') throw unavailable(`${error.message} Try again in a moment.`, 10, error)
    if (error.kind === 'missing')
      throw invalid(`The token does not show an organisation ${org} there. Check the slug and the address.`)
    throw invalid(error.message)
  }

async function ownSlugs(app: App, { orgId }: OrgActor): Promise<Map<string, string>> {
  const rows = await listProjectRows(app.db, {
    orgId,
    now: app.clock.now(),
    sort: 'name',
    descending: false,
    limit: 10_000,
    offset: 0,
    after: null,
  })
  return new Map(rows.map(({ slug, id }) => [slug, id]))
}

/** A project of the same slug is taken as the same; others are created. */
export function proposeMapping(projects: readonly SourceProject[], own: ReadonlyMap<string, string>): ProjectMapping[] {
  const used = new Set(own.keys())
  return projects.map(({ id, slug, name, platform }) => {
    const projectId = own.get(slug) ?? null
    const free = projectId === null ? freeSlug(toSlug(slug) || `project-${id}`, used) : slug
    used.add(free)
    return {
      source_id: id,
      source_slug: slug,
      name: name.trim().slice(0, 80) || slug,
      source_platform: platform ?? null,
      taken: true,
      project_id: projectId,
      slug: free,
      platform: platformOf(platform ?? ''),
      keeps_keys: true,
    }
  })
}

function freeSlug(slug: string, used: ReadonlySet<string>): string {
  const base = slug.slice(0, 46).replace(/-+$/, '')
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? base : `${base}-${number}`
    if (!used.has(candidate)) return candidate
  }
}

/** The platform of a new project, from the one of the source, such as `javascript-react` or `apple-ios`. */
function platformOf(platform: string): Platform {
  if (platform.includes('react-native')) return 'react-native'
  if (/flutter|dart/.test(platform)) return 'flutter'
  if (/apple|cocoa|ios|swift/.test(platform)) return 'ios'
  if (/android|kotlin/.test(platform)) return 'android'
  return 'web'
}

const emptyCounts = (mapping: readonly ProjectMapping[]) => ({
  projects: { done: 0, total: mapping.length },
  members: { done: 0, total: null },
  releases: { done: 0, total: null },
  rules: { done: 0, total: null },
  issues: { done: 0, total: null },
  comments: { done: 0, total: null },
  events: { done: 0, total: null },
})
