import type { z } from 'zod'
import { memberBehind, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { type AnalysisRow, selectNewest } from './analyses.queries.ts'
import { Analysis } from './analysis.api.ts'

/** The texts of an analysis, as they are stored. */
export const AnalysisContent = Analysis.pick({
  cause: true,
  explanation: true,
  evidence: true,
  next_step: true,
  suggested_diff: true,
})
export type AnalysisContent = z.infer<typeof AnalysisContent>

/** The newest analysis of an issue for its page; null without one. The caller checked access. */
export async function readAnalysis(
  app: App,
  actor: OrgActor,
  { id }: { readonly id: string },
): Promise<Analysis | null> {
  const row = await selectNewest(app.db, id, memberBehind(actor)?.userId ?? null)
  return row === undefined ? null : viewAnalysis(row)
}

export function viewAnalysis(row: Omit<AnalysisRow, 'org_id' | 'issue_id' | 'created_by'>): Analysis {
  return {
    id: row.id,
    ...AnalysisContent.parse(row.content),
    confidence: row.confidence,
    source: row.source,
    model: row.model,
    events_looked_at: row.events_looked_at,
    tokens: row.tokens,
    feedback: row.is_helpful === null ? null : row.is_helpful ? 'helpful' : 'not_helpful',
    is_outdated: row.outdated_at !== null,
    created_at: row.created_at.toISOString(),
  }
}
