import { z } from 'zod'
import { Person } from '../rules/issue.api.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { Id } from '../../platform/kernel/page.api.ts'
import { OwnershipRules } from './ownership-rules.api.ts'

export const ownershipRoutes = routes({
  previewOwnership: {
    method: 'POST',
    path: '/api/projects/:projectId/ownership/preview',
    tag: 'Projects',
    summary: 'Preview which members and teams the newest issues of a project would be assigned to',
    description:
      'Reads the newest event of the 50 issues seen last and changes nothing. Without rules, uses those of the settings.',
    permission: 'projects.write',
    params: z.object({ projectId: Id }),
    body: z.strictObject({ ownership_rules: OwnershipRules.optional() }),
    response: z.object({
      looked_at: z.number().int(),
      owned: z.number().int().describe('The number of them that a rule would assign.'),
      issues: z.array(
        z.object({
          id: Id,
          short_id: z.string(),
          title: z.string(),
          culprit: z.string(),
          assignee: Person.nullable().describe('The current assignee; null when there is none.'),
          owner: Person.nullable().describe(
            'The member that the rules would assign; null for a team, and when no rule matches.',
          ),
          team: z.string().nullable(),
          rule: z.number().int().nullable().describe('Index of the deciding rule, from 0; null if no rule matches.'),
          matched: z.string().nullable().describe('The text that the rule matched; null when no rule matches.'),
        }),
      ),
    }),
    refusals: [404],
  },
})
