import { ALERT_STATES, PERCENTILES, PERFORMANCE_METRICS, TRIGGER_TYPES } from '#shared/alert-values.ts'
import { SIGN_IN_ERRORS } from '#shared/sign-in-errors.ts'
import { ISSUE_SORTS, RANGES, SEVERITIES, type IssueStatusName, type RangeName } from '#shared/issue-values.ts'
import { many, matching, one, parameters, shortText, text, texts, type ValuesOf } from './parameters.ts'

/** Search parameters of each page. Unknown names and values are dropped silently. */

export type Range = RangeName
export const DEFAULT_RANGE: Range = '24h'
/** Releases are followed for weeks. */
export const RELEASE_RANGE: Range = '30d'
/** A week shows the usual days beside the unusual one. */
export const HEALTH_RANGE: Range = '7d'

/** In the order in which the dashboard shows them. */
const STATUSES = [
  'unresolved',
  'regressed',
  'escalated',
  'ignored',
  'resolved',
] as const satisfies readonly IssueStatusName[]

const id = matching(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i)

/** A minute, such as `2026-11-20T06:15Z`. */
const minute = text((given) => /^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/.test(given) && !Number.isNaN(Date.parse(given)))

/** Any words. */
const words = texts(matching(/^[\w.+-]{1,50}$/))

/** Any names, such as releases; a comma is part of a name. */
const names = texts(shortText(200))

/** Links between pages keep project and range. */
export const ShellSearch = parameters({
  /** A project's id; absent for all projects. */
  project: id,
  range: one(RANGES),
})
export type ShellSearch = ValuesOf<typeof ShellSearch>

export const IssuesSearch = parameters({
  ...ShellSearch.reads,
  /** Absent for open issues. */
  status: many(STATUSES),
  severity: many(SEVERITIES),
  /** As SDKs name them: `node`, `python`. */
  platform: words,
  /** The maximum of the API: a dropped query would show every issue. */
  q: shortText(10_000),
  sort: one(ISSUE_SORTS),
  /** A member's id, `me` or `none`. */
  assignee: (given) => id(given) ?? one(['me', 'none'])(given),
  /** A part of the range. Used only if both are given. */
  from: minute,
  to: minute,
  /** The issue under the keyboard cursor, so that Back returns to its row. */
  cursor: id,
  /** The saved view that was opened. */
  view: id,
})
export type IssuesSearch = ValuesOf<typeof IssuesSearch>

/** Clears all filters except the status. */
export const NO_FILTERS: Readonly<Partial<IssuesSearch>> = {
  severity: undefined,
  platform: undefined,
  assignee: undefined,
  q: undefined,
  from: undefined,
  to: undefined,
}

/** The selected part of the range; null for all of it. */
export function selectedWindow({ from, to }: Pick<IssuesSearch, 'from' | 'to'>): { from: string; to: string } | null {
  return from === undefined || to === undefined || Date.parse(from) >= Date.parse(to) ? null : { from, to }
}

const eventId = matching(/^[0-9a-f]{32}$/)

export const IssueSearch = parameters({
  ...ShellSearch.reads,
  /** `oldest`, `most_complete`, or an event's id; absent for the latest. */
  event: (given) => one(['oldest', 'most_complete'])(given) ?? eventId(given),
  /** A filter of events: `release:2.4.0 user:7 timeout`. */
  only: shortText(2_000),
  tab: shortText(40),
})
export type IssueSearch = ValuesOf<typeof IssueSearch>

export const IssueEventsSearch = parameters({
  ...ShellSearch.reads,
  /** A filter of events: `release:2.4.0 user:7 timeout`. */
  only: shortText(2_000),
  /** Names of columns; absent for those that tell the events apart. */
  column: names,
})
export type IssueEventsSearch = ValuesOf<typeof IssueEventsSearch>

export const FeedbackSearch = parameters({
  project: id,
  /** Absent for the inbox. */
  view: one(['mine', 'resolved', 'spam', 'all']),
  q: shortText(200),
  /** Only messages about this issue. */
  issue: id,
  /** The message that is shown. */
  id,
})
export type FeedbackSearch = ValuesOf<typeof FeedbackSearch>

export const AskSearch = parameters({
  ...ShellSearch.reads,
  /** The subject of the questions. */
  issue: id,
  release: id,
  /** A question that is typed but not asked. */
  q: shortText(2_000),
})
export type AskSearch = ValuesOf<typeof AskSearch>

export const QuerySearch = parameters({
  ...ShellSearch.reads,
  /** A question, or a statement. A link runs neither. */
  q: shortText(2_000),
  sql: shortText(8_000),
})
export type QuerySearch = ValuesOf<typeof QuerySearch>

