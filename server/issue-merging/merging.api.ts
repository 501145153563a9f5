import { z } from 'zod'
import { GroupingPart } from '../grouping/grouping.api.ts'
import { routes } from '../kernel/contract.ts'
import { Id, pageOf, pageQuery, Timestamp } from '../kernel/page.api.ts'
import { GroupingRules, GroupingTransition } from '../grouping/grouping-rules.api.ts'
import { Issue, Person } from '../issue-rules/issue.api.ts'

/** What people change about which events are one issue. */

const issueParams = z.object({ issueId: Id })
const projectParams = z.object({ projectId: Id })

const issueIds = z
  .array(Id)
  .min(1, { error: 'issue_ids must name at least one issue.' })
  .max(100, { error: 'issue_ids must name at most 100 issues.' })

export const Discard = z.object({
  id: Id,
  project_id: Id,
  short_id: z.string().describe('The issue it was; its number is not given out again.'),
  title: z.string(),
  event_count: z.number().int().describe('Events it had.'),
  fingerprints: z.number().int().describe('Fingerprints whose events are dropped.'),
  discarded_by: Person.nullable(),
  created_at: Timestamp,
})
export type Discard = z.infer<typeof Discard>

const PreviewIssue = z.object({ id: Id, short_id: z.string(), title: z.string() })

export const GroupingPreview = z.object({
  looked_at: z.number().int().describe('Stored events that were grouped both ways, newest first.'),
  of: z.number().int().describe('How many there were: of the last seven days the newest, at most 10,000.'),
  oldest_at: Timestamp.nullable().describe('When the oldest of those looked at occurred.'),
  issues: z.number().int().describe('Issues these events belong to.'),
  moved: z.number().int().describe('Events that would no longer meet those they met so far.'),
  merges: z
    .array(z.object({ issues: z.array(PreviewIssue), events: z.number().int() }))
    .describe('Issues whose events would meet: the largest 50.'),
  merges_total: z.number().int(),
  splits: z
    .array(
      z.object({
        issue: PreviewIssue,
        parts: z.array(z.object({ title: z.string(), event_id: z.string(), events: z.number().int() })),
      }),
    )
    .describe('Issues whose events would go different ways: the largest 50, at most 10 parts of each.'),
  splits_total: z.number().int(),
  fingerprint_rules: z
    .array(z.object({ events: z.number().int(), issues: z.number().int() }))
    .describe('In the order of the rules: events each of them decides about.'),
  stack_rules: z.array(z.object({ events: z.number().int() })).describe('In the order of the rules.'),
})
export type GroupingPreview = z.input<typeof GroupingPreview>

const version = z.number({ error: 'version must be a number.' }).int().min(1)

export const GroupingView = z.object({
  version: z.number().int(),
  parts: z.array(GroupingPart).describe('What the oldest fingerprint was made of.'),
  fingerprints: z
    .array(
      z.object({
        hash: z.string().describe('SHA-256, 64 hex digits.'),
        version: z.number().int(),
        parts: z.array(GroupingPart).describe('What it was made of, in the order that counts.'),
        created_at: Timestamp,
        issue_id: Id.describe('The issue it made; another than this one where that was merged into this.'),
        short_id: z.string(),
      }),
    )
    .describe('All that lead to this issue, oldest first; at most 100.'),
  merged: z
    .array(
      z.object({
        id: Id,
        short_id: z.string(),
        title: z.string(),
        event_count: z.number().int().describe('Events that were its own, before and since.'),
        merged_at: Timestamp,
        merged_by: Person.nullable(),
      }),
    )
    .describe('Issues merged into this one, which can be taken out again.'),
})
export type GroupingView = z.infer<typeof GroupingView>

