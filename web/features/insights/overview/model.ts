import { MIN_VALUES } from '#shared/rate-words.ts'
import type { Alert } from '../../../api/alert-queries.ts'
import type { Issue } from '../../../api/issue-queries.ts'
import type { Monitor, MonitorEnvironment } from '../../../api/monitor-queries.ts'
import type { Overview } from '../../../api/overview-queries.ts'
import type { Performance } from '../../../api/performance-queries.ts'
import type { ReleaseRow } from '../../../api/release-queries.ts'

/** The overview computes this from the answers of the service. Pure. */

export type Requests = Performance['requests']
export type Limits = Performance['limits']

type Cards = Overview['cards']
type Rate = Pick<Cards['crash_rate'], 'value' | 'word' | 'finding' | 'limit'>
type Figures = {
  readonly cards: {
    readonly crash_rate: Rate
    readonly anr_rate: Rate
    readonly event_count: Pick<Cards['event_count'], 'value'>
  }
  readonly releases: readonly unknown[]
  readonly issues: Pick<Overview['issues'], 'open'>
  readonly intake: Pick<Overview['intake'], 'accepted'>
}

export type Facts = {
  readonly overview: Figures
  /** Null where nothing is traced, and for apps, whose figures are those of sessions. */
  readonly requests: Requests | null
  /** Limits of the project for them. */
  readonly limits: Limits | null
  /** First seen in the time, and come back in it. */
  readonly fresh: readonly Issue[]
  readonly back: readonly Issue[]
  readonly alerts: readonly Alert[]
  readonly releases: readonly ReleaseRow[]
  readonly monitors: readonly MonitorPart[]
}

export type MonitorPart = { readonly monitor: Monitor; readonly environment: MonitorEnvironment }

/** Where a fact leads. */
export type Target =
  | { readonly kind: 'issue' | 'release' | 'monitor' | 'alert'; readonly id: string }
  | { readonly kind: 'metrics' | 'alerts' | 'monitors' | 'issues' }

export type Word = 'good' | 'watch' | 'poor'

export type Verdict = { readonly word: Word; readonly reason: Reason; readonly others: number }

export type Reason =
  | { readonly kind: 'alerts'; readonly count: number; readonly first: Alert }
  | { readonly kind: 'hold'; readonly release: ReleaseRow }
  | { readonly kind: 'crash' | 'anr'; readonly rate: number; readonly limit: number }
  | { readonly kind: 'monitors'; readonly count: number; readonly first: MonitorPart }
  | { readonly kind: 'back' | 'critical'; readonly count: number; readonly first: Issue }
  | { readonly kind: 'rose'; readonly before: number; readonly after: number; readonly since: string }
  | { readonly kind: 'slow' | 'failures'; readonly now: number; readonly before: number }
  | { readonly kind: 'p95Limit' | 'failureLimit'; readonly now: number; readonly limit: number }
  | { readonly kind: 'fine' }
  | { readonly kind: 'nothing' }

/** Whether a monitor needs a person, as the page of monitors has it. */
export const isFailing = ({ monitor, environment }: MonitorPart): boolean =>
  monitor.state === 'active' && environment.is_failing && environment.problem !== 'late'

export const isSilent = ({ overview: { cards, releases, intake, issues } }: Pick<Facts, 'overview'>): boolean =>
  (cards.event_count.value ?? 0) === 0 &&
  cards.crash_rate.value === null &&
  releases.length === 0 &&
  issues.open === 0 &&
  intake.accepted === 0

/** The worst that needs a person, and how many other reasons there are. */
export function judge(facts: Facts): Verdict {
  const { overview, requests, limits, alerts, releases, monitors, back, fresh } = facts
  const { crash_rate: crash, anr_rate: anr } = overview.cards
  const firing = alerts.filter(({ state }) => state === 'firing')
  const held = releases.find(({ verdict }) => verdict === 'hold')
  const failing = monitors.filter(isFailing)
  const critical = fresh.filter(({ severity }) => severity === 'critical')
  const rate = (kind: 'crash' | 'anr', card: typeof crash): Reason[] =>
    card.value === null ? [] : [{ kind, rate: card.value, limit: card.limit.value }]
  const poor: Reason[] = [
    ...first(firing, (alert) => ({ kind: 'alerts', count: firing.length, first: alert })),
    ...(held === undefined ? [] : [{ kind: 'hold', release: held } satisfies Reason]),
    ...(crash.word === 'poor' ? rate('crash', crash) : []),
    ...(anr.word === 'poor' ? rate('anr', anr) : []),
    ...judgeByLimits(requests, limits, 'poor'),
    ...first(failing, (part) => ({ kind: 'monitors', count: failing.length, first: part })),
  ]
  const { finding } = crash
  const watch: Reason[] = [
    ...first(critical, (issue) => ({ kind: 'critical', count: critical.length, first: issue })),
    ...first(back, (issue) => ({ kind: 'back', count: back.length, first: issue })),
    ...(finding?.kind === 'rose' ? [{ ...finding, kind: 'rose' } satisfies Reason] : []),
    ...judgeByLimits(requests, limits, 'watch'),
    ...(requests === null ? [] : judgeRequests(requests, limits)),
    ...(crash.word === 'watch' ? rate('crash', crash) : []),
    ...(anr.word === 'watch' ? rate('anr', anr) : []),
  ]
  const reasons = [...poor, ...watch]
  const [reason] = reasons
  if (reason === undefined) return { word: 'good', reason: { kind: isSilent(facts) ? 'nothing' : 'fine' }, others: 0 }
  return { word: poor.length > 0 ? 'poor' : 'watch', reason, others: reasons.length - 1 }
}

