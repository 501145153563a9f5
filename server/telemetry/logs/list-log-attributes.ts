import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { readLogFilter, type LogFilterInput } from './log-filter.ts'
import type { LogAttributes } from './telemetry.api.ts'
import { countAttributes } from './telemetry.queries.ts'

const MAX = { lines: 500, names: 40, values: 5 }

/** @throws AppError not_found, invalid */
export async function listLogAttributes(app: App, actor: OrgActor, input: LogFilterInput): Promise<LogAttributes> {
  const rows = await countAttributes(app.db, await readLogFilter(app, actor, input), MAX)
  const items = [...Map.groupBy(rows, ({ name }) => name)].flatMap(([name, values]) => {
    const [first] = values
    if (first === undefined) return []
    return { name, lines: first.lines, values: first.values, top: values.map(({ value, n }) => ({ value, lines: n })) }
  })
  // Every entry has an environment.
  return { lines: items.find(({ name }) => name === 'environment')?.lines ?? 0, items }
}
