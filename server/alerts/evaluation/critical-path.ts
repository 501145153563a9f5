import { setImmediate } from 'node:timers/promises'
import { TRIGGERS } from '#shared/alert-rules.ts'
import { openSubjects } from '../rules/fired.queries.ts'
import { isP95Threshold } from '../rules/conditions.ts'
import type { App } from '../../platform/context/app.ts'
import { sumErrors, selectCriticalPaths } from '../../telemetry/journeys/journeys.queries.ts'
import { compileGlob } from '../../platform/kernel/glob.ts'
import { namesSince, readOfNames } from '../../telemetry/performance/read.queries.ts'
import { DDSketch } from '../../telemetry/sketch/ddsketch.ts'
import { addEnded } from './add-ended.ts'
import type { Evaluator, HistoryPoint, Measured, RateRule } from './evaluator.ts'
import { pointsOver, splitIntoStretches } from './history-windows.ts'
import { durationText, percentText, windowText } from './measure-texts.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'
import { countedWord } from '../../platform/kernel/value-text.ts'

/** `critical_path`: the failure rate of each journey in a project's `critical_paths`, or the P95 of its durations. */

/** Runs of a journey in a window or interval. */
type Cell = { readonly durations: DDSketch; failed: number; errors: number }

type Limits = { readonly threshold: number; readonly windowMinutes: number; readonly minCount: number }

const { defaults } = TRIGGERS.critical_path

const limitsOf = ({ conditions }: RateRule): Limits => ({
  threshold: conditions.threshold ?? defaults.threshold,
  windowMinutes: conditions.window_minutes ?? defaults.window_minutes,
  minCount: conditions.min_count ?? defaults.min_count,
})

type Figure = { readonly value: number | null; readonly runs: number; readonly failures: number }

/** An error counts as a run that failed: a crash leaves no transaction. */
function figureOf({ threshold, minCount }: Limits, { durations, failed, errors }: Cell): Figure {
  if (isP95Threshold(threshold)) {
    const runs = durations.count
    return { value: runs >= minCount && runs > 0 ? durations.quantile(0.95) : null, runs, failures: 0 }
  }
  const runs = durations.count + errors
  const failures = failed + errors
  return { value: runs >= minCount && runs > 0 ? (failures / runs) * 100 : null, runs, failures }
}

const judge = ({ threshold }: Limits, { value }: Figure): Pick<HistoryPoint, 'value' | 'holds'> => ({
  value,
  holds: value !== null && value >= threshold,
})

function describe(
  { threshold, windowMinutes, minCount }: Limits,
  journey: string,
  { value, runs, failures }: Figure,
  { failed, errors }: Cell,
): Pick<Measured, 'title' | 'explanation'> {
  const over = `over the last ${windowText(windowMinutes)}`
  if (value === null)
    return {
      title: `${journey}: no data`,
      explanation: `No data: ${countedWord(runs, 'run')} of ${journey} ${over}; at least ${minCount} are needed.`,
    }
  if (isP95Threshold(threshold))
    return {
      title: `${journey} takes ${durationText(value)} (P95)`,
      explanation: `P95 of ${journey} is ${durationText(value)} ${over} (${countedWord(runs, 'transaction')}); the limit is ${durationText(threshold)}.`,
    }
  return {
    title: `${percentText(value)} of ${journey} failed`,
    explanation: `${countedWord(failures, 'run')} of ${journey} out of ${countedWord(runs, 'run')} failed ${over}, ${percentText(value)}: ${countedWord(failed, 'transaction')} with an error and ${countedWord(errors, 'unhandled error')}; the limit is ${percentText(threshold)}.`,
  }
}

// Reading

type Range = { readonly from: Date; readonly to: Date; readonly intervalMs: number | null }

/** Critical paths of projects, and the names of transactions that belong to them. */
type Paths = {
  readonly ofProjects: ReadonlyMap<string, readonly string[]>
  /** By project and name. */
  readonly names: ReadonlyMap<string, MatchedName>
}

/** @param since names that were not used since do not matter */
async function readPaths(app: App, projectIds: readonly string[], since: Date): Promise<Paths> {
  const ofProjects = await selectCriticalPaths(app.db, projectIds)
  const ids = [...ofProjects.keys()]
  const names = ids.length === 0 ? [] : await namesSince(app.db, ids, since)
  return { ofProjects, names: await matchNames(ofProjects, names) }
}