/** Growth of P95, and points of the failure rate, that a person should know of. */
const SLOWER = 0.5
const MORE_FAILURES = 0.01

/** Figures of requests that a limit of the project gives a word. */
function judgeByLimits(requests: Requests | null, limits: Limits | null, word: Word): Reason[] {
  const judged = (kind: 'p95Limit' | 'failureLimit', now: number | null, limit: Limits['p95_ms']): Reason[] =>
    limit?.word === word && now !== null ? [{ kind, now, limit: limit.poor }] : []
  return requests === null || limits === null
    ? []
    : [
        ...judged('failureLimit', requests.failure_rate, limits.failure_rate),
        ...judged('p95Limit', requests.p95_ms, limits.p95_ms),
      ]
}

const isNamed = (limit: Limits['p95_ms'] | undefined): boolean => limit?.word === 'poor' || limit?.word === 'watch'

/** Figures of requests that got worse against the time before, unless their limit is the reason. */
function judgeRequests(
  { count, p95_ms: p95, failure_rate: rate, previous }: Requests,
  limits: Limits | null,
): Reason[] {
  if (count < MIN_VALUES || previous.count < MIN_VALUES) return []
  const { p95_ms: p95Before, failure_rate: rateBefore } = previous
  return [
    ...(!isNamed(limits?.failure_rate) && rate !== null && rate - (rateBefore ?? 0) >= MORE_FAILURES
      ? [{ kind: 'failures', now: rate, before: rateBefore ?? 0 } satisfies Reason]
      : []),
    ...(!isNamed(limits?.p95_ms) && p95 !== null && p95Before !== null && p95 >= p95Before * (1 + SLOWER)
      ? [{ kind: 'slow', now: p95, before: p95Before } satisfies Reason]
      : []),
  ]
}

/** P95 of requests; null where they are too few. */
export const requestP95 = ({ p95_ms: p95, count }: Pick<Requests, 'p95_ms' | 'count'>): number | null =>
  count < MIN_VALUES ? null : p95

const first = <T>(list: readonly T[], toReason: (one: T) => Reason): Reason[] => list.slice(0, 1).map(toReason)

export type Change = { readonly at: string; readonly key: string } & (
  | { readonly kind: 'new' | 'back'; readonly issue: Issue }
  | { readonly kind: 'release'; readonly release: ReleaseRow }
  | { readonly kind: 'alert'; readonly alert: Alert }
  | { readonly kind: 'monitor'; readonly part: MonitorPart }
)

const MAX_CHANGES = 7

/** The changes since a time, newest first; of many the new issues of low severity go first. */
export function listChanges({ fresh, back, alerts, releases, monitors }: Facts, since: string): Change[] {
  const changes: (Change & { weight: number })[] = [
    ...alerts.map((alert) => ({ kind: 'alert' as const, key: alert.id, at: alert.fired_at, alert, weight: 0 })),
    ...monitors.filter(isFailing).flatMap((part) =>
      part.environment.since === null
        ? []
        : {
            kind: 'monitor' as const,
            key: `${part.monitor.id} ${part.environment.name}`,
            at: part.environment.since,
            part,
            weight: 0,
          },
    ),
    ...back.map((issue) => ({ kind: 'back' as const, key: issue.id, at: issue.status_changed_at, issue, weight: 0 })),
    ...releases.flatMap((release) => {
      const at = release.first_seen ?? release.released_at
      return at === null ? [] : { kind: 'release' as const, key: release.id, at, release, weight: 1 }
    }),
    ...fresh
      .filter(({ id }) => !back.some((other) => other.id === id))
      .map((issue) => ({
        kind: 'new' as const,
        key: issue.id,
        at: issue.first_seen,
        issue,
        weight: issue.severity === 'critical' || issue.severity === 'high' ? 1 : 2,
      })),
  ]
  return changes
    .filter(({ at }) => at >= since)
    .toSorted((a, b) => a.weight - b.weight || (a.at < b.at ? 1 : -1))
    .slice(0, MAX_CHANGES)
    .toSorted((a, b) => (a.at < b.at ? 1 : -1))
}

/** New issues and those that came back in the time, worst first. */
export const listNewAndBack = ({ fresh, back }: Pick<Facts, 'fresh' | 'back'>): Issue[] => {
  const rank = ({ severity }: Issue): number => ['critical', 'high', 'medium', 'low'].indexOf(severity)
  return [...back, ...fresh.filter(({ id }) => !back.some((other) => other.id === id))].toSorted(
    (a, b) => rank(a) - rank(b) || b.event_count - a.event_count,
  )
}

export type CardKind = 'crash' | 'anr' | 'events' | 'users' | 'issues' | 'received' | 'failed' | 'p95'

/** The cards that a platform has data for. */
export function chooseCards(
  { cards }: Pick<Figures, 'cards'>,
  platform: string,
  requests: Requests | null,
): CardKind[] {
  if (cards.crash_rate.value === null && requests !== null) return ['failed', 'p95', 'events', 'issues']
  if (cards.crash_rate.value === null) return ['events', 'users', 'issues', 'received']
  return platform === 'web' || cards.anr_rate.value === null
    ? ['crash', 'events', 'users', 'issues']
    : ['crash', 'anr', 'users', 'issues']
}

/** Monitors that need a person first, then those that are not OK. */
export const orderMonitors = (parts: readonly MonitorPart[]): MonitorPart[] =>
  parts.toSorted(
    (a, b) =>
      Number(isFailing(b)) - Number(isFailing(a)) ||
      Number(b.environment.is_failing) - Number(a.environment.is_failing) ||
      a.monitor.slug.localeCompare(b.monitor.slug),
  )
