import { z } from 'zod'
import { parseDsn } from '../../events/protocol/sentry-auth.ts'
import { AppError } from '../../platform/kernel/errors.ts'
import { type ForeignKey, takeOverKey } from '../../projects/registry/take-over-key.ts'
import { readProject, readProjectBySlug } from '../../projects/registry/projects.queries.ts'
import { readRegions } from '../../projects/registry/read-onboarding.ts'
import { createProject } from '../project-settings/create-project.ts'
import type { Difference, ProjectMapping } from './imports.api.ts'
import { saveThing, selectThings } from './imports.queries.ts'
import type { Progress, Running } from './step.ts'
import { readAll, readList, SourceIssue, SourceKey } from './source.ts'

const MAX_KEYS = 50

/** Creates a project or finds the one it is mapped to, and takes over its DSN keys. */
export async function takeProject(running: Running): Promise<Progress> {
  const { app, mapping, position, source, sourceName, actor } = running
  const one = mapping[position.project]
  if (one === undefined) return { cursor: null }
  const of = `/api/0/projects/${source.org}/${one.source_slug}`
  const keys = await readAll(app, source, `${of}/keys/`, SourceKey, MAX_KEYS)
  const { total } = await readList(
    app,
    source,
    `${of}/issues/?query=&limit=1`,
    z.looseObject({ id: SourceIssue.shape.id }),
  )
  const projectId = await projectOf(running, one)
  return {
    cursor: null,
    done: { projects: 1 },
    ...(total === null ? {} : { total: { issues: total } }),
    differences: one.platform === 'web' && !isWeb(one) ? [otherPlatform(one)] : [],
    async write(tx) {
      const differences: Difference[] = []
      await saveThing(tx, {
        org_id: actor.orgId,
        source: sourceName,
        kind: 'project',
        source_id: one.source_id,
        id: projectId,
      })
      for (const { dsn, isActive } of one.keeps_keys ? keys : []) {
        const key = keyOf(dsn.public)
        if (key === null) differences.push(noKey(one, dsn.public))
        else if (isActive && !(await takeOverKey(tx, projectId, key, app.clock.now()))) differences.push(usedKey(one))
      }
      return { differences }
    },
  }
}

/** The project here; created when there is none. A second import of the source finds the project of the first. */
async function projectOf(running: Running, one: ProjectMapping): Promise<string> {
  const { app, actor, sourceName, startedAt } = running
  if (one.project_id !== null) return one.project_id
  const known = (await selectThings(app.db, actor.orgId, sourceName, 'project', [one.source_id])).get(one.source_id)?.id
  if (known != null && (await readProject(app.db, actor.orgId, known)) !== null) return known
  for (let number = 1; ; number++) {
    const slug = number === 1 ? one.slug : `${one.slug.slice(0, 46)}-${number}`
    try {
      const region = readRegions(app.config).default_region
      return (await createProject(app, actor, { name: one.name, platform: one.platform, region, slug })).id
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'conflict' || number === 20) throw error
      // An attempt before this one was cut off after it created the project.
      const own = await readProjectBySlug(app.db, actor.orgId, slug)
      if (own !== null && own.created_at >= startedAt) return own.id
    }
  }
}

/** Null for a key of another form, such as a UUID with hyphens. */
function keyOf(dsn: string): ForeignKey | null {
  try {
    const { publicKey, projectNumber } = parseDsn(dsn)
    return { publicKey, dsnNumber: projectNumber }
  } catch {
    return null
  }
}

const noKey = ({ source_slug: slug }: ProjectMapping, dsn: string): Difference => ({
  kind: 'keys',
  count: 1,
  reason: 'The DSN key has another form than 32 hex digits.',
  instead: 'Apps of this key need the new DSN.',
  examples: [`${slug}: ${dsn.slice(0, 60)}`],
})

const usedKey = ({ source_slug: slug }: ProjectMapping): Difference => ({
  kind: 'keys',
  count: 1,
  reason: 'Another project here has the DSN key already.',
  instead: 'The project has a new key, and the old one stays where it is.',
  examples: [slug],
})

const isWeb = ({ source_platform: platform }: ProjectMapping): boolean =>
  platform === null || /javascript|web|other/.test(platform)

const otherPlatform = ({ source_slug: slug, source_platform: platform }: ProjectMapping): Difference => ({
  kind: 'projects',
  count: 1,
  reason: `There are no projects for ${platform ?? 'this platform'} yet.`,
  instead: 'The project is one for the web. Its events keep their own platform.',
  examples: [slug],
})
