import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { type OrgActor, actorForLog, requireActingMember, factContext } from '../../platform/context/actor.ts'
import { type App, perApp } from '../../platform/context/app.ts'
import { conflict, invalid, notFound, rateLimited } from '../../platform/kernel/errors.ts'
import { oldestDay } from '../../projects/registry/general-settings.ts'
import { selectSettings } from '../../projects/registry/projects.queries.ts'
import type { ViewName } from './catalogue.ts'
import { guardStatement } from './guard/guard-statement.ts'
import type { QueryResult } from './query.api.ts'
import { readReadiness } from './query-state.ts'
import { DATA_CHANGE, RefusedStatement } from './guard/refused-statement.ts'
import { runStatement } from './run-statement.ts'
import { chooseDrawing, viewRows } from './view-rows.ts'
import { writeStatement } from './write-statement.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'

type Query = {
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

/** Queries of a member, in this process. */
const PER_MINUTE = 20
const AT_ONCE = 2
/** Statements of an organisation: there are four connections for all. */
const AT_ONCE_ORG = 2
/** For all together: as many wait for the connections as run. */
const AT_ONCE_ALL = 8

type Turns = {
  /** Times of the queries of members within a minute. */
  readonly asked: Map<string, number[]>
  /** Statements that run, by member, by organisation, and for all. */
  readonly running: Map<string, number>
}

const turns = perApp((): Turns => ({ asked: new Map(), running: new Map() }))

/**
 * Counts a query of a member, before anything is done for it.
 * @throws AppError rate_limited
 */
export function countQuery(app: App, actor: OrgActor): void {
  const quota = PER_MINUTE * app.config.rateLimitScale
  if (quota <= 0) return
  const { asked } = turns(app)
  const now = app.clock.now().getTime()
  // Members who asked nothing within a minute are forgotten: the others are as many as asked.
  for (const [key, times] of asked) {
    const recent = times.filter((at) => at > now - MINUTE_MS && at <= now)
    if (recent.length > 0) asked.set(key, recent)
    else asked.delete(key)
  }
  const { userId, orgId } = requireActingMember(actor)
  const key = `${orgId} ${userId}`
  const own = asked.get(key) ?? []
  if (own.length >= quota)
    throw rateLimited(
      `You have sent ${own.length} queries within a minute, the maximum.`,
      ((own[0] ?? now) + MINUTE_MS - now) / 1000,
    )
  asked.set(key, [...own, now])
}

/**
 * Counts a statement while it runs.
 * @throws AppError rate_limited
 */
export async function inQueryTurn<T>(app: App, actor: OrgActor, work: () => Promise<T>): Promise<T> {
  const { running } = turns(app)
  const { userId, orgId } = requireActingMember(actor)
  const bounds = [
    [`${orgId} ${userId}`, AT_ONCE, `You have ${AT_ONCE} queries that run. Wait until one of them ends.`],
    [orgId, AT_ONCE_ORG, 'Other queries of your organisation are running. Try again in a few seconds.'],
    ['all', AT_ONCE_ALL, 'Other queries are running. Try again in a few seconds.'],
  ] as const
  for (const [key, max, sentence] of bounds) if ((running.get(key) ?? 0) >= max) throw rateLimited(sentence, 3)
  const add = (change: 1 | -1): void => {
    for (const [key] of bounds) {
      const count = (running.get(key) ?? 0) + change
      if (count > 0) running.set(key, count)
      else running.delete(key)
    }
  }
  add(1)
  try {
    return await work()
  } finally {
    add(-1)
  }
}
