import type { z } from 'zod'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { AppError, invalid, notFound } from '../../platform/kernel/errors.ts'
import { addCommits } from '../../projects/releases/add-commits.ts'
import { createRelease } from '../../projects/releases/create-release.ts'
import { createDeploy, listDeploys } from '../../projects/releases/deploys.ts'
import type { CommitInput, Deploy } from '../../projects/releases/releases.api.ts'
import { countParts } from '../../projects/releases/releases.queries.ts'
import { updateRelease } from '../../projects/releases/update-release.ts'
import { toolOrg, toolProject, toolProjects } from './tool-names.ts'
import { selectProjects, selectVersion, type ToolProject, type ToolRelease } from './tools.queries.ts'
import type { ReleaseBody, uploadProtocolRoutes } from './upload-protocol.api.ts'

/** Releases as upload tools know them: one name in several projects of the organisation. */

type ReleaseView = z.input<(typeof uploadProtocolRoutes)['toolReadRelease']['response']>

type Change = Omit<ReleaseBody, 'version' | 'projects'> & {
  readonly commits?: readonly CommitInput[] | null | undefined
}

/** Creates a release in projects, or changes it where it exists. @throws AppError not_found (organisation, project), invalid */
export async function saveToolRelease(app: App, actor: OrgActor, org: string, body: ReleaseBody): Promise<ReleaseView> {
  // Tools archive and restore releases without naming projects.
  if (body.projects.length === 0) return updateToolRelease(app, actor, { org, version: body.version }, body)
  const projects = await toolProjects(app, actor, org, body.projects)
  for (const { id: projectId } of projects) {
    const made = await createRelease(app, actor, {
      projectId,
      version: body.version,
      released_at: timeOf(body.dateReleased),
      url: body.url ?? null,
      ref: body.ref ?? null,
    }).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'conflict') return null
      throw error
    })
    if (made === null) await changeIn(app, actor, projectId, body.version, body)
  }
  return readToolRelease(app, actor, org, body.version)
}

/** Changes a release where it exists, and creates it in the projects that are named. @throws AppError as above */
export async function updateToolRelease(
  app: App,
  actor: OrgActor,
  { org, version }: { readonly org: string; readonly version: string },
  {
    projects,
    refs,
    ...change
  }: Change & { readonly projects: readonly string[]; readonly refs?: readonly Ref[] | null | undefined },
): Promise<ReleaseView> {
  await toolOrg(app, actor, org)
  if (projects.length > 0) await saveToolRelease(app, actor, org, { ...change, version, projects: [...projects] })
  const releases = await selectVersion(app.db, actor.orgId, version)
  if (releases.length === 0) throw notFound('Release')
  const named =
    change.commits ?? refs?.map(({ repository, commit }) => ({ id: commit.toLowerCase(), repository })) ?? []
  for (const release of releases) {
    if (projects.length === 0) await changeIn(app, actor, release.project_id, version, change)
    if (named.length > 0) await addCommits(app, actor, { releaseId: release.id, commits: [...named] })
  }
  return readToolRelease(app, actor, org, version)
}

type Ref = { readonly repository: string; readonly commit: string }

async function changeIn(
  app: App,
  actor: OrgActor,
  projectId: string,
  version: string,
  { dateReleased, url, ref, status }: Change,
): Promise<void> {
  const release = (await selectVersion(app.db, actor.orgId, version)).find((one) => one.project_id === projectId)
  if (release === undefined) return
  await updateRelease(app, actor, {
    releaseId: release.id,
    ...(dateReleased == null ? {} : { released_at: timeOf(dateReleased) }),
    ...(url == null ? {} : { url }),
    ...(ref == null ? {} : { ref }),
    ...(status == null ? {} : { state: status }),
  })
}

/** Tools send nanoseconds. @throws AppError invalid */
function timeOf(text: string | null | undefined): string | null {
  if (text == null) return null
  const time = new Date(text)
  if (Number.isNaN(time.getTime())) throw invalid('dateReleased must be an RFC 3339 time.')
  return time.toISOString()
}

