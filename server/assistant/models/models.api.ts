import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Rate } from '../../platform/kernel/page.api.ts'

/** The model of the assistant, and the bounds of its use. */

export const PROVIDERS = ['built_in', 'openai', 'anthropic', 'ollama'] as const
export type Provider = (typeof PROVIDERS)[number]

const Used = z.object({
  requests: z.number().int(),
  input_tokens: z.number().int(),
  output_tokens: z.number().int(),
  cost_usd: Rate.describe('By the prices that the operator set; 0 without prices.'),
})

export const AssistantState = z.object({
  provider: z.enum(PROVIDERS).describe('`built_in` answers by rules, without any model.'),
  model: z.string().nullable(),
  host: z.string().nullable().describe('Where questions are sent; null for `built_in`.'),
  today: Used,
  this_month: Used,
  limits: z.object({
    requests_per_minute: z.number().int(),
    tokens_per_day: z.number().int().nullable(),
    usd_per_month: Rate.nullable(),
  }),
  keeps_texts: z.boolean().describe('Whether the audit log holds the texts of questions and answers.'),
  query: z.object({
    available: z.boolean(),
    reason: z.string().nullable().describe('Why questions cannot become statements; null when they can.'),
    setup_sql: z.array(z.string()).describe('Statements with which the owner of the database switches them on.'),
  }),
})
z.globalRegistry.add(AssistantState, { id: 'Assistant' })
export type AssistantState = z.infer<typeof AssistantState>

export const modelRoutes = routes({
  readAssistant: {
    method: 'GET',
    path: '/api/assistant',
    tag: 'Assistant',
    summary: 'The model of the assistant, what was used of it, and its limits',
    permission: 'ai.use',
    response: AssistantState,
  },
})
