import type { Handlers } from '../../platform/context/handlers.ts'
import { analyseIssue, type AnalysisParts } from './analyse-issue.ts'
import type { analysisRoutes } from './analysis.api.ts'
import { rateAnalysis } from './rate-analysis.ts'

/** @param parts how an analysis is made */
export const analysisHandlers = (parts: AnalysisParts): Handlers<typeof analysisRoutes> => ({
  analyseIssue: (app, actor, { params }) => analyseIssue(app, actor, parts, params.issueId),
  rateAnalysis: (app, actor, { params, body }) => rateAnalysis(app, actor, params.issueId, body),
})