/** @throws AppError not_found */
export async function readToolRelease(app: App, actor: OrgActor, org: string, version: string): Promise<ReleaseView> {
  await toolOrg(app, actor, org)
  const releases = await selectVersion(app.db, actor.orgId, version)
  const [first] = releases
  if (first === undefined) throw notFound('Release')
  const ids = new Set(releases.map((release) => release.project_id))
  const projects = (await selectProjects(app.db, actor.orgId)).filter(({ id }) => ids.has(id))
  const counts = await countParts(
    app.db,
    releases.map(({ id }) => id),
  )
  const most = (part: 'commits' | 'deploys'): number =>
    Math.max(...releases.map(({ id }) => counts.get(id)?.[part] ?? 0))
  return viewRelease(first, projects, { commits: most('commits'), deploys: most('deploys') })
}

/** @throws AppError not_found, also when another project alone has the release */
export async function readToolProjectRelease(
  app: App,
  actor: OrgActor,
  { org, project, version }: { readonly org: string; readonly project: string; readonly version: string },
): Promise<ReleaseView> {
  const { number } = await toolProject(app, actor, { org, project })
  const release = await readToolRelease(app, actor, org, version)
  if (!release.projects.some(({ id }) => id === String(number))) throw notFound('Release')
  return release
}

const viewRelease = (
  release: ToolRelease,
  projects: readonly ToolProject[],
  counts: { readonly commits: number; readonly deploys: number },
): ReleaseView => ({
  id: release.id,
  version: release.version,
  shortVersion: release.version.slice(release.version.lastIndexOf('@') + 1),
  status: release.state === 'archived' ? 'archived' : 'open',
  url: release.url,
  ref: release.ref,
  dateCreated: release.created_at.toISOString(),
  dateReleased: release.released_at?.toISOString() ?? null,
  dateStarted: null,
  newGroups: 0,
  commitCount: counts.commits,
  deployCount: counts.deploys,
  authors: [],
  data: {},
  owner: null,
  lastCommit: null,
  lastDeploy: null,
  firstEvent: release.first_event_at?.toISOString() ?? null,
  lastEvent: release.last_event_at?.toISOString() ?? null,
  projects: projects.map(({ number, slug, name, platform }) => ({ id: String(number), slug, name, platform })),
})

type DeployView = z.input<(typeof uploadProtocolRoutes)['toolCreateDeploy']['response']>
type DeployBody = z.output<(typeof uploadProtocolRoutes)['toolCreateDeploy']['body']>

/** Reports a deploy in each project that has the release. @throws AppError not_found, conflict (too many), invalid */
export async function createToolDeploy(
  app: App,
  actor: OrgActor,
  { org, version }: { readonly org: string; readonly version: string },
  body: DeployBody,
): Promise<DeployView> {
  await toolOrg(app, actor, org)
  const releases = await selectVersion(app.db, actor.orgId, version)
  const deploys: Deploy[] = []
  for (const { id: releaseId } of releases)
    deploys.push(
      await createDeploy(app, actor, {
        releaseId,
        environment: body.environment,
        name: body.name ?? null,
        url: body.url ?? null,
        started_at: timeOf(body.dateStarted),
        finished_at: timeOf(body.dateFinished),
      }),
    )
  const [first] = deploys
  if (first === undefined) throw notFound('Release')
  return viewDeploy(first)
}

/** @throws AppError not_found */
export async function listToolDeploys(
  app: App,
  actor: OrgActor,
  { org, version }: { readonly org: string; readonly version: string },
): Promise<DeployView[]> {
  await toolOrg(app, actor, org)
  const [release] = await selectVersion(app.db, actor.orgId, version)
  if (release === undefined) throw notFound('Release')
  const { items } = await listDeploys(app, actor, { releaseId: release.id, limit: 100, offset: 0 })
  return items.map(viewDeploy)
}

const viewDeploy = ({ id, environment, name, url, started_at, finished_at }: Deploy): DeployView => ({
  id,
  environment,
  name,
  url,
  dateStarted: started_at,
  dateFinished: finished_at,
})
