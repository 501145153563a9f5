import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import { actorForLog } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { factContext } from '../../platform/context/fact-context.ts'
import { conflict, invalid, notFound } from '../../platform/kernel/errors.ts'
import { oldestDay } from '../../projects/registry/general-settings.ts'
import { selectSettings } from '../../projects/registry/projects.queries.ts'
import type { ViewName } from './catalogue.ts'
import { guardStatement } from './guard/guard-statement.ts'
import type { QueryResult } from './query.api.ts'
import { readReadiness } from './query-state.ts'
import { countQuery, inQueryTurn } from './query-turns.ts'
import { DATA_CHANGE, RefusedStatement } from './guard/refused-statement.ts'
import { runStatement } from './run-statement.ts'
import { chooseDrawing, viewRows } from './view-rows.ts'
import { writeStatement } from './write-statement.ts'

export type Query = {
  readonly project_id: string
  readonly query?: string | undefined
  readonly sql?: string | undefined
}

/**
 * Answers a question, or a typed statement, with rows of one project.
 * @throws AppError not_found, conflict (the database has no role for it), rate_limited, invalid (the question or the
 *   statement, with what is wrong with it), unavailable
 */
export async function runQuery(app: App, actor: OrgActor, query: Query): Promise<QueryResult> {
  countQuery(app, actor)
  const startedMs = performance.now()
  const now = app.clock.now()
  const project = await selectSettings(app.db, query.project_id)
  if (project === undefined || project.org_id !== actor.orgId) throw notFound('Project')
  const { available, reason } = await readReadiness(app)
  if (!available) throw conflict(reason ?? 'Statements cannot run.')
  const asked = query.query ?? query.sql ?? ''
  const translation =
    query.query === undefined
      ? null
      : await writeStatement(app, actor, { projectId: query.project_id, question: query.query, now })
  try {
    const { guarded, read } = await inQueryTurn(app, actor, async () => {
      const guarded = await guardStatement(translation?.sql ?? asked, query.project_id)
      const scope = { projectId: query.project_id, oldestDay: oldestDay(project.settings, now) }
      return { guarded, read: await runStatement(app, guarded, scope) }
    })
    const { columns, rows, truncated } = viewRows(read)
    const result: QueryResult = {
      sql: guarded.sql,
      written_sql: guarded.written,
      additions: [...guarded.additions],
      columns,
      rows,
      row_count: rows.length,
      truncated,
      chart_hint: translation?.chartHint ?? chooseDrawing(columns, rows),
      explanation: translation?.explanation ?? typedStatement(guarded.views),
      source: translation?.source ?? 'typed',
      took_ms: Math.round(performance.now() - startedMs),
      data_as_of: now.toISOString(),
    }
    await record(app, actor, {
      kind: 'nlq.executed',
      orgId: actor.orgId,
      data: { ...about(app, query, guarded.sql), rows: rows.length },
    })
    return result
  } catch (error) {
    if (!(error instanceof RefusedStatement)) throw error
    const said = about(app, query, translation?.sql ?? asked)
    app.log.info({ ...actorForLog(actor), ...said, rule: error.rule }, 'nlq.rejected')
    await record(app, actor, { kind: 'nlq.rejected', orgId: actor.orgId, data: { ...said, reason: error.rule } })
    throw invalid(sentenceOf(error))
  }
}

const sentenceOf = ({ rule, message }: RefusedStatement): string => {
  if (message === DATA_CHANGE) return `This is not a permitted read-only query. ${message}`
  return rule === 'too_broad'
    ? `This query is too broad. ${message}`
    : `This is not a permitted read-only query. ${message}`
}

const typedStatement = (views: readonly ViewName[]): string =>
  views.length === 0 ? 'A typed statement that reads no view.' : `A typed statement over ${views.join(', ')}.`

/** Cut for the audit log, which has a limit of its own per entry. */
const about = (app: App, { query, sql, project_id: projectId }: Query, statement: string) => ({
  project_id: projectId,
  question: app.config.ai.keepsTexts ? (query ?? sql ?? '').slice(0, 2_000) : '',
  ...(app.config.ai.keepsTexts ? { sql: statement.slice(0, 4_000) } : {}),
})

const record = (app: App, actor: OrgActor, fact: Fact): Promise<unknown> =>
  app.tx((tx) => recordFacts(tx, factContext(app, actor), [fact]))
