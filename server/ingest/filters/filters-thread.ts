import { servePreview } from '../../issues/issue-events/serve-preview.ts'
import { readStoredEvent } from '../../events/store/event.ts'
import { compileFilters, toFilterSubject } from './compile-filters.ts'
import type { FiltersPreview } from './filters.api.ts'
import type { InboundFilters } from './inbound-filters.api.ts'

/** Body of a thread that applies proposed filters to stored events. */

const MAX_EXAMPLES = 5

type Example = FiltersPreview['filters'][number]['examples'][number]

export type FilterCounts = Pick<FiltersPreview, 'would_drop' | 'filters'>

servePreview<InboundFilters, FilterCounts>(
  (settings) => {
    const filters = compileFilters(settings).ofEvents
    const tallies = filters.map((filter) => ({ filter, dropped: 0, examples: [] as Example[] }))
    let dropped = 0
    return {
      visit(event, { eventId, clientIp, userAgent }, issueId) {
        const claimedAddress = event.user?.ip_address ?? null
        const subject = toFilterSubject(event, { clientIp, userAgent, claimedAddress })
        const matching = tallies.filter(({ filter }) => filter.drops(subject))
        if (matching.length > 0) dropped++
        for (const tally of matching) {
          tally.dropped++
          if (tally.examples.length < MAX_EXAMPLES)
            tally.examples.push({ issue_id: issueId, event_id: eventId, title: event.title })
        }
      },
      result: () => ({
        would_drop: dropped,
        filters: tallies.map(({ filter, dropped: count, examples }) => ({
          filter: filter.reason,
          pattern: filter.pattern,
          would_drop: count,
          examples,
        })),
      }),
    }
  },
  // Without the address of the connection, so that only the user's own address is left.
  (stored) => readStoredEvent({ ...stored, clientIp: null }),
)
