import type { z } from 'zod'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { computeRateLimits } from '../limits/rate-limiter.ts'
import { limitSettings } from '../limits/limit-settings.ts'
import { newIssuesAt } from '../../projects/registry/general-settings.ts'
import { type ProjectRow, readProject, readProjectKeys } from '../../projects/registry/projects.queries.ts'
import type { Intake } from './intake.api.ts'
import { selectCostlyRules } from './outcomes.queries.ts'
import { selectLosses, selectOutcomes, selectFloodSampling, type HourRow, selectQuota } from './intake.queries.ts'
import { OUTCOMES, type Outcome } from '../../events/items/recorder.ts'
import { backlogOfProject } from '../spool/project-backlog.ts'
import { HOUR_MS, utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { readUsage } from '../limits/org-quota.queries.ts'

type IntakeView = z.input<typeof Intake>
type IntakeRange = keyof typeof RANGES

/** Hours of a range and of each of its points. Outcomes are counted by hour, so no point is shorter. */
const RANGES = {
  '1h': { hours: 2, step: 1 },
  '24h': { hours: 24, step: 1 },
  '7d': { hours: 7 * 24, step: 1 },
  '30d': { hours: 30 * 24, step: 6 },
} as const

/**
 * The outcomes of a project over a range that ends with the current hour. `1h` is this hour and the one before.
 * @throws AppError not_found
 */
export async function readIntake(
  app: App,
  actor: OrgActor,
  projectId: string,
  range: IntakeRange,
): Promise<IntakeView> {
  const project = await readProject(app.db, actor.orgId, projectId)
  if (project === null) throw notFound('Project')
  const { hours, step } = RANGES[range]
  const stepMs = step * HOUR_MS
  const to = (Math.floor(app.clock.now().getTime() / stepMs) + 1) * stepMs
  const from = new Date(to - hours * HOUR_MS)
  const [rows, losses, samples, costly, keys, quota, backlog] = await Promise.all([
    selectOutcomes(app.db, projectId, { from, to: new Date(to) }, step),
    selectLosses(app.db, projectId, from),
    selectFloodSampling(app.db, projectId, from),
    selectCostlyRules(app.db, projectId, from),
    readProjectKeys(app.db, projectId),
    readQuota(app, actor),
    backlogOfProject(app, projectId),
  ])
  const publicKeys = new Map(keys.map((key) => [key.id, key.public_key]))
  return {
    range,
    interval_seconds: stepMs / 1000,
    from: from.toISOString(),
    to: new Date(to).toISOString(),
    points: pointsOf(rows, from.getTime(), to, stepMs),
    totals: totalsOf(rows),
    keys: keysOf(rows.filter(isOfApp)).map((one) => ({ ...one, public_key: publicKeys.get(one.key_id) ?? null })),
    client_losses: losses,
    storms: samples.map((row) => ({
      t: row.hour.toISOString(),
      let_through: row.let_through,
      fingerprints: row.fingerprints,
      first_at: row.first_at.toISOString(),
      last_at: row.last_at.toISOString(),
    })),
    costly_rules: costly.map((row) => ({ ...row, last_at: row.last_at.toISOString() })),
    waiting: {
      requests: backlog?.entries ?? 0,
      bytes: backlog?.bytes ?? 0,
      oldest_seconds: Math.floor((backlog?.oldestAgeMs ?? 0) / 1_000),
    },
    limits: viewLimits(app.config.rateLimitScale, project, app.clock.now()),
    quota,
  }
}

/** Sums by key, in the order of first occurrence. */
function sumBy<R extends HourRow>(
  rows: readonly R[],
  key: (row: R) => string,
): Map<string, { row: R; quantity: number }> {
  const sums = new Map<string, { row: R; quantity: number }>()
  for (const row of rows) {
    const sum = sums.get(key(row))
    if (sum === undefined) sums.set(key(row), { row, quantity: row.quantity })
    else sum.quantity += row.quantity
  }
  return sums
}

/** Client reports are no data of the app. */
const isOfApp = ({ category }: HourRow): boolean => category !== 'internal'

/** The position in {@link OUTCOMES}. */
const rank = (outcome: string): number => OUTCOMES.findIndex((one) => one === outcome)
const isOutcome = (text: string): text is Outcome => rank(text) !== -1
const outcomeOf = (row: HourRow): Outcome => (isOutcome(row.outcome) ? row.outcome : 'dropped')

function pointsOf(rows: readonly HourRow[], from: number, to: number, stepMs: number): IntakeView['points'] {
  const stepOf = (row: HourRow): number => Math.floor((row.hour.getTime() - from) / stepMs)
  const points: IntakeView['points'] = Array.from({ length: (to - from) / stepMs }, (_, index) => ({
    t: new Date(from + index * stepMs).toISOString(),
    outcomes: [],
  }))
  for (const { row, quantity } of sumBy(rows, (one) => `${stepOf(one)} ${one.outcome} ${one.category}`).values())
    points[stepOf(row)]?.outcomes.push({ outcome: outcomeOf(row), category: row.category, quantity })
  for (const point of points)
    point.outcomes.sort((a, b) => rank(a.outcome) - rank(b.outcome) || (a.category < b.category ? -1 : 1))
  return points
}

function totalsOf(rows: readonly HourRow[]): IntakeView['totals'] {
  return [...sumBy(rows, (one) => `${one.outcome} ${one.category} ${one.reason}`).values()]
    .map(({ row, quantity }) => ({ outcome: outcomeOf(row), reason: row.reason, category: row.category, quantity }))
    .sort((a, b) => b.quantity - a.quantity || rank(a.outcome) - rank(b.outcome))
}

function keysOf(rows: readonly HourRow[]): Omit<IntakeView['keys'][number], 'public_key'>[] {
  const keys = new Map<string, IntakeView['keys'][number]['outcomes']>()
  for (const { row, quantity } of sumBy(rows, (one) => `${one.key_id} ${one.outcome}`).values()) {
    const outcomes = keys.get(row.key_id)
    const one = { outcome: outcomeOf(row), quantity }
    if (outcomes === undefined) keys.set(row.key_id, [one])
    else outcomes.push(one)
  }
  const all = (outcomes: IntakeView['keys'][number]['outcomes']): number =>
    outcomes.reduce((sum, one) => sum + one.quantity, 0)
  return [...keys]
    .map(([keyId, outcomes]) => ({
      key_id: keyId,
      outcomes: outcomes.toSorted((a, b) => rank(a.outcome) - rank(b.outcome)),
    }))
    .sort((a, b) => all(b.outcomes) - all(a.outcomes))
}

/** Limits as they apply, RATE_LIMIT_SCALE included. */
function viewLimits(scale: number, project: ProjectRow, now: Date): IntakeView['limits'] {
  const settings = limitSettings(project.settings)
  const { rate_limit_per_minute: perMinute, spike_protection } = settings
  const created = newIssuesAt(
    {
      hour: project.new_issues_hour,
      inHour: project.new_issues_in_hour,
      inDay: project.new_issues_in_day,
    },
    now,
  )
  const [max, burst] = computeRateLimits('error', perMinute, scale)
  return {
    per_minute: scale === 0 ? null : max,
    burst_10s: scale === 0 ? null : burst,
    sessions_per_minute: scale === 0 ? null : computeRateLimits('session', perMinute, scale)[0],
    entries_per_minute: scale === 0 ? null : computeRateLimits('span', perMinute, scale)[0],
    is_default: perMinute === null,
    spike_protection,
    new_issues: {
      per_hour: settings.new_issues_per_hour,
      used_this_hour: created.inHour,
      per_day: settings.new_issues_per_day,
      used_today: created.inDay,
    },
  }
}

type QuotaView = z.input<typeof Intake>['quota']

/** The organisation's quota and how much of today's is used, as of the last second. */
export async function readQuota(app: App, actor: OrgActor): Promise<QuotaView> {
  const day = utcDay(app.clock.now())
  return {
    events_per_day: await selectQuota(app.db, actor.orgId),
    used_today: await readUsage(app.db, actor.orgId, day),
    resets_at: `${dayPlus(day, 1)}T00:00:00.000Z`,
  }
}
