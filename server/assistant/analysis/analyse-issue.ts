import { memberBehind, type OrgActor, systemActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { factContext } from '../../platform/context/fact-context.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { AppError, notFound } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { deleteAnalysis, findIssue, insertAnalysis, lockIssue } from './analyses.queries.ts'
import type { Analysis } from './analysis.api.ts'
import { findCause } from './find-cause.ts'
import { EventIds, type Facts, gatherFacts } from './facts.ts'
import { type AnalysisContent, viewAnalysis } from './view-analysis.ts'
import { type AskModel, parseWording, makeQuestion, worded } from './word-analysis.ts'

/** An analysis is made again when an event that it is of was deleted meanwhile. */
const MAX_ATTEMPTS = 3

/** How an analysis is made. */
export type AnalysisParts = {
  /** Null: in the words of the rules. */
  readonly askModel: ((app: App, actor: OrgActor) => AskModel) | null
}

/**
 * Analyses an issue and stores the analysis.
 * @param isOwn by Faultline itself, not for the actor
 * @param signal ends the wait for a model
 * @throws AppError not_found; forbidden when the caller may not read issues
 */
export async function analyseIssue(
  app: App,
  actor: OrgActor,
  { askModel }: AnalysisParts,
  issueId: string,
  { isOwn = false, signal = AbortSignal.timeout(MODEL_TIMEOUT_MS) }: { isOwn?: boolean; signal?: AbortSignal } = {},
): Promise<Analysis> {
  // A key without the scope of issues learns whether the issue exists, and nothing about it.
  const shownId = await findIssue(app.db, actor.orgId, issueId)
  if (shownId === undefined) throw notFound('Issue')
  for (let attempt = 1; ; attempt++) {
    const facts = await gatherFacts(app, actor, shownId)
    const finding = findCause(facts)
    const question = makeQuestion(facts.issue.title, finding)
    const answered = askModel === null ? null : await askModel(app, actor)(question, signal)
    const wording = answered === null ? null : parseWording(answered.text, question)
    const { confidence, ...content } = worded(finding, wording)
    const row = {
      id: newId(),
      created_at: app.clock.now(),
      source: wording === null ? ('built_in' as const) : ('model' as const),
      model: wording === null ? null : (answered?.model ?? null),
      confidence,
      content,
      events_looked_at: facts.shared.events,
      tokens: answered?.tokens ?? null,
      outdated_at: null,
    }
    await store(app, actor, facts, row, isOwn)
    if (attempt === MAX_ATTEMPTS || (await hasItsEvents(app, actor, facts)))
      return viewAnalysis({ ...row, is_helpful: null })
    await deleteAnalysis(app.db, row.id)
  }
}

const MODEL_TIMEOUT_MS = 60_000
const OWN = systemActor('analyse-issues')

async function store(
  app: App,
  actor: OrgActor,
  { issue }: Facts,
  row: Omit<Parameters<typeof insertAnalysis>[1], 'issue_id' | 'org_id' | 'created_by' | 'content'> & {
    readonly content: AnalysisContent
  },
  isOwn: boolean,
): Promise<void> {
  await app.tx(async (tx) => {
    const projectId = await lockIssue(tx, actor.orgId, issue.id)
    if (projectId === null) throw notFound('Issue')
    await insertAnalysis(tx, {
      ...row,
      content: JSON.stringify(row.content),
      issue_id: issue.id,
      org_id: actor.orgId,
      created_by: isOwn ? null : (memberBehind(actor)?.userId ?? null),
    })
    await recordFacts(tx, factContext(app, isOwn ? OWN : actor), [
      { kind: 'issue.analysed', orgId: actor.orgId, projectId, issueId: issue.id, data: {} },
    ])
  })
}

/**
 * Whether the events of an analysis are still stored. The erasure of a user deletes analyses with the events: one that was
 * stored after it, of events that were read before it, is found here.
 */
async function hasItsEvents(app: App, actor: OrgActor, { issue, events }: Facts): Promise<boolean> {
  const params = { issueId: issue.id }
  const listed = await app.operations.call(actor, 'listIssueEvents', { params, query: { limit: '25' } })
  const newest = new Set(EventIds.parse(listed).items.map(({ event_id }) => event_id))
  const others = [issue.event, ...events].flatMap((event) =>
    event === null || newest.has(event.event_id) ? [] : [event.event_id],
  )
  try {
    // Many events may have come since then.
    for (const eventId of new Set(others))
      await app.operations.call(actor, 'readIssueEvent', { params: { ...params, eventId } })
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return false
    throw error
  }
}
