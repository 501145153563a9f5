import type { Handlers } from '../platform/context/handlers.ts'
import { AppError } from '../platform/kernel/errors.ts'
import type { AnalysisParts } from './analysis/analyse-issue.ts'
import { analysisHandlers } from './analysis/analysis.handlers.ts'
import { askHandlers } from './ask/ask.handlers.ts'
import type { assistantContract } from './contract.api.ts'
import { askModel, hasModel } from './models/ask-model.ts'
import { ModelError } from './models/model-error.ts'
import { modelHandlers } from './models/models.handlers.ts'
import { queryState } from './query/query-state.ts'
import { queryHandlers } from './query/query.handlers.ts'

/** How analyses are made, by endpoints and by the job: a model words them, where it answers within its bounds. */
export const ANALYSIS_PARTS: AnalysisParts = {
  askModel:
    (app, actor) =>
    async ({ system, prompt, maxOutputTokens }, signal) => {
      if (!hasModel(app)) return null
      try {
        const messages = [{ role: 'user', content: prompt }] as const
        return await askModel(app, actor, { purpose: 'analysis', system, messages, maxOutputTokens, signal })
      } catch (error) {
        if (error instanceof ModelError || (error instanceof AppError && error.code === 'rate_limited')) return null
        throw error
      }
    },
}

/** The handler of every endpoint of this district. */
export const assistantHandlers: Handlers<typeof assistantContract> = {
  ...modelHandlers(queryState),
  ...queryHandlers,
  ...askHandlers,
  ...analysisHandlers(ANALYSIS_PARTS),
}
