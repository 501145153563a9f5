import type { Range } from '../../address/search.ts'
import type { Word } from './limits.ts'

const ASKED_RANGES = { '1h': 'hour', '24h': '24 hours', '7d': '7 days', '30d': '30 days' } as const satisfies Record<
  Range,
  string
>

/** Texts of metrics and performance that both show. */
export const figuresTexts = {
  now: 'now',

  words: { good: 'Good', watch: 'Watch', poor: 'Poor' } satisfies Record<Word, string>,

  verdicts: {
    healthy: 'Healthy',
    watch: 'Watch',
    hold: 'Hold rollout',
    too_early: 'Too early',
    replaced: 'Replaced',
    no_sessions: 'No sessions',
    planned: 'Planned',
    archived: 'Archived',
  },
  verdictWith: (word: string, cause: string) => `${word}: ${cause}`,
  regressions: (count: number) => (count === 1 ? '1 regression' : `${count} regressions`),
  sessionsOf: (count: string) => (count === '1' ? '1 session' : `${count} sessions`),

  allReleases: 'All releases',
  release: 'Release',
  filter: 'Filter',
  filters: (count: number) => (count === 1 ? '1 filter' : `${count} filters`),
  dimensions: {
    release: 'Release',
    environment: 'Environment',
    os: 'Operating system',
    device_class: 'Device class',
    device: 'Device',
  },
  classes: { high: 'High', medium: 'Medium', low: 'Low', unknown: 'Unknown' },
  unknown: 'unknown',
  find: (what: string) => `Find ${what.toLowerCase()}`,
  noValues: 'No values in this period.',
  noMatch: 'No match.',
  valuesFailed: 'The values did not load. Close the menu and open it again.',
  shownOf: (shown: string, total: string) => `Top ${shown} of ${total} by sessions.`,
  clearFilters: 'Clear filters',
  several: (first: string, others: number) => `${first} and ${others} more`,
  both: (first: string, second: string) => `${first} and ${second}`,
  filteredBy: 'Filtered by',
  removeFilter: (dimension: string, value: string) => `Remove filter: ${dimension} ${value}`,

  asTable: 'View as table',
  tableOf: (title: string) => `${title}, table`,
  per: { '1h': 'per minute', '24h': 'per 15 min', '7d': 'per hour', '30d': 'per 6 h' },
  chartMenu: (chart: string) => `${chart}: more`,
  expand: 'Expand',
  shrink: 'Shrink',
  alertOnThis: 'Alert on this',
  askOf: (chart: string, range: Range) => `How did “${chart}” change in the last ${ASKED_RANGES[range]}, and why?`,
  copyLink: 'Copy link',
  linkCopied: 'Link copied',
  part: (window: string) => `Part of the range: ${window}`,
  wholeRange: 'Show the whole range',
  time: 'Time',

  p50: 'P50',
  p75: 'P75',
  p95: 'P95',
  csv: (table: string) => `${table}: download CSV`,
  csvFailed: 'Could not download the table. Log in again.',
} as const
