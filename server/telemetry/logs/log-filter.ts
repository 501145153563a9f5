import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { eventIdFrom } from '../../platform/kernel/ids.ts'
import { oldestDay } from '../../projects/registry/general-settings.ts'
import { readProject } from '../../projects/registry/projects.queries.ts'
import { parseLogRange, type RangeInput } from './page.ts'
import type { AttributeValue, LogFilter } from './telemetry.queries.ts'

/** The filter of a request for logs of a project. */
export type LogFilterInput = RangeInput & {
  readonly projectId: string
  readonly level?: readonly string[] | undefined
  readonly q?: string | undefined
  readonly trace_id?: string | undefined
  readonly with?: readonly string[] | undefined
  readonly without?: readonly string[] | undefined
}

/** @throws AppError not_found (project), invalid (range) */
export async function readLogFilter(app: App, actor: OrgActor, input: LogFilterInput): Promise<LogFilter> {
  const project = await readProject(app.db, actor.orgId, input.projectId)
  if (project === null) throw notFound('Project')
  const now = app.clock.now()
  return {
    projectId: input.projectId,
    ...parseLogRange(input, now),
    oldestDay: oldestDay(project.settings, now),
    levels: input.level ?? null,
    text: input.q ?? null,
    traceId: eventIdFrom(input.trace_id),
    having: (input.with ?? []).map(pairOf),
    lacking: (input.without ?? []).map(pairOf),
  }
}

/** `user.id=7` as name and value; a value may contain further `=`. */
function pairOf(text: string): AttributeValue {
  const at = text.indexOf('=')
  return { name: text.slice(0, at), value: text.slice(at + 1) }
}
