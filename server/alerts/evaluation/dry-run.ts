import type { z } from 'zod'
import { TRIGGERS, thresholdUnit, SECURITY_KINDS } from '#shared/alert-rules.ts'
import type { dryRunRoutes, DryRun } from '../rules/alerts.api.ts'
import { completeConditions, isP95Threshold } from '../rules/conditions.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { shortId, isClosed, SEVERITIES, type SeverityName, severityName } from '#shared/issue-values.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import type { HistoryPoint, RateRule } from './evaluator.ts'
import { EVALUATORS } from './evaluators.ts'
import { countText, durationText, percentText, scoreText, windowText } from './measure-texts.ts'
import { hasEventsSince, type PastFact, type IssueOfMoment, issuesById } from './past-facts.queries.ts'
import { countedWord } from '../../platform/kernel/value-text.ts'
import { MINUTE_MS, HOUR_MS } from '../../platform/kernel/day.ts'
import { findEventEnvironments } from '../../events/store/store.queries.ts'
import * as sql from './past-facts.queries.ts'

const HOURS = 7 * 24
const MAX_OCCURRENCES = 100

/**
 * Alerts that a rule would have fired in the last seven days, with its cool-down.
 * @throws AppError not_found (project), invalid (conditions)
 */
export async function dryRun(
  app: App,
  actor: OrgActor,
  input: z.output<typeof dryRunRoutes.dryRunAlertRule.body>,
): Promise<z.input<typeof DryRun>> {
  const { projectId, trigger_type: trigger } = input
  await requireProject(app, actor, projectId)
  const conditions = completeConditions(trigger, input.conditions)
  const rule: RateRule = { id: newId(), orgId: actor.orgId, projectId, trigger, conditions }
  const to = app.clock.now()
  const lastHour = Math.ceil(to.getTime() / HOUR_MS) * HOUR_MS
  const from = new Date(lastHour - HOURS * HOUR_MS)
  const evaluator = EVALUATORS.get(trigger)
  const [found, foundFacts, hasEvents] = await Promise.all([
    evaluator?.history(app, rule, from, to) ?? [],
    pastFacts(app, rule, { from, to }),
    hasEventsSince(app.db, projectId, from),
  ])
  const wasClosed = await pastClosed(
    app,
    [
      ...found.flatMap(({ holds, issueId }) => (holds ? (issueId ?? []) : [])),
      ...foundFacts.map(({ issueId }) => issueId),
    ],
    from,
  )
  const past = found.map((point) => ({
    ...point,
    holds: point.holds && (point.issueId === undefined || !wasClosed(point.issueId, point.at)),
  }))
  const facts = foundFacts.filter(({ issueId, at }) => !wasClosed(issueId, at))
  const present = evaluator === undefined ? [] : await presentOf(app, rule, to)
  const points = [...past, ...present]
  const isSpike = trigger === 'issue_spike'
  const moments = replayRule(
    { points, facts },
    { cooldownMs: input.cooldown_minutes * MINUTE_MS, endsWithoutPoint: isSpike },
  )
  const shown = moments.toReversed().slice(0, MAX_OCCURRENCES)
  const issues = await issuesById(app.db, [...new Set(shown.flatMap(({ issueId }) => issueId ?? []))])
  const isFact = TRIGGERS[trigger].by === 'fact'
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    count: moments.length,
    occurrences: shown.map((moment) => viewMoment(rule, moment, issues)),
    unit: thresholdUnit(trigger, conditions),
    threshold: isFact ? null : (conditions.threshold ?? null),
    interval_seconds: HOUR_MS / 1_000,
    points: isFact ? countsByHour(facts, from) : highestByHour(points, from, isSpike ? 0 : null),
    measures: measuresOf(rule),
    has_data: isFact || isSpike ? hasEvents : points.some(({ value }) => value !== null),
  }
}

/** The rule's measurement now: the windows of the past end with whole quarters of an hour. */
async function presentOf(app: App, rule: RateRule, at: Date): Promise<HistoryPoint[]> {
  const measured = (await EVALUATORS.get(rule.trigger)?.measure(app, [rule], at))?.get(rule.id) ?? []
  return measured.map(({ subject, issueId, value, holds }) => ({
    at,
    subject,
    ...(issueId === undefined ? {} : { issueId }),
    value,
    holds,
  }))
}

/** The number of the hour after `from` that a moment ends. */
const hourOf = (at: Date, from: Date): number =>
  Math.min(HOURS - 1, Math.max(0, Math.ceil((at.getTime() - from.getTime()) / HOUR_MS) - 1))

const timesOf = (from: Date): string[] =>
  Array.from({ length: HOURS }, (_, hour) => new Date(from.getTime() + hour * HOUR_MS).toISOString())

