import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { previewInThread, type PreviewLimits } from '../../issues/issue-events/preview-events.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import type { InboundFilters } from './inbound-filters.api.ts'
import { filterSettings } from './filter-settings.ts'
import type { FilterCounts } from './filters-thread.ts'
import { readProject } from '../../projects/registry/projects.queries.ts'
import type { FiltersPreview } from './filters.api.ts'

/**
 * Applies proposed filters to the newest stored events of a project, without changing anything.
 * @throws AppError not_found, rate_limited (too many previews run), unavailable (it takes too long)
 */
export async function previewFilters(
  app: App,
  actor: OrgActor,
  projectId: string,
  proposed: Partial<InboundFilters>,
  limits: PreviewLimits = {},
): Promise<FiltersPreview> {
  const project = await readProject(app.db, actor.orgId, projectId)
  if (project === null) throw notFound('Project')
  const { result, ...previewed } = await previewInThread<InboundFilters, FilterCounts>(
    app,
    { orgId: actor.orgId, projectId },
    new URL('./filters-thread.ts', import.meta.url),
    { ...filterSettings(project.settings).inbound_filters, ...proposed },
    limits,
  )
  return { ...previewed, ...result }
}
