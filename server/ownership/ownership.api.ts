import { z } from 'zod'
import { Person } from '../issue-rules/issue.api.ts'
import { routes } from '../kernel/contract.ts'
import { Id } from '../kernel/page.api.ts'
import { OwnershipRules } from './ownership-rules.api.ts'

export const ownershipRoutes = routes({
  previewOwnership: {
    method: 'POST',
    path: '/api/projects/:projectId/ownership/preview',
    tag: 'Projects',
    summary: 'Who would own the newest issues of a project under these rules',
    description:
      'Looks at the newest event of the 50 issues seen last and changes nothing. What is not sent is taken from the settings.',
    permission: 'projects.write',
    params: z.object({ projectId: Id }),
    body: z.strictObject({ ownership_rules: OwnershipRules.optional() }),
    response: z.object({
      looked_at: z.number().int(),
      owned: z.number().int().describe('Of these, how many a rule gives somebody.'),
      issues: z.array(
        z.object({
          id: Id,
          short_id: z.string(),
          title: z.string(),
          culprit: z.string(),
          assignee: Person.nullable().describe('Who owns it now.'),
          owner: Person.nullable().describe('The member the rules name.'),
          team: z.string().nullable(),
          rule: z.number().int().nullable().describe('Place of the rule that decides, from 0; null when none does.'),
          matched: z.string().nullable().describe('The text it matched.'),
        }),
      ),
    }),
    refusals: [404, 429],
  },
})
