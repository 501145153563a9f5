import { ALERT_STATES, PERCENTILES, PERFORMANCE_METRICS, TRIGGER_TYPES } from '#shared/alert-rules.ts'
import { SIGN_IN_ERRORS } from '#shared/sign-in-errors.ts'
import { ISSUE_SORTS, RANGES, SEVERITIES, type IssueStatusName, type RangeName } from '#shared/issue-values.ts'
import * as z from 'zod/mini'

// The content security policy forbids eval, which zod tries for speed.
z.config({ jitless: true })

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

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** The value, or undefined if it is not allowed. */
const lenient = <T>(schema: z.ZodMiniType<T>) => z.catch(z.optional(schema), undefined)

const id = z.string().check(z.regex(UUID))
const one = <const T extends readonly [string, ...string[]]>(values: T) => lenient(z.enum(values))

/** A parameter that may repeat: its allowed values in the order of `values`, each once; undefined if there are none. */
const many = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.optional(
    z.pipe(
      z.unknown(),
      z.transform((given): T[number][] | undefined => {
        const wanted = new Set(Array.isArray(given) ? given : [given])
        const kept = values.filter((value) => wanted.has(value))
        return kept.length === 0 ? undefined : kept
      }),
    ),
  )

/** A minute, such as `2026-11-20T06:15Z`. */
const minute = lenient(
  z.string().check(
    z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/),
    z.refine((time) => !Number.isNaN(Date.parse(time))),
  ),
)

const text = (maxLength: number) => lenient(z.string().check(z.minLength(1), z.maxLength(maxLength)))

/** A parameter of any words that may repeat: each once, at most 20. */
const words = z.optional(
  z.pipe(
    z.unknown(),
    z.transform((given): string[] | undefined => {
      const all: unknown[] = Array.isArray(given) ? given : [given]
      const kept = all.filter((value) => typeof value === 'string' && /^[\w.+-]{1,50}$/.test(value)).map(String)
      return kept.length === 0 ? undefined : [...new Set(kept)].slice(0, 20)
    }),
  ),
)

/** A parameter of any names that may repeat, such as releases; a comma is part of a name. Each once, at most 20. */
const names = z.optional(
  z.pipe(
    z.unknown(),
    z.transform((given): string[] | undefined => {
      const all: unknown[] = Array.isArray(given) ? given : [given]
      const kept = all.filter((value) => typeof value === 'string' && value !== '' && value.length <= 200).map(String)
      return kept.length === 0 ? undefined : [...new Set(kept)].slice(0, 20)
    }),
  ),
)

/** Links between pages keep project and range. */
export const ShellSearch = z.object({
  /** A project's id; absent for all projects. */
  project: lenient(id),
  range: one(RANGES),
})
export type ShellSearch = z.infer<typeof ShellSearch>

export const IssuesSearch = z.extend(ShellSearch, {
  /** Absent for open issues. */
  status: many(STATUSES),
  severity: many(SEVERITIES),
  /** As SDKs name them: `node`, `python`. */
  platform: words,
  /** The maximum of the API: a dropped query would show every issue. */
  q: text(10_000),
  sort: one(ISSUE_SORTS),
  /** A member's id, `me` or `none`. */
  assignee: lenient(z.union([id, z.enum(['me', 'none'])])),
  /** A part of the range. Used only if both are given. */
  from: minute,
  to: minute,
  /** The issue under the keyboard cursor, so that Back returns to its row. */
  cursor: lenient(id),
  /** The saved view that was opened. */
  view: lenient(id),
})
export type IssuesSearch = z.infer<typeof IssuesSearch>

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
export function windowOf({ from, to }: Pick<IssuesSearch, 'from' | 'to'>): { from: string; to: string } | null {
  return from === undefined || to === undefined || Date.parse(from) >= Date.parse(to) ? null : { from, to }
}

export const IssueSearch = z.extend(ShellSearch, {
  /** `oldest`, `most_complete`, or an event's id; absent for the latest. */
  event: lenient(z.union([z.enum(['oldest', 'most_complete']), z.string().check(z.regex(/^[0-9a-f]{32}$/))])),
  /** A filter of events: `release:2.4.0 user:7 timeout`. */
  only: text(2_000),
  tab: text(40),
})
export type IssueSearch = z.infer<typeof IssueSearch>

export const IssueEventsSearch = z.extend(ShellSearch, {
  /** A filter of events: `release:2.4.0 user:7 timeout`. */
  only: text(2_000),
  /** Names of columns; absent for those that tell the events apart. */
  column: names,
})
export type IssueEventsSearch = z.infer<typeof IssueEventsSearch>

export const ReleasesSearch = z.extend(ShellSearch, {
  /** Limits sessions to one environment. */
  environment: text(64),
})
export type ReleasesSearch = z.infer<typeof ReleasesSearch>

/** What metrics and performance are filtered by; each may repeat, and any of its values matches. */
export const HealthSearch = z.extend(ShellSearch, {
  release: names,
  environment: names,
  os: names,
  device: names,
  device_class: many(['low', 'medium', 'high']),
})
export type HealthSearch = z.infer<typeof HealthSearch>

