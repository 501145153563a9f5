import type { z } from 'zod'
import type { Config } from '../../config/config.ts'
import { buildDsn } from './dsn.ts'
import { Platform, Region, type Project, type ProjectKey } from './projects.api.ts'
import {
  type ListedProject,
  type ProjectKeyRow,
  type ProjectRow,
  countProjects,
  listProjectRows,
  isProjectInOrg,
} from './projects.queries.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import { pageByName, type NameListInput } from '../../platform/kernel/page-by-name.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { publish } from '../../platform/storage/bus.ts'
import type { Tx } from '../../platform/storage/database.ts'

export type ProjectView = z.input<typeof Project>

/** Converts a row to the project of lists. */
export function viewProject(config: Config, row: Omit<ListedProject, 'folded_name'>): ProjectView {
  return {
    ...viewIdentity(row),
    name: row.name,
    slug: row.slug,
    dsn: buildDsn(config, viewIdentity(row), row.public_key ?? ''),
    open_issues: row.open_issues,
    events_24h: row.events_24h,
    last_event_at: row.last_event_at?.toISOString() ?? null,
  }
}

/** Whether apps may use the key from now on. */
export const isActiveKey = (key: ProjectKeyRow): boolean => key.expires_at === null && key.disabled_at === null

/** Returns the key for new SDK installations. @param keys by place, newest first */
export const currentKey = (keys: readonly ProjectKeyRow[]): ProjectKeyRow | undefined => keys.find(isActiveKey)

/** Converts a row to a key of the API. */
export const viewProjectKey = (
  config: Config,
  project: Pick<ReturnType<typeof viewIdentity>, 'number' | 'region'>,
  key: ProjectKeyRow,
): z.input<typeof ProjectKey> => ({
  id: key.id,
  name: key.name,
  public_key: key.public_key,
  dsn: buildDsn(config, project, key.public_key),
  rate_limit_per_minute: key.rate_limit_per_minute,
  is_enabled: key.disabled_at === null,
  created_at: key.created_at.toISOString(),
  expires_at: key.expires_at?.toISOString() ?? null,
  last_seen_at: key.last_seen_at?.toISOString() ?? null,
})

/** Returns the fields of a project that never change. */
export const viewIdentity = (row: ProjectRow) => ({
  id: row.id,
  number: row.number,
  platform: Platform.parse(row.platform),
  region: Region.parse(row.region),
  created_at: row.created_at.toISOString(),
})

/**
 * Returns projects of the caller's organisation with their open issues and events of the last 24 hours.
 * @throws AppError invalid for a cursor of another sort
 */
export const listProjects = (app: App, { orgId }: OrgActor, input: NameListInput): Promise<Page<ProjectView>> =>
  pageByName(
    input,
    (listing) => listProjectRows(app.db, { ...listing, orgId, now: app.clock.now() }),
    () => countProjects(app.db, orgId),
    (row) => viewProject(app.config, row),
  )

/**
 * Checks, for reads below `/api/projects/:projectId`, that the project belongs to the actor's organisation.
 * @throws AppError not_found
 */
export async function requireProject(app: App, actor: OrgActor, projectId: string): Promise<void> {
  if (!(await isProjectInOrg(app.db, actor.orgId, projectId))) throw notFound('Project')
}

/** Every process drops its cached project when the transaction commits. */
export const dropCachedProject = (tx: Tx, projectId: string): Promise<void> =>
  publish(tx, 'project', { project_id: projectId })
