import { requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { deleteFeedback, upsertFeedback } from './analyses.queries.ts'
import type { Analysis } from './analysis.api.ts'

/**
 * Stores what a member says of an analysis; null takes it back.
 * @throws AppError not_found for the issue, or for an analysis of another one
 */
export async function rateAnalysis(
  app: App,
  actor: OrgActor,
  issueId: string,
  { analysis_id: analysisId, feedback }: { readonly analysis_id: string; readonly feedback: Analysis['feedback'] },
): Promise<void> {
  const of = { analysisId, issueId, orgId: actor.orgId, userId: requireActingMember(actor).userId }
  const isFound =
    feedback === null
      ? await deleteFeedback(app.db, of)
      : await upsertFeedback(app.db, { ...of, isHelpful: feedback === 'helpful', now: app.clock.now() })
  if (!isFound) throw notFound('Analysis')
}
