import type { App } from '../../platform/context/app.ts'
import type { Handlers } from '../../platform/context/handlers.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import type { AssistantState, modelRoutes } from './models.api.ts'
import { monthStart } from './reserve-call.ts'
import { selectUsed, type Used } from './usage.queries.ts'

/** @param readQueryState whether questions can become statements: a room below knows it */
export const modelHandlers = (
  readQueryState: (app: App) => Promise<AssistantState['query']>,
): Handlers<typeof modelRoutes> => ({
  readAssistant: async (app, actor) => {
    const { model, ...bounds } = app.config.ai
    const day = utcDay(app.clock.now())
    const [today, month, query] = await Promise.all([
      selectUsed(app.db, actor.orgId, day, day),
      selectUsed(app.db, actor.orgId, monthStart(day), day),
      readQueryState(app),
    ])
    return {
      provider: model?.provider ?? 'built_in',
      model: model?.name ?? null,
      host: model === null ? null : new URL(model.baseUrl).host,
      today: shown(today),
      this_month: shown(month),
      limits: {
        requests_per_minute: bounds.requestsPerMinute,
        tokens_per_day: bounds.tokensPerDay,
        usd_per_month: bounds.usdPerMonth,
      },
      keeps_texts: bounds.keepsTexts,
      query,
    }
  },
})

const shown = (used: Used) => ({
  requests: used.requests,
  input_tokens: used.inputTokens,
  output_tokens: used.outputTokens,
  cost_usd: used.costMicros / 1e6,
})