function highestByHour(
  points: readonly HistoryPoint[],
  from: Date,
  empty: number | null,
): { t: string; value: number | null }[] {
  const highest = new Map<number, number>()
  for (const { at, value } of points)
    if (value !== null) {
      const hour = hourOf(at, from)
      highest.set(hour, Math.max(value, highest.get(hour) ?? Number.NEGATIVE_INFINITY))
    }
  return timesOf(from).map((t, hour) => ({ t, value: highest.get(hour) ?? empty }))
}

function countsByHour(facts: readonly PastFact[], from: Date): { t: string; value: number }[] {
  const counts = new Map<number, number>()
  for (const { at } of facts) counts.set(hourOf(at, from), (counts.get(hourOf(at, from)) ?? 0) + 1)
  return timesOf(from).map((t, hour) => ({ t, value: counts.get(hour) ?? 0 }))
}

function viewMoment(
  rule: RateRule,
  { at, subject, issueId, value }: Moment,
  issues: ReadonlyMap<string, IssueOfMoment>,
): z.input<typeof DryRun>['occurrences'][number] {
  const issue = issues.get(issueId ?? '')
  return {
    at: at.toISOString(),
    title: issue?.title ?? titleOf(rule, subject, value),
    value,
    issue:
      issue === undefined ? null : { id: issue.id, short_id: shortId(issue.slug, issue.number), title: issue.title },
  }
}

function titleOf(rule: RateRule, subject: string, value: number | null): string {
  if (rule.trigger === 'critical_path' || rule.trigger === 'monitor') return `${subject}: ${valueText(rule, value)}`
  return value === null ? 'An issue that was deleted' : valueText(rule, value)
}

function valueText({ trigger, conditions }: RateRule, value: number | null): string {
  if (value === null) return ''
  switch (thresholdUnit(trigger, conditions)) {
    case 'ms':
      return durationText(value)
    case 'percent':
      return percentText(value)
    case 'percent_per_hour':
      return `${percentText(value)} per hour`
    case 'score':
      return `a score of ${scoreText(value)}`
    case 'runs':
      return `${countedWord(value, 'run')} in a row`
    default:
      return `${countText(value)} events`
  }
}

/** The meaning of the points. */
function measuresOf({ trigger, conditions }: RateRule): string {
  const window = `over ${windowText(conditions.window_minutes ?? 60)}`
  switch (trigger) {
    case 'new_issue':
      return 'New issues per hour'
    case 'issue_regression':
      return 'Issues that regressed, per hour'
    case 'security_event':
      return 'Issues with security events, per hour'
    case 'issue_spike':
      return `Events of the busiest issue ${window}`
    case 'pre_crash_state':
      return `Share of sessions with signs of a coming crash, ${window}`
    case 'battery_drain_threshold':
      return `Median battery drain in percent per hour, ${window}`
    case 'performance_threshold':
      return `${measureName(conditions)}, ${window}`
    case 'critical_path':
      return isP95Threshold(conditions.threshold ?? 0)
        ? `P95 of the slowest journey in milliseconds, ${window}`
        : `Failure rate of the worst journey in percent, ${window}`
    case 'monitor':
      return 'Runs in a row that went wrong, of the worst monitor'
  }
}

const METRIC_NAMES: Readonly<Record<NonNullable<RateRule['conditions']['metric']>, string>> = {
  cold_start: 'cold starts in milliseconds',
  warm_start: 'warm starts in milliseconds',
  ttid: 'the time to initial display in milliseconds',
  ttfd: 'the time to full display in milliseconds',
  transaction: 'transactions in milliseconds',
  lcp: 'the largest contentful paint in milliseconds',
  inp: 'the interaction to next paint in milliseconds',
  anr_rate: 'ANR rate in percent of users',
  frozen_frames: 'Frozen frames in percent',
}

function measureName({ metric = 'cold_start', percentile = 'p95', transaction }: RateRule['conditions']): string {
  if (metric === 'anr_rate' || metric === 'frozen_frames') return METRIC_NAMES[metric]
  const of = transaction === undefined ? '' : ` of ${transaction}`
  return `${percentile.toUpperCase()} of ${METRIC_NAMES[metric]}${of}`
}

/**
 * Facts of the past that a rule would have fired on, oldest first. What an issue was at that time is not stored: its
 * present severity decides.
 */
async function pastFacts(
  app: App,
  rule: RateRule,
  range: { readonly from: Date; readonly to: Date },
): Promise<readonly sql.PastFact[]> {
  const { severity: min, environment } = rule.conditions
  const facts = (await readFacts(app, rule, range)).filter(
    (fact) => min === undefined || SEVERITIES.indexOf(severityOf(rule, fact)) <= SEVERITIES.indexOf(min),
  )
  const inOrder = facts.toSorted((a, b) => a.at.getTime() - b.at.getTime())
  if (environment === undefined) return inOrder
  const keys = inOrder.flatMap(({ eventId }) => (eventId === null ? [] : [{ projectId: rule.projectId, eventId }]))
  const environments = await findEventEnvironments(app.db, keys, app.clock.now())
  return inOrder.filter(({ eventId }) => environments.get(`${rule.projectId}/${eventId}`) === environment)
}

