import { counted, formatCount } from '../../../../ui/format.ts'
/** Texts of an issue's events: filter, common values, releases and affected users. */

export const eventsTexts = {
  releaseName: 'The release',
  release: (version: string) => `Release ${version}`,
  adoption: 'Adoption',
  crashFree: 'Crash-free',
  againstRelease: (version: string) => `Compared with ${version}`,
  mostComplete: 'Most complete',
  mostCompleteTitle: 'The event with the most data among the newest 50',
  all: 'All events',
  title: 'Events of this issue',
  only: 'Filter events',
  onlyHint: 'release:2.4.0 environment:production user:7 device:Pixel timeout',
  keys: {
    release: 'Release',
    environment: 'Environment',
    level: 'Level',
    user: 'Id, name, e-mail or IP address of the user',
  },
  clear: 'Show all events',
  crumb: 'Events',
  pageTitle: (shortId: string) => `Events of ${shortId}`,
  noneStored: 'No stored events',
  noneStoredText: 'The events of this issue are older than the retention period. Counts, activity and comments remain.',
  columnsMenu: 'Columns',
  defaultColumns: 'Reset columns',
  areDefault: 'These are the default columns.',
  tagColumn: (key: string) => `Tag ${key}`,
  noValues: 'No event has a value.',
  unreadable: 'Events appear here when the filter is corrected.',
  noneMatch: 'No matching events',
  noneMatchText: (only: string) => `None of the events searched so far matches ${only}.`,
  columns: {
    time: 'Time',
    event: 'Event',
    level: 'Level',
    release: 'Release',
    environment: 'Environment',
    user: 'User',
    device: 'Device',
    os: 'OS',
  },
  more: 'Show more',
  searchOlder: 'Search older events',
  searched: (count: number) => `${counted(count, 'event', 'events')} searched`,
  stored: (count: string) => (count === '1' ? '1 stored event' : `${count} stored events`),
  storedOver: (count: string) => `Over ${count} stored events`,
  damaged: 'The event data is damaged',
  what: 'Events',
  asStored: 'As stored',
  asShown: 'As shown',
  forms: 'Format',
  size: (size: string) => `${size}, scrubbed`,

  ranges: { '24h': '24 h', '14d': '14 d', '90d': '90 d' },
  range: 'Chart range',
  trend: (sum: number, peak: number, long: string, per: string) =>
    sum === 0
      ? `No events in the last ${long}.`
      : `${counted(sum, 'event', 'events')} in the last ${long}, at most ${formatCount(peak)} per ${per}.`,
  long: { '24h': '24 hours', '14d': '14 days', '90d': '90 days' },
  per: { '24h': 'hour', '14d': '4 hours', '90d': 'day' },
  time: 'Time',
  trendName: 'The chart',

  compared: (events: number, others: number) =>
    others === 0
      ? `${counted(events, 'event', 'events')}, no other issues to compare with`
      : `${counted(events, 'event', 'events')}, compared with ${formatCount(others)} from other issues`,
  against: (count: number, baseline: string | null) =>
    `${counted(count, 'event', 'events')}${baseline === null ? '' : `; other issues ${baseline}`}`,
  often: (factor: string) => `${factor} as often as in other issues`,
  others: 'Other',
  sharesName: 'Common values',

  releases: 'Affected releases',
  releasesName: 'Affected releases',
  noRelease: 'No release',
  users: 'Affected users',
  anonymous: 'Anonymous user',
  usersShown: (shown: number, all: number) => `${formatCount(shown)} of ${formatCount(all)}`,
  newest: (count: number) => `newest ${formatCount(count)} events`,
  onlyThese: (what: string) => `Show only events of ${what}`,
} as const
