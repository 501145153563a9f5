/** Words of the events of an issue: which of them, what they share, where they come from. */

const plural = (count: number, one: string, many: string): string => (count === 1 ? one : many)
const whole = new Intl.NumberFormat('en-GB')

export const eventsTexts = {
  releaseName: 'The release',
  release: (version: string) => `Release ${version}`,
  adoption: 'Adoption',
  crashFree: 'Crash-free',
  againstRelease: (version: string) => `Against ${version}`,
  mostComplete: 'Most complete',
  mostCompleteTitle: 'The event that tells most, among the newest 50',
  all: 'All events',
  title: 'Events of this issue',
  only: 'Only events with',
  onlyHint: 'release:2.4.0 environment:production user:7 device:Pixel words',
  clear: 'Show all events',
  noneMatch: 'No event matches',
  noneMatchText: (only: string) => `None of the newest events that were looked at has ${only}.`,
  columns: {
    time: 'Time',
    event: 'Event',
    release: 'Release',
    environment: 'Environment',
    user: 'User',
    device: 'Device',
  },
  more: 'Show more',
  lookFurther: 'Look further back',
  lookedAt: (count: number) => `${whole.format(count)} ${plural(count, 'event', 'events')} looked at`,
  stored: (count: string) => `${count} stored`,
  storedOver: (count: string) => `over ${count} stored`,
  damaged: 'The body is damaged',
  what: 'The events',
  asStored: 'As stored',
  asShown: 'As shown',
  forms: 'Form',
  size: (size: string) => `${size}, scrubbed`,

  ranges: { '24h': '24 h', '14d': '14 d', '90d': '90 d' },
  range: 'Time of the chart',
  trend: (sum: number, peak: number, long: string, per: string) =>
    sum === 0
      ? `No events in the last ${long}.`
      : `${whole.format(sum)} ${plural(sum, 'event', 'events')} in the last ${long}, at most ${whole.format(peak)} ${per}.`,
  long: { '24h': '24 hours', '14d': '14 days', '90d': '90 days' },
  per: { '24h': 'an hour', '14d': 'in 4 hours', '90d': 'a day' },
  time: 'Time',
  trendName: 'The chart',

  compared: (events: number, others: number) =>
    others === 0
      ? `${whole.format(events)} ${plural(events, 'event', 'events')}, nothing else to compare with`
      : `${whole.format(events)} ${plural(events, 'event', 'events')}, compared with ${whole.format(others)} of other issues`,
  against: (count: number, baseline: string | null) =>
    `${whole.format(count)} ${plural(count, 'event', 'events')}${baseline === null ? '' : `; elsewhere ${baseline}`}`,
  often: (factor: string) => `${factor} as often as elsewhere`,
  others: 'Other',
  sharesName: 'What these events share',

  releases: 'Affected releases',
  releasesName: 'The releases',
  noRelease: 'No release',
  people: 'People',
  peopleName: 'The people',
  person: 'Somebody without a name',
  peopleOf: (shown: number, all: number) => `${whole.format(shown)} of ${whole.format(all)}`,
  newest: (count: number) => `newest ${whole.format(count)} events`,
  onlyThese: (what: string) => `Only events of ${what}`,
} as const
