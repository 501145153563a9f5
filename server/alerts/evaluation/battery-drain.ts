import { TRIGGERS } from '#shared/alert-rules.ts'
import {
  countDrainedDevices,
  drainedDevices,
  readOfProjects,
  type MeasuredOfProject,
} from '../../telemetry/performance/read.queries.ts'
import { LONG_LOCK_MS } from '../../telemetry/performance/figures.ts'
import { DDSketch } from '../../telemetry/sketch/ddsketch.ts'
import type { Evaluator, HistoryPoint, Measured, RateRule } from './evaluator.ts'
import { pointsOver, splitIntoStretches } from './history-windows.ts'
import { countText, percentText, windowText } from './measure-texts.ts'
import { MINUTE_MS, HOUR_MS } from '../../platform/kernel/day.ts'
import { countedWord } from '../../platform/kernel/value-text.ts'

/** `battery_drain_threshold`: the median drain of batteries, or the share of sessions with long wake locks. */

/** Measurements of a window or interval. */
type Cell = { readonly drains: DDSketch; readonly locks: DDSketch; readonly devices: ReadonlySet<number> }

type Limits = { readonly threshold: number; readonly windowMinutes: number; readonly minSessions: number }

const { defaults } = TRIGGERS.battery_drain_threshold

const limitsOf = ({ conditions }: RateRule): Limits => ({
  threshold: conditions.threshold ?? defaults.threshold,
  windowMinutes: conditions.window_minutes ?? defaults.window_minutes,
  minSessions: conditions.min_sessions ?? defaults.min_sessions,
})

type Figure = {
  /** Median, percent per hour; null with too few devices. */
  readonly drain: number | null
  readonly devices: number
  readonly pairs: number
  /** Percent; null with too few sessions. */
  readonly lockShare: number | null
  readonly longLocks: number
  readonly locks: number
}

function figureOf({ minSessions }: Limits, drains: DDSketch, locks: DDSketch, devices: number): Figure {
  const longLocks = Math.round(locks.countFrom(LONG_LOCK_MS))
  return {
    drain: devices >= minSessions && drains.count > 0 ? drains.quantile(0.5) : null,
    devices,
    pairs: drains.count,
    lockShare: locks.count >= minSessions && locks.count > 0 ? (longLocks / locks.count) * 100 : null,
    longLocks,
    locks: locks.count,
  }
}

const passes = ({ threshold }: Limits, value: number | null): boolean => value !== null && value >= threshold

/** The drain counts first; wake locks where only they pass the limit, or where no drain is known. */
const byLocks = (limits: Limits, { drain, lockShare }: Figure): boolean =>
  lockShare !== null && (drain === null || (!passes(limits, drain) && passes(limits, lockShare)))

function judge(limits: Limits, figure: Figure): Pick<HistoryPoint, 'value' | 'holds'> {
  const value = byLocks(limits, figure) ? figure.lockShare : figure.drain
  return { value, holds: passes(limits, value) }
}

function describe(limits: Limits, figure: Figure): Pick<Measured, 'title' | 'explanation'> {
  const { threshold, windowMinutes, minSessions } = limits
  const { drain, devices, pairs, lockShare, longLocks, locks } = figure
  const over = `over the last ${windowText(windowMinutes)}`
  if (byLocks(limits, figure) && lockShare !== null)
    return {
      title: `${percentText(lockShare)} of sessions hold long wake locks`,
      explanation: `${countText(longLocks)} of ${countedWord(locks, 'session')} ${over} held a wake lock for two hours or longer, ${percentText(lockShare)}; the limit is ${percentText(threshold)}.`,
    }
  if (drain === null)
    return {
      title: 'Battery drain: no data',
      explanation: `No data: the drain of ${countedWord(devices, 'device')} is known ${over}; at least ${minSessions} are needed.`,
    }
  return {
    title: `Batteries drain ${percentText(drain)} per hour`,
    explanation: `The median drain is ${percentText(drain)} per hour in the foreground ${over} (${countedWord(devices, 'device')}, ${countedWord(pairs, 'measurement')}); the limit is ${percentText(threshold)} per hour.`,
  }
}

const METRICS = ['battery_drain', 'wake_lock'] as const

const sketchOf = (rows: readonly MeasuredOfProject[], metric: (typeof METRICS)[number]): DDSketch =>
  rows.find((row) => row.metric === metric)?.sketch ?? new DDSketch()

export const batteryDrain: Evaluator = {
  async measure(app, rules, at) {
    const measured = new Map<string, Measured[]>()
    for (const [windowMinutes, same] of Map.groupBy(rules, (rule) => limitsOf(rule).windowMinutes)) {
      const projectIds = [...new Set(same.map(({ projectId }) => projectId))]
      const from = new Date(at.getTime() - windowMinutes * MINUTE_MS)
      const [rows, devices] = await Promise.all([
        readOfProjects(app.db, { projectIds, metrics: METRICS, from, to: at, intervalMs: null }),
        countDrainedDevices(app.db, projectIds, from, at),
      ])
      const byProject = Map.groupBy(rows, ({ projectId }) => projectId)
      for (const rule of same) {
        const limits = limitsOf(rule)
        const own = byProject.get(rule.projectId) ?? []
        const figure = figureOf(
          limits,
          sketchOf(own, 'battery_drain'),
          sketchOf(own, 'wake_lock'),
          devices.get(rule.projectId) ?? 0,
        )
        measured.set(rule.id, [{ subject: '', ...judge(limits, figure), ...describe(limits, figure) }])
      }
    }
    return measured
  },

  async history(app, rule, from, to) {
    const limits = limitsOf(rule)
    const stretches = splitIntoStretches(from, to, limits.windowMinutes, app.clock.now())
    const cells = new Map(
      await Promise.all(
        stretches.map(async (stretch) => {
          const { readFrom, intervalMs } = stretch
          const [rows, hours] = await Promise.all([
            readOfProjects(app.db, {
              projectIds: [rule.projectId],
              metrics: METRICS,
              from: readFrom,
              to: stretch.to,
              intervalMs,
            }),
            drainedDevices(
              app.db,
              [rule.projectId],
              new Date(Math.floor(readFrom.getTime() / HOUR_MS) * HOUR_MS),
              stretch.to,
            ),
          ])
          const bySlot = Map.groupBy(rows, ({ slot }) => slot)
          const devices = new Map(hours.map((one) => [one.hour.getTime(), new Set(one.devices)]))
          const slots = [...bySlot].map(([slot, of]): [number, Cell] => {
            const hour = Math.floor((readFrom.getTime() + slot * intervalMs) / HOUR_MS) * HOUR_MS
            return [
              slot,
              {
                drains: sketchOf(of, 'battery_drain'),
                locks: sketchOf(of, 'wake_lock'),
                devices: devices.get(hour) ?? new Set<number>(),
              },
            ]
          })
          return [stretch, new Map(slots)] as const
        }),
      ),
    )
    return pointsOver(
      stretches,
      '',
      (stretch) => cells.get(stretch) ?? new Map<number, Cell>(),
      (covered) => {
        const [drains, locks, devices] = [new DDSketch(), new DDSketch(), new Set<number>()]
        for (const cell of covered) {
          drains.merge(cell.drains)
          locks.merge(cell.locks)
          for (const device of cell.devices) devices.add(device)
        }
        return judge(limits, figureOf(limits, drains, locks, devices.size))
      },
    )
  },
}