export const METRICS = ['crash_rate', 'anr_rate', 'event_count', 'user_count'] as const

export const MetricsSearch = z.extend(HealthSearch, {
  /** A part of the range. Used only if both are given. */
  from: minute,
  to: minute,
  /** Absent: the charts also show the period before. */
  compare: one(['off']),
  /** The chart that is shown large. */
  chart: one(METRICS),
})
export type MetricsSearch = z.infer<typeof MetricsSearch>

export const SCREEN_SORTS = ['-p95', '-p75', '-count', 'name'] as const
export type ScreenSort = (typeof SCREEN_SORTS)[number]

export const PerformanceSearch = z.extend(HealthSearch, {
  from: minute,
  to: minute,
  /** The screen that is shown in detail. */
  screen: text(250),
  /** Absent for the slowest first. */
  order: one(SCREEN_SORTS),
})
export type PerformanceSearch = z.infer<typeof PerformanceSearch>

/** Firing alerts and rules. */
export const AlertsSearch = z.object({ project: lenient(id) })
export type AlertsSearch = z.infer<typeof AlertsSearch>

export const AlertHistorySearch = z.extend(AlertsSearch, {
  state: many(ALERT_STATES),
  rule: lenient(id),
  /** The alert that is shown in detail. */
  alert: lenient(id),
})
export type AlertHistorySearch = z.infer<typeof AlertHistorySearch>

/** A positive number as text: addresses hold texts. */
const amount = lenient(z.string().check(z.regex(/^\d{1,9}(\.\d{1,6})?$/)))

/** What a new rule begins with. */
export const NewRuleSearch = z.extend(AlertsSearch, {
  trigger: one(TRIGGER_TYPES),
  metric: one(PERFORMANCE_METRICS),
  percentile: one(PERCENTILES),
  threshold: amount,
  /** A transaction, screen or page. */
  transaction: text(200),
  /** The rule that is copied. */
  from: lenient(id),
})
export type NewRuleSearch = z.infer<typeof NewRuleSearch>

/** Ids with a prefix, such as `d_`. */
const deliveryId = z.string().check(z.regex(/^d_[0-9a-z]{26}$/))

/** A UTC day, such as `2026-11-20`. */
const day = lenient(
  z.string().check(
    z.regex(/^\d{4}-\d\d-\d\d$/),
    z.refine((date) => !Number.isNaN(Date.parse(date))),
  ),
)

export const DELIVERY_FILTERS = ['failed', 'retrying'] as const

export const WebhooksSearch = z.object({
  /** The selected endpoint; absent for the first. */
  endpoint: lenient(id),
  /** The delivery that is shown in detail. */
  delivery: lenient(deliveryId),
  /** Absent for all deliveries. */
  state: one(DELIVERY_FILTERS),
  /** An event type. */
  type: lenient(z.string().check(z.regex(/^[a-z][a-z0-9_.]{0,99}$/))),
  from: day,
  to: day,
  /** The page of deliveries: the cursor after which it begins. */
  after: text(200),
})
export type WebhooksSearch = z.infer<typeof WebhooksSearch>

export const AuditSearch = z.object({
  /** An action, or the start of one before `*`. */
  action: lenient(z.string().check(z.regex(/^[a-z0-9_.]{0,100}\*?$/), z.minLength(1))),
  /** An id or e-mail address. */
  actor: text(320),
  /** An id or a label. */
  target: text(500),
  from: day,
  to: day,
  /** The entry that is shown in detail. */
  entry: text(40),
})
export type AuditSearch = z.infer<typeof AuditSearch>

/** Why the service ended a session, as the log-in page explains it. */
const SESSION_ENDS = ['theft', 'password', 'two_factor', 'elsewhere', 'many', 'membership', 'account'] as const
export type SessionEndReason = (typeof SESSION_ENDS)[number]

export const LoginSearch = z.object({
  /** The page after logging in: a path of this site. */
  next: lenient(z.string().check(z.regex(/^\/(?![/\\])/), z.maxLength(2000))),
  /** sso: asks for the organisation. code, link: what a sign-in elsewhere still needs. */
  step: one(['sso', 'code', 'link']),
  /** Why a sign-in elsewhere failed. */
  error: one(SIGN_IN_ERRORS),
  /** Why the session before ended. */
  ended: one(SESSION_ENDS),
  /** What happened that needs a log-in now. */
  done: one(['reset', 'deleted']),
})
export type LoginSearch = z.infer<typeof LoginSearch>

export const SecuritySearch = z.object({
  /** The account that was just linked. */
  linked: one(['github', 'google']),
  /** Why an account was not linked. */
  error: one(SIGN_IN_ERRORS),
})

/** The pages of mailed links. */
export const LinkSearch = z.object({ token: text(200) })
export type LinkSearch = z.infer<typeof LinkSearch>

export const OnboardingSearch = z.object({
  project: lenient(id),
  /** The server whose code is shown first. */
  sdk: one(['node', 'python', 'java', 'go', 'ruby', 'php', 'csharp', 'rust']),
  step: one(['project', 'sdk']),
})
export type OnboardingSearch = z.infer<typeof OnboardingSearch>

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