function readFacts(
  { db }: App,
  { trigger, projectId, conditions }: RateRule,
  range: { readonly from: Date; readonly to: Date },
): Promise<sql.PastFact[]> {
  switch (trigger) {
    case 'new_issue':
      return sql.pastNewIssues(db, projectId, range)
    case 'issue_regression':
      return sql.pastTransitions(db, projectId, 'regressed', range)
    case 'issue_spike':
      return sql.pastTransitions(db, projectId, 'escalated', range)
    case 'security_event':
      return sql.pastSecurityEvents(
        db,
        projectId,
        SECURITY_KINDS.filter((kind) => conditions.kinds?.includes(kind) !== false),
        range,
      )
    case 'pre_crash_state':
    case 'battery_drain_threshold':
    case 'performance_threshold':
    case 'critical_path':
    case 'monitor':
      return Promise.resolve([])
  }
}

/** Returns whether an issue was resolved or ignored at a time since `from`: its events fired nothing then. */
async function pastClosed(
  app: App,
  issueIds: Iterable<string>,
  from: Date,
): Promise<(issueId: string, at: Date) => boolean> {
  const rows = await sql.readStatuses(app.db, [...new Set(issueIds)], from)
  const issues = new Map(rows.map((row) => [row.issue_id, row]))
  return (issueId, at) => {
    const issue = issues.get(issueId)
    if (issue === undefined) return false
    const next = issue.changes.find(([changedMs]) => changedMs > at.getTime())
    return isClosed(next === undefined ? issue.status : next[1])
  }
}

/** As in alerts: security events are high at least. */
function severityOf({ trigger }: RateRule, { severity }: sql.PastFact): SeverityName {
  const name = severityName(severity)
  return trigger === 'security_event' && name !== 'critical' ? 'high' : name
}

/** Which alerts a rule would have fired, from what it would have seen. Pure. */

/** A moment at which it would have fired. */
type Moment = {
  readonly at: Date
  readonly subject: string
  readonly issueId: string | null
  /** Null for facts. */
  readonly value: number | null
}

type Seen = {
  /** Oldest first. */
  readonly points: readonly HistoryPoint[]
  /** Facts about issues, oldest first. */
  readonly facts: readonly { readonly at: Date; readonly issueId: string }[]
}

type ReplayLimits = {
  readonly cooldownMs: number
  /** Whether the condition ended where a subject has no point: an issue without events. */
  readonly endsWithoutPoint: boolean
}

/** As in the evaluation of every minute: a condition has ended when it did not hold for this long. */
const CALM_MS = 5 * MINUTE_MS

type Subject = { firedMs: number; heldMs: number; open: 'measured' | 'fact' | null }

/**
 * Repeats the decisions of the past: an alert per subject while the condition holds, and none within the cool-down.
 * @returns oldest first
 */
export function replayRule({ points, facts }: Seen, { cooldownMs, endsWithoutPoint }: ReplayLimits): Moment[] {
  const subjects = new Map<string, Subject>()
  const moments: Moment[] = []
  const stateOf = (subject: string): Subject => {
    const state = subjects.get(subject) ?? { firedMs: Number.NEGATIVE_INFINITY, heldMs: 0, open: null }
    subjects.set(subject, state)
    return state
  }
  const fire = (state: Subject, open: 'measured' | 'fact', moment: Moment): void => {
    if (moment.at.getTime() - state.firedMs < cooldownMs) return
    state.firedMs = moment.at.getTime()
    state.open = open
    moments.push(moment)
  }
  const step = ({ at, subject, issueId, value, holds }: HistoryPoint): void => {
    const state = stateOf(subject)
    const sinceMs = at.getTime() - state.heldMs
    const hasEnded = holds ? endsWithoutPoint && sinceMs > HOUR_MS : value !== null && sinceMs >= CALM_MS
    if (state.open === 'measured' && hasEnded) state.open = null
    if (!holds) return
    if (state.open === null) fire(state, 'measured', { at, subject, issueId: issueId ?? null, value })
    state.heldMs = at.getTime()
  }
  const all = [
    ...points.map((point) => ({ at: point.at, run: () => step(point) })),
    ...facts.map(({ at, issueId }) => ({
      at,
      run: () => fire(stateOf(issueId), 'fact', { at, subject: issueId, issueId, value: null }),
    })),
  ]
  for (const { run } of all.toSorted((a, b) => a.at.getTime() - b.at.getTime())) run()
  return moments
}
