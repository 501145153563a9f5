import type { OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { previewEvents, type PreviewLimits } from '../issue-events/preview-events.ts'
import { notFound } from '../kernel/errors.ts'
import { readStoredEvent } from '../protocol/read-stored.ts'
import type { InboundFilters } from './inbound-filters.api.ts'
import { filterSettings } from './filter-settings.ts'
import { readProject } from '../projects/projects.queries.ts'
import { compileFilters, subjectOf } from './compile-filters.ts'
import type { FiltersPreview } from './filters.api.ts'

const MAX_EXAMPLES = 5

type Example = FiltersPreview['filters'][number]['examples'][number]

/**
 * Applies proposed filters to the newest stored events of a project, without changing anything.
 * @throws AppError not_found, rate_limited (too many previews run)
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
  const filters = compileFilters({ ...filterSettings(project.settings).inbound_filters, ...proposed }).ofEvents
  const tallies = filters.map((filter) => ({ filter, dropped: 0, examples: [] as Example[] }))
  let dropped = 0
  const previewed = await previewEvents(
    app,
    projectId,
    (event, { clientIp, userAgent }, { issueId, eventId }) => {
      const claimedAddress = event.user?.ip_address ?? null
      const subject = subjectOf(event, { clientIp, userAgent, claimedAddress })
      const matching = tallies.filter(({ filter }) => filter.drops(subject))
      if (matching.length > 0) dropped++
      for (const tally of matching) {
        tally.dropped++
        if (tally.examples.length < MAX_EXAMPLES)
          tally.examples.push({ issue_id: issueId, event_id: eventId, title: event.title })
      }
    },
    limits,
    // Without the address of the connection, so that only the user's own address is left.
    { read: (stored) => readStoredEvent({ ...stored, clientIp: null }) },
  )
  return {
    ...previewed,
    would_drop: dropped,
    filters: tallies.map(({ filter, dropped: count, examples }) => ({
      filter: filter.reason,
      pattern: filter.pattern,
      would_drop: count,
      examples,
    })),
  }
}
