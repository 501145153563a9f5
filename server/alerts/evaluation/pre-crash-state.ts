import { TRIGGERS } from '#shared/alert-rules.ts'
import {
  type Activity,
  readActivities,
  readActivitySeries,
  sumOfActivities,
} from '../../telemetry/app-health/by-project.ts'
import { countOwners, type PrecursorCounts } from '../../telemetry/precursors/precursors.queries.ts'
import type { Evaluator, HistoryPoint, Measured, RateRule } from './evaluator.ts'
import { coveredCells, listWindowEnds, splitIntoStretches } from './history-windows.ts'
import { countText, scoreText, windowText } from './measure-texts.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'
import { countedWord } from '../../platform/kernel/value-text.ts'

/** `pre_crash_state`: the share of sessions that show signs of a coming crash. */

/** A single phone must not alert anybody. */
export const MIN_SESSIONS = 5

const { defaults } = TRIGGERS.pre_crash_state

type Limits = { readonly threshold: number; readonly windowMinutes: number }

const limitsOf = ({ conditions }: RateRule): Limits => ({
  threshold: conditions.threshold ?? defaults.threshold,
  windowMinutes: conditions.window_minutes ?? defaults.window_minutes,
})

type Shown = Pick<PrecursorCounts, 'owners' | 'bySign'> | undefined
type Figure = { readonly value: number | null; readonly owners: number; readonly sessions: number }

/**
 * By users where sessions name them: a user who restarts the app is one. Sessions that began before the window are not
 * among them, so that more owners than sessions are possible.
 */
function figureOf(shown: Shown, activity: Activity | undefined): Figure {
  const users = activity?.users.count() ?? 0
  const sessions = users > 0 ? users : Math.max(0, activity?.sessions ?? 0)
  const owners = shown?.owners ?? 0
  return { value: sessions < MIN_SESSIONS ? null : owners / Math.max(sessions, owners), owners, sessions }
}

const judge = ({ threshold }: Limits, { value }: Figure): Pick<HistoryPoint, 'value' | 'holds'> => ({
  value,
  holds: value !== null && value >= threshold,
})

const LABELS: Readonly<Record<string, string>> = {
  low_memory: 'low memory',
  thermal_serious: 'serious heat',
  thermal_critical: 'critical heat',
  frozen_frames: 'frozen frames',
  app_hang: 'app hangs',
  anr_warning: 'ANRs',
  memory_growth: 'rapid growth of memory',
}

function describe(
  { threshold, windowMinutes }: Limits,
  { value, owners, sessions }: Figure,
  shown: Shown,
): Pick<Measured, 'title' | 'explanation'> {
  const over = `in the last ${windowText(windowMinutes)}`
  if (value === null)
    return {
      title: 'Signs of a coming crash: no data',
      explanation: `No data: ${countedWord(sessions, 'session')} began ${over}; at least ${MIN_SESSIONS} are needed.`,
    }
  const signs = Object.entries(shown?.bySign ?? {})
    .toSorted(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1))
    .map(([sign, count]) => `${LABELS[sign] ?? sign} ${countText(count)}`)
  const made = signs.length === 0 ? '' : ` What was seen: ${signs.join(', ')}.`
  return {
    title: `${Math.round(value * 100)} % of sessions show signs of a coming crash`,
    explanation: `${countText(owners)} of ${countedWord(Math.max(sessions, owners), 'session')} ${over} showed signs before any crash, a score of ${scoreText(value)}; the limit is ${scoreText(threshold)}.${made}`,
  }
}

export const preCrashState: Evaluator = {
  async measure(app, rules, at) {
    const measured = new Map<string, Measured[]>()
    for (const [windowMinutes, same] of Map.groupBy(rules, (rule) => limitsOf(rule).windowMinutes)) {
      const projectIds = [...new Set(same.map(({ projectId }) => projectId))]
      const from = new Date(at.getTime() - windowMinutes * MINUTE_MS)
      const [counted, activities] = await Promise.all([
        countOwners(app.db, projectIds, [at], windowMinutes),
        readActivities(app.db, { projectIds, from, to: at, now: at }),
      ])
      const byProject = new Map(counted.map((one) => [one.projectId, one]))
      for (const rule of same) {
        const limits = limitsOf(rule)
        const shown = byProject.get(rule.projectId)
        const figure = figureOf(shown, activities.get(rule.projectId))
        measured.set(rule.id, [{ subject: '', ...judge(limits, figure), ...describe(limits, figure, shown) }])
      }
    }
    return measured
  },

  async history(app, rule, from, to) {
    const limits = limitsOf(rule)
    const points: HistoryPoint[] = []
    for (const stretch of splitIntoStretches(from, to, limits.windowMinutes, app.clock.now())) {
      // Each window reads all of its signs: long ones overlap a few times only.
      const every = Math.max(1, Math.floor(stretch.length / MAX_OVERLAP))
      const ends = listWindowEnds(stretch).filter((_, index) => index % every === 0)
      const windowMs = stretch.length * stretch.intervalMs
      const [counted, activities] = await Promise.all([
        countOwners(
          app.db,
          [rule.projectId],
          ends.map(({ at }) => at),
          windowMs / MINUTE_MS,
        ),
        readActivitySeries(
          app.db,
          rule.projectId,
          { from: stretch.readFrom, to: stretch.to },
          stretch.intervalMs === 3_600_000 ? 3_600 : 900,
        ),
      ])
      const byEnd = new Map(counted.map((one) => [one.end.getTime(), one]))
      for (const { at, slot } of ends) {
        const activity = sumOfActivities(coveredCells(stretch, activities, slot))
        points.push({ at, subject: '', ...judge(limits, figureOf(byEnd.get(at.getTime()), activity)) })
      }
    }
    return points
  },
}

const MAX_OVERLAP = 4
