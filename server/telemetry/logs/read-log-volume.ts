import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { LOG_LEVELS, type LogLevel } from '../../events/protocol/telemetry.api.ts'
import { selectNewestMinute, selectVolume } from './counts.queries.ts'
import { readLogFilter, type LogFilterInput } from './log-filter.ts'
import { listStarts, chooseSteps } from './steps.ts'
import type { LogVolume } from './telemetry.api.ts'
import { countByStep, readsContent, selectSearchedFrom } from './telemetry.queries.ts'

type Counts = Record<LogLevel, number>

/** @throws AppError not_found, invalid */
export async function readLogVolume(
  app: App,
  actor: OrgActor,
  input: Omit<LogFilterInput, 'level'>,
): Promise<LogVolume> {
  const given = await readLogFilter(app, actor, input)
  const { projectId, oldestDay, traceId } = given
  const steps = chooseSteps(input.range, given, { now: app.clock.now(), oldestDay })
  const filter = { ...given, from: steps.from, to: steps.to }
  const isSearch = readsContent(filter) || traceId !== null
  const [rows, newest, searchedFrom] = await Promise.all([
    isSearch ? countByStep(app.db, filter, steps) : selectVolume(app.db, projectId, oldestDay, steps),
    selectNewestMinute(app.db, projectId, oldestDay),
    isSearch ? selectSearchedFrom(app.db, filter) : null,
  ])
  const byTime = Map.groupBy(rows, ({ at }) => at.getTime())
  return {
    from: steps.from.toISOString(),
    to: steps.to.toISOString(),
    interval_seconds: steps.stepSeconds,
    totals: sumOf(rows),
    points: listStarts(steps).map((at) => ({ t: at.toISOString(), ...sumOf(byTime.get(at.getTime()) ?? []) })),
    newest_at: newest?.toISOString() ?? null,
    searched_from: searchedFrom?.toISOString() ?? null,
  }
}

function sumOf(rows: readonly { readonly level: LogLevel; readonly n: number }[]): Counts {
  const counts: Counts = { trace: 0, debug: 0, info: 0, warn: 0, error: 0, fatal: 0 }
  for (const { level, n } of rows) if (LOG_LEVELS.includes(level)) counts[level] += n
  return counts
}
