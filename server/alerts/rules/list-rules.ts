import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { readRowsBefore } from '../../platform/kernel/cursor.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import type { AlertRule } from './rule.api.ts'
import { countRules, selectRules } from './rules.queries.ts'
import { viewRules } from './view-rule.ts'

type RulesInput = {
  readonly projectId?: string | undefined
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
}

/** Rules, newest first. A cursor is a number of rows: there are few. @throws AppError not_found, invalid (cursor) */
export async function listRules(app: App, actor: OrgActor, input: RulesInput): Promise<Page<AlertRule>> {
  const { projectId = null, limit, offset, cursor } = input
  const from = readRowsBefore({ offset, cursor })
  if (projectId !== null) await requireProject(app, actor, projectId)
  const [rows, total] = await Promise.all([
    selectRules(app.db, actor, { projectId, limit: limit + 1, offset: from }),
    countRules(app.db, actor, projectId),
  ])
  return {
    items: await viewRules(app.db, rows.slice(0, limit)),
    total,
    limit,
    offset,
    next_cursor: rows.length > limit ? String(from + limit) : null,
  }
}