export const ReleasesSearch = parameters({
  ...ShellSearch.reads,
  /** Limits sessions to one environment. */
  environment: shortText(64),
})
export type ReleasesSearch = ValuesOf<typeof ReleasesSearch>

/** Filters of metrics and performance; each may repeat, and any of its values matches. */
export const HealthSearch = parameters({
  ...ShellSearch.reads,
  release: names,
  environment: names,
  os: names,
  device: names,
  device_class: many(['low', 'medium', 'high']),
})
export type HealthSearch = ValuesOf<typeof HealthSearch>

export const METRICS = ['crash_rate', 'anr_rate', 'event_count', 'user_count'] as const

export const MetricsSearch = parameters({
  ...HealthSearch.reads,
  /** A part of the range. Used only if both are given. */
  from: minute,
  to: minute,
  /** Absent: the charts also show the period before. */
  compare: one(['off']),
  /** The chart that is shown large. */
  chart: one(METRICS),
})
export type MetricsSearch = ValuesOf<typeof MetricsSearch>

export const SCREEN_SORTS = ['-p95', '-p75', '-count', 'name'] as const
export type ScreenSort = (typeof SCREEN_SORTS)[number]

export const PerformanceSearch = parameters({
  ...HealthSearch.reads,
  from: minute,
  to: minute,
  /** The screen that is shown in detail. */
  screen: shortText(250),
  /** Absent for the slowest first. */
  order: one(SCREEN_SORTS),
})
export type PerformanceSearch = ValuesOf<typeof PerformanceSearch>

/** A name that a check-in may have. */
const environmentName = shortText(64)

export const MonitorsSearch = parameters({
  project: id,
  /** Absent for all monitors. */
  state: one(['attention']),
  env: environmentName,
})
export type MonitorsSearch = ValuesOf<typeof MonitorsSearch>

export const RUN_FILTERS = ['problems', 'missed', 'failed', 'long', 'late'] as const
export type RunFilter = (typeof RUN_FILTERS)[number]

export const MonitorSearch = parameters({
  project: id,
  /** Absent for production, or the first by name. */
  env: environmentName,
  /** The runs that are listed; absent for all. */
  kind: one(RUN_FILTERS),
})
export type MonitorSearch = ValuesOf<typeof MonitorSearch>

/** A positive number as text: addresses hold texts. */
const amount = matching(/^\d{1,9}(\.\d{1,6})?$/)

export const TracesSearch = parameters({
  ...ShellSearch.reads,
  from: minute,
  to: minute,
  /** Operations of first spans, names of transactions, and so on: any of the values matches; of tags, all. */
  op: names,
  name: names,
  result: many(['error', 'ok']),
  release: names,
  environment: names,
  tag: names,
  /** Milliseconds. */
  min: amount,
  max: amount,
  q: shortText(200),
})
export type TracesSearch = ValuesOf<typeof TracesSearch>

export const TraceSearch = parameters({
  /** The span that is shown in detail. */
  span: matching(/^[0-9a-f]{16}$/),
})
export type TraceSearch = ValuesOf<typeof TraceSearch>
/** As the API names them, worst first. */
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const

/** `<attribute>=<value>` */
const pairs = texts(matching(/^[^=]{1,200}=[^]{0,200}$/))

export const LogsSearch = parameters({
  ...ShellSearch.reads,
  q: shortText(200),
  level: many(LOG_LEVELS),
  with: pairs,
  without: pairs,
  trace: matching(/^[0-9a-f]{32}$/),
  from: minute,
  to: minute,
  /** The moment whose lines are shown, instead of those of the filters. */
  at: text((given) => given.length < 40 && !Number.isNaN(Date.parse(given))),
  live: one(['on']),
})
export type LogsSearch = ValuesOf<typeof LogsSearch>

export const METRIC_AGGREGATES = ['count', 'sum', 'avg', 'min', 'max', 'p50', 'p95'] as const

export const TraceMetricsSearch = parameters({
  ...ShellSearch.reads,
  /** The shown metric; absent for the first. */
  name: shortText(200),
  /** Absent for the usual one of its type. */
  show: one(METRIC_AGGREGATES),
  /** The attribute by which it is grouped. */
  by: shortText(200),
  from: minute,
  to: minute,
})
export type TraceMetricsSearch = ValuesOf<typeof TraceMetricsSearch>

/** Firing alerts and rules. */
export const AlertsSearch = parameters({ project: id })
export type AlertsSearch = ValuesOf<typeof AlertsSearch>

