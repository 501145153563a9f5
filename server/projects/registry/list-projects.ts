import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import { pageByName, type NameListInput } from '../../platform/kernel/page-by-name.ts'
import { countProjects, listProjectRows } from './projects.queries.ts'
import { viewProject, type ProjectView } from './view-project.ts'

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