/** Journeys of projects, each with its cells by interval. */
async function readJourneys(app: App, projectIds: readonly string[], { ofProjects, names }: Paths, range: Range) {
  const journeys = new Map<string, Map<string, Map<number, Cell>>>()
  const ids = projectIds.filter((id) => ofProjects.has(id))
  if (ids.length === 0) return journeys
  const asked = new Set(ids)
  const { intervalMs } = range
  const [transactions, errors] = await Promise.all([
    readOfNames(
      app.db,
      { ...range, projectIds: ids, metrics: ['duration'] },
      [...names.values()].filter(({ projectId }) => asked.has(projectId)),
    ),
    sumErrors(app.db, ids, range, intervalMs ?? Math.max(1, range.to.getTime() - range.from.getTime())),
  ])
  for (const id of ids)
    journeys.set(id, new Map((ofProjects.get(id) ?? []).map((pattern) => [pattern, new Map<number, Cell>()])))
  const cellOf = (projectId: string, journey: string, slot: number): Cell | null => {
    const slots = journeys.get(projectId)?.get(journey)
    if (slots === undefined) return null
    const cell = slots.get(slot) ?? { durations: new DDSketch(), failed: 0, errors: 0 }
    slots.set(slot, cell)
    return cell
  }
  for (const { projectId, name, slot, failures, sketch } of transactions)
    for (const journey of names.get(`${projectId}/${name}`)?.journeys ?? []) {
      const cell = cellOf(projectId, journey, slot)
      if (cell === null) continue
      cell.durations.merge(sketch)
      cell.failed += failures
    }
  for (const { projectId, journey, slot, errors: count } of errors) {
    const cell = cellOf(projectId, journey, slot)
    if (cell !== null) cell.errors += count
  }
  return journeys
}

type MatchedName = { readonly projectId: string; readonly name: string; readonly journeys: readonly string[] }

/** Names of transactions that belong to a journey, by project and name. */
async function matchNames(
  paths: ReadonlyMap<string, readonly string[]>,
  names: readonly { readonly projectId: string; readonly name: string }[],
): Promise<Map<string, MatchedName>> {
  const matched = new Map<string, MatchedName>()
  for (const [projectId, ofProject] of Map.groupBy(names, (one) => one.projectId)) {
    const globs = (paths.get(projectId) ?? []).map((pattern) => ({ pattern, matches: compileGlob(pattern) }))
    for (const { name } of ofProject) {
      const journeys = globs.flatMap(({ pattern, matches }) => (matches(name) ? [pattern] : []))
      if (journeys.length > 0) matched.set(`${projectId}/${name}`, { projectId, name, journeys })
    }
    await setImmediate()
  }
  return matched
}

const NOTHING: Cell = { durations: new DDSketch(), failed: 0, errors: 0 }

export const criticalPath: Evaluator = {
  async measure(app, rules, at) {
    const measured = new Map<string, Measured[]>()
    const longest = Math.max(...rules.map((rule) => limitsOf(rule).windowMinutes))
    const projects = [...new Set(rules.map(({ projectId }) => projectId))]
    const paths = await readPaths(app, projects, new Date(at.getTime() - longest * MINUTE_MS))
    for (const [windowMinutes, same] of Map.groupBy(rules, (rule) => limitsOf(rule).windowMinutes)) {
      const range = { from: new Date(at.getTime() - windowMinutes * MINUTE_MS), to: at, intervalMs: null }
      const journeys = await readJourneys(app, [...new Set(same.map(({ projectId }) => projectId))], paths, range)
      for (const rule of same) {
        const limits = limitsOf(rule)
        measured.set(
          rule.id,
          [...(journeys.get(rule.projectId) ?? [])].map(([journey, slots]) => {
            const cell = slots.get(0) ?? NOTHING
            const figure = figureOf(limits, cell)
            return { subject: journey, ...judge(limits, figure), ...describe(limits, journey, figure, cell) }
          }),
        )
      }
    }
    // A journey of an open alert that the project no longer names does not fail.
    const open = await openSubjects(
      app.db,
      rules.map(({ id }) => id),
    )
    return addEnded(measured, open)
  },

  async history(app, rule, from, to) {
    const limits = limitsOf(rule)
    const stretches = splitIntoStretches(from, to, limits.windowMinutes, app.clock.now())
    const paths = await readPaths(app, [rule.projectId], stretches[0]?.readFrom ?? from)
    const read = await Promise.all(
      stretches.map(async (stretch) => {
        const range = { from: stretch.readFrom, to: stretch.to, intervalMs: stretch.intervalMs }
        return [stretch, (await readJourneys(app, [rule.projectId], paths, range)).get(rule.projectId)] as const
      }),
    )
    const cells = new Map(read)
    const points: HistoryPoint[] = []
    for (const journey of new Set(read.flatMap(([, journeys]) => [...(journeys?.keys() ?? [])])))
      points.push(
        ...(await pointsOver(
          stretches,
          journey,
          (stretch) => cells.get(stretch)?.get(journey) ?? new Map<number, Cell>(),
          (covered) => judge(limits, figureOf(limits, sumOf(covered))),
        )),
      )
    return points
  },
}

function sumOf(cells: readonly Cell[]): Cell {
  const sum: Cell = { durations: new DDSketch(), failed: 0, errors: 0 }
  for (const { durations, failed, errors } of cells) {
    sum.durations.merge(durations)
    sum.failed += failed
    sum.errors += errors
  }
  return sum
}
