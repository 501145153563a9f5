import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Timestamp } from '../../platform/kernel/page.api.ts'

/** The probable cause of an issue. */

export const Evidence = z.object({
  kind: z.enum(['frame', 'breadcrumb', 'release', 'commit', 'device', 'tag', 'trend', 'feedback']),
  text: z.string(),
  link: z
    .string()
    .nullable()
    .describe('The part of the dashboard that shows it, as a path with its anchor; null when none does.'),
})
export type Evidence = z.infer<typeof Evidence>

export const Analysis = z.object({
  id: Id,
  cause: z.string().describe('The finding in one sentence.'),
  explanation: z.string().describe('How it happens: plain text.'),
  evidence: z.array(Evidence),
  next_step: z.string(),
  suggested_diff: z
    .string()
    .nullable()
    .describe('Only of a model: a change that may help, as a unified diff; null without one.'),
  confidence: z.enum(['low', 'medium', 'high']),
  source: z.enum(['built_in', 'model']),
  model: z.string().nullable(),
  events_looked_at: z.number().int(),
  tokens: z.number().int().nullable(),
  feedback: z.enum(['helpful', 'not_helpful']).nullable().describe('What the caller said of it; null until then.'),
  is_outdated: z.boolean().describe('The issue regressed since then.'),
  created_at: Timestamp,
})
z.globalRegistry.add(Analysis, { id: 'Analysis' })
export type Analysis = z.infer<typeof Analysis>

export const analysisRoutes = routes({
  analyseIssue: {
    method: 'POST',
    path: '/api/issues/:issueId/analysis',
    tag: 'Assistant',
    summary: 'Analyse an issue, again if it was analysed before',
    description:
      'The answer is stored as `ai_analysis` of the issue. Facts are read with the permissions of the caller: an API key needs the scope issues:read too, and releases:read for releases and commits.',
    permission: 'ai.use',
    params: z.object({ issueId: Id }),
    response: Analysis,
    isSlow: true,
    refusals: [404],
  },
  rateAnalysis: {
    method: 'PUT',
    path: '/api/issues/:issueId/analysis/feedback',
    tag: 'Assistant',
    summary: 'Say whether an analysis was helpful',
    permission: 'ai.use',
    status: 204,
    params: z.object({ issueId: Id }),
    body: z.strictObject({
      analysis_id: Id,
      feedback: z.enum(['helpful', 'not_helpful'], { error: 'feedback must be helpful or not_helpful.' }).nullable(),
    }),
    refusals: [404],
  },
})