export const mergingRoutes = routes({
  mergeIssues: {
    method: 'POST',
    path: '/api/issues/:issueId/merge',
    tag: 'Issues',
    summary: 'Merge issues into this one',
    description:
      'They stay as they are, hidden behind this one, and can be taken out again without loss. Counts, users and hours become those of all; status, owner and a pinned severity stay those of this one. 400 for the issue itself and across projects, 409 where one is merged already, 503 where issues have so many users that it goes on after the answer.',
    permission: 'issues.write',
    params: issueParams,
    body: z.strictObject({ issue_ids: issueIds }),
    response: Issue,
    refusals: [404, 409, 503],
  },
  unmergeIssues: {
    method: 'POST',
    path: '/api/issues/:issueId/unmerge',
    tag: 'Issues',
    summary: 'Take merged issues out again',
    description:
      'Each comes back with the history it had, what came for it since, and the issues that had been merged into it before. 409 for one that is not merged into this issue, 503 where it goes on after the answer.',
    permission: 'issues.write',
    params: issueParams,
    body: z.strictObject({ issue_ids: issueIds }),
    response: Issue,
    refusals: [404, 409, 503],
  },
  discardIssue: {
    method: 'POST',
    path: '/api/issues/:issueId/discard',
    tag: 'Issues',
    summary: 'Delete an issue and drop its future events',
    description:
      'Events of its fingerprints end with the outcome discarded, reason discarded_issue. An admin can take that back in the settings of the project; deleted events stay deleted.',
    permission: 'issues.admin',
    params: issueParams,
    response: Discard,
    refusals: [404, 409],
  },
  listDiscards: {
    method: 'GET',
    path: '/api/projects/:projectId/discards',
    tag: 'Projects',
    summary: 'Discarded issues of a project, newest first',
    permission: 'issues.read',
    params: projectParams,
    query: z.strictObject(pageQuery(25)),
    response: pageOf(Discard),
    refusals: [404],
  },
  removeDiscard: {
    method: 'DELETE',
    path: '/api/projects/:projectId/discards/:discardId',
    tag: 'Projects',
    summary: 'Take up a discarded issue again',
    description: 'Its next event makes a new issue.',
    permission: 'issues.admin',
    status: 204,
    params: z.object({ projectId: Id, discardId: Id }),
    refusals: [404],
  },
  readGrouping: {
    method: 'GET',
    path: '/api/projects/:projectId/grouping',
    tag: 'Projects',
    summary: 'The version of grouping a project has, and those it can be moved to',
    permission: 'projects.read',
    params: projectParams,
    response: z.object({
      version: z.number().int(),
      newer: z.array(z.number().int()).describe('Versions it can be moved to, oldest first.'),
      transition: GroupingTransition.nullable(),
    }),
    refusals: [404],
  },
  previewGrouping: {
    method: 'POST',
    path: '/api/projects/:projectId/grouping/preview',
    tag: 'Projects',
    summary: 'What other rules, or a newer version of grouping, would make of the newest stored events',
    description:
      'What is not named is taken as saved; nothing is changed. Looks at the newest 10,000 events of the last seven days for at most eight seconds: looked_at and of say how far it came.',
    permission: 'projects.write',
    params: projectParams,
    body: z.strictObject({ grouping_rules: GroupingRules.optional(), version: version.optional() }),
    response: GroupingPreview,
    refusals: [404, 429],
  },
  upgradeGrouping: {
    method: 'POST',
    path: '/api/projects/:projectId/grouping/upgrade',
    tag: 'Projects',
    summary: 'Move a project to a newer version of grouping',
    description:
      'For 30 days an event whose new fingerprint is unknown joins the issue its old one leads to, and the new one leads there from then on; after that only new fingerprints count. 400 for a version that is not newer, 409 while an earlier move is under way.',
    permission: 'projects.write',
    params: projectParams,
    body: z.strictObject({ version }),
    response: z.object({
      grouping_version: z.number().int(),
      grouping_transition: z.object({ from: z.number().int(), until: Timestamp }),
    }),
    refusals: [404, 409],
  },
})