export const AlertHistorySearch = parameters({
  ...AlertsSearch.reads,
  state: many(ALERT_STATES),
  rule: id,
  /** The alert that is shown in detail. */
  alert: id,
})
export type AlertHistorySearch = ValuesOf<typeof AlertHistorySearch>

/** Values with which the form of a new rule opens. */
export const NewRuleSearch = parameters({
  ...AlertsSearch.reads,
  trigger: one(TRIGGER_TYPES),
  metric: one(PERFORMANCE_METRICS),
  percentile: one(PERCENTILES),
  threshold: amount,
  /** A transaction, screen or page. */
  transaction: shortText(200),
  /** The slug of a monitor. */
  monitor: shortText(128),
  /** The rule that is copied. */
  from: id,
})
export type NewRuleSearch = ValuesOf<typeof NewRuleSearch>

/** Ids with a prefix, such as `d_`. */
const deliveryId = matching(/^d_[0-9a-z]{26}$/)

/** A UTC day, such as `2026-11-20`. */
const day = text((given) => /^\d{4}-\d\d-\d\d$/.test(given) && !Number.isNaN(Date.parse(given)))

export const DELIVERY_FILTERS = ['failed', 'retrying'] as const

export const WebhooksSearch = parameters({
  /** The selected endpoint; absent for the first. */
  endpoint: id,
  /** The delivery that is shown in detail. */
  delivery: deliveryId,
  /** Absent for all deliveries. */
  state: one(DELIVERY_FILTERS),
  /** An event type. */
  type: matching(/^[a-z][a-z0-9_.]{0,99}$/),
  from: day,
  to: day,
  /** The page of deliveries: the cursor after which it begins. */
  after: shortText(200),
})
export type WebhooksSearch = ValuesOf<typeof WebhooksSearch>

export const AuditSearch = parameters({
  /** An action, or the start of one before `*`. */
  action: matching(/^(?=.)[a-z0-9_.]{0,100}\*?$/),
  /** An id or e-mail address. */
  actor: shortText(320),
  /** An id or a label. */
  target: shortText(500),
  from: day,
  to: day,
  /** The entry that is shown in detail. */
  entry: shortText(40),
})
export type AuditSearch = ValuesOf<typeof AuditSearch>

/** Why the service ended a session, as the log-in page explains it. */
const SESSION_ENDS = ['theft', 'password', 'two_factor', 'elsewhere', 'many', 'membership', 'account'] as const
export type SessionEndReason = (typeof SESSION_ENDS)[number]

export const LoginSearch = parameters({
  /** The page after logging in: a path of this site. */
  next: text((given) => /^\/(?![/\\])/.test(given) && given.length <= 2000),
  /** sso: asks for the organisation. code, link: what a sign-in elsewhere still needs. */
  step: one(['sso', 'code', 'link']),
  /** Why a sign-in elsewhere failed. */
  error: one(SIGN_IN_ERRORS),
  /** Why the session before ended. */
  ended: one(SESSION_ENDS),
  /** The event after which the user has to log in. */
  done: one(['reset', 'deleted']),
})
export type LoginSearch = ValuesOf<typeof LoginSearch>

export const SecuritySearch = parameters({
  /** The account that was just linked. */
  linked: one(['github', 'google']),
  /** Why an account was not linked. */
  error: one(SIGN_IN_ERRORS),
})

/** The pages of mailed links. */
export const LinkSearch = parameters({ token: shortText(200) })
export type LinkSearch = ValuesOf<typeof LinkSearch>

export const OnboardingSearch = parameters({
  project: id,
  /** The server whose code is shown first. */
  sdk: one(['node', 'python', 'java', 'go', 'ruby', 'php', 'csharp', 'rust']),
  step: one(['project', 'sdk']),
})
export type OnboardingSearch = ValuesOf<typeof OnboardingSearch>

/** `?status=a&status=b` → `{ status: ['a', 'b'] }`; a single value is a string. */
export function parseSearch(search: string): Record<string, unknown> {
  const given = new URLSearchParams(search)
  return Object.fromEntries(
    [...new Set(given.keys())].map((key) => {
      const values = given.getAll(key)
      return [key, values.length === 1 ? values[0] : values]
    }),
  )
}

/** The reverse of `parseSearch`: readable query strings. */
export function stringifySearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams()
  for (const [key, value] of Object.entries(search)) {
    for (const single of Array.isArray(value) ? value : [value])
      if (typeof single === 'string' && single !== '') params.append(key, single)
  }
  const written = params.toString()
  return written === '' ? '' : `?${written}`
}
