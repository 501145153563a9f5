import type { RangeName } from '#shared/issue-values.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'
import { previousRange, timeRange, type TimeRange } from '../../platform/kernel/time-range.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import type { DeviceClass } from '../../events/protocol/device-signals.ts'
import { firstDayBeyondLimit, type PerformanceFilter, type Scope } from './read.queries.ts'
import { overflowSeries } from './series.ts'

/** The filters of a call, as in the API. */
export type Filters = {
  readonly projectId: string
  readonly range: RangeName
  readonly release?: readonly string[] | undefined
  readonly environment?: readonly string[] | undefined
  readonly os?: readonly string[] | undefined
  readonly device_class?: readonly Exclude<DeviceClass, ''>[] | undefined
  readonly device?: readonly string[] | undefined
  readonly name?: string | undefined
}

/** The data that a call asks for: a project's measurements of a range, and of the range before. */
export type Question = {
  readonly time: TimeRange
  readonly now: Omit<Scope, 'metrics'>
  readonly before: Omit<Scope, 'metrics'>
}

/**
 * @throws AppError not_found; invalid where devices are combined with what they are not counted with, and for filters over
 *   a day with more combinations than are counted one by one
 */
export async function prepareQuestion(app: App, actor: OrgActor, filters: Filters): Promise<Question> {
  await requireProject(app, actor, filters.projectId)
  const time = timeRange(app.clock.now(), filters.range)
  const filter = filterOf(filters)
  const scopeOf = ({ from, to }: TimeRange) => ({
    projectIds: [filters.projectId],
    from: new Date(from),
    to: new Date(to),
    filter,
  })
  const question = { time, now: scopeOf(time), before: scopeOf(previousRange(time)) }
  await requireCounted(app, question)
  return question
}

/** Minutes of the range that have passed, and of the range before: throughput is per minute. */
export function measureMinutes(now: Date, question: Question): { readonly now: number; readonly before: number } {
  const end = Math.min(now.getTime(), question.now.to.getTime())
  const between = (from: number, to: number): number => Math.max(1, (to - from) / MINUTE_MS)
  return {
    now: between(question.now.from.getTime(), end),
    before: between(question.before.from.getTime(), question.before.to.getTime()),
  }
}

/** Beyond the limit of a day measurements have no attributes, so that filters would find too few. */
async function requireCounted(app: App, { now, before }: Question): Promise<void> {
  const { release, environment, os, deviceClass } = now.filter
  if ((release ?? environment ?? os ?? deviceClass) === undefined) return
  const day = await firstDayBeyondLimit(app.db, { ...now, from: before.from }, now.projectIds.map(overflowSeries))
  if (day !== null)
    throw invalid(
      `On ${day} the project had too many combinations of names and attributes to filter by release, environment, os or device_class. Use device alone, or a range without this day.`,
    )
}

function filterOf({ name, release, environment, os, device_class, device }: Filters): PerformanceFilter {
  const wanted = <T>(values: readonly T[] | undefined) => (values?.length === 0 ? undefined : values)
  const filter = {
    name,
    release: wanted(release),
    environment: wanted(environment),
    os: wanted(os),
    deviceClass: wanted(device_class),
    device: wanted(device),
  }
  if (filter.device !== undefined && (filter.os ?? filter.deviceClass ?? name) !== undefined)
    throw invalid(
      'device combines with release and environment only. os, device_class and name combine with each other.',
    )
  return filter
}
