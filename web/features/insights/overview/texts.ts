import { counted, formatCount, plural } from '../../../ui/format.ts'
import type { Range } from '../../../address/search.ts'
import type { MonitorEnvironment } from '../../../api/monitor-queries.ts'
import type { Word } from './model.ts'

const AGAINST: Readonly<Record<Range, string>> = {
  '1h': 'last hour against the hour before',
  '24h': 'last 24 hours against the day before',
  '7d': 'last 7 days against the week before',
  '30d': 'last 30 days against the 30 days before',
}
const SINCE: Readonly<Record<Range, string>> = {
  '1h': 'In the last hour',
  '24h': 'Since yesterday',
  '7d': 'In the last 7 days',
  '30d': 'In the last 30 days',
}

/** Texts of the overview. */
export const overviewTexts = {
  title: 'Overview',
  what: 'The overview',
  about: (platform: string, range: Range) => `${platform}, ${AGAINST[range]}`,
  verdict: 'Verdict',
  words: { good: 'Good.', watch: 'Watch.', poor: 'Poor.' } satisfies Record<Word, string>,

  alertsFire: (count: number) => `${counted(count, 'alert is', 'alerts are')} firing.`,
  held: (version: string) => `Hold the rollout of ${version}.`,
  crashOver: (rate: string) => `The crash rate is ${rate}.`,
  anrOver: (rate: string) => `The ANR rate is ${rate}.`,
  limit: (limit: string) => `App stores count it as bad from ${limit}.`,
  monitorsFail: (count: number) => `${counted(count, 'monitor fails', 'monitors fail')}.`,
  cameBack: (count: number) => `${counted(count, 'issue', 'issues')} came back.`,
  newCritical: (count: number) => `${counted(count, 'new critical issue', 'new critical issues')}.`,
  rose: (after: string) => `The crash rate rose to ${after}.`,
  roseFrom: (before: string, since: string) => `It was ${before} until ${since}.`,
  slow: (now: string) => `Requests are slower: P95 is ${now}.`,
  slowFrom: (before: string) => `It was ${before} in the time before.`,
  failures: (now: string) => `${now} of requests fail.`,
  failuresFrom: (before: string) => `It was ${before} in the time before.`,
  p95Limit: (now: string) => `P95 of requests is ${now}.`,
  projectLimit: (limit: string) => `The limit of the project is ${limit}.`,
  performance: 'Performance',
  fine: 'Nothing needs you.',
  fineText: 'No alert is firing, no release is on hold, and no issue came back.',
  nothing: 'Nothing has arrived yet.',
  nothingText: 'Figures appear here with the first event or session of this project.',
  setUp: 'Set up the SDK',
  openRelease: 'Open release',
  others: (count: number) => `${counted(count, 'other reason', 'other reasons')} below.`,

  figures: 'Figures',
  crashRate: 'Crash rate',
  anrRate: 'ANR rate',
  events: 'Events',
  users: 'Users',
  usersHit: 'Users with errors',
  newIssues: 'New issues',
  received: 'Received',
  failed: 'Failed requests',
  p95: 'P95 of requests',
  failedOf: (failed: number, count: number) => `${formatCount(failed)} of ${counted(count, 'request', 'requests')}`,
  tooFew: (count: number) => `${counted(count, 'request', 'requests')} are too few`,
  was: (before: string) => `${before} in the time before`,
  ofSessions: 'of sessions',
  ofUsers: 'of users',
  crashesAndErrors: 'crashes and errors',
  limitNote: (limit: string) => `Limit ${limit}`,
  withLimit: (note: string, limit: string) => (note === '' ? `Limit ${limit}` : `${note}, limit ${limit}`),
  newestNote: (latest: string, limit: string) => `Newest ${latest}, limit ${limit}`,
  criticalNote: (count: number) => (count === 0 ? 'None critical' : `${formatCount(count)} critical`),
  crashFree: (share: string) => `${share} without a crash`,
  withErrors: (count: number) => `${formatCount(count)} with errors`,
  ofEvents: 'named by events',
  noNames: 'Events name no users',

  issuesNote: (open: number, back: number) =>
    `${formatCount(open)} open, ${formatCount(back)} ${plural(back, 'is', 'are')} back`,
  criticalOpen: (count: number) => (count === 0 ? 'none critical' : `${formatCount(count)} open critical`),
  receivedAbout: 'error events accepted',
  lostNote: (dropped: number, limited: number) =>
    dropped + limited === 0
      ? 'None dropped or limited'
      : `${formatCount(dropped)} dropped, ${formatCount(limited)} over the limit`,

  chartLabel: (total: number, critical: number) =>
    `${counted(total, 'event', 'events')}, ${formatCount(critical)} of them critical`,
  critical: 'critical',
  other: 'other',
  tableOf: (title: string) => `${title}, table`,
  asTable: 'View as table',
  time: 'Time',

  newAndBack: 'New and back',
  allOpen: (count: number) => `${formatCount(count)} open`,
  noneNew: 'No new issue, and none came back',
  new: 'New',
  back: 'Back',
  eventsOf: (count: number) => `${formatCount(count)} ${plural(count, 'event', 'events')}`,

  slowest: 'Transactions',
  byTime: 'most time in total first',
  allTransactions: 'All transactions',
  columns: { name: 'Transaction', count: 'Requests', p95: 'P95', failed: 'Failed' },

  since: (range: Range) => SINCE[range],
  noChanges: 'Nothing changed.',
  changes: {
    new: 'is new',
    back: 'came back',
    release: 'was first seen',
    alert: 'fired',
    monitor: 'fails',
  },

  alerts: 'Open alerts',
  allAlerts: 'All alerts',
  noAlerts: 'No open alert.',
  releases: 'Releases',
  allReleases: 'All',
  adoption: 'share of sessions',
  noReleases: 'No release yet.',
  monitors: 'Monitors',
  allMonitors: 'All',
  runsShown: 'last runs',
  inEnvironment: (slug: string, environment: string) => `${slug}, ${environment}`,
  runs: (good: number, all: number) => `${good} of the last ${all} runs OK`,
  states: {
    ok: 'In order',
    late: 'Late',
    long: 'Long',
    failed: 'Failed',
    missed: 'Missed',
    waiting: 'Waiting',
  } satisfies Record<MonitorEnvironment['status'], string>,
  paused: 'Paused',
  muted: 'Muted',
} as const
