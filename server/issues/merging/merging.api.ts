import { z } from 'zod'
import { GroupingPart } from '../grouping/grouping.api.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, pageSchema, pageQuery, Timestamp } from '../../platform/kernel/page.api.ts'
import { GroupingRules, GroupingTransition } from '../grouping/grouping-rules.api.ts'
import { Issue, Person } from '../rules/issue.api.ts'

/** How members change which events belong to one issue. */

const issueParams = z.object({ issueId: Id })
const projectParams = z.object({ projectId: Id })

const issueIds = z
  .array(Id)
  .min(1, { error: 'issue_ids must name at least one issue.' })
  .max(100, { error: 'issue_ids must name at most 100 issues.' })

export const Discard = z.object({
  id: Id,
  project_id: Id,
  short_id: z.string().describe('Of the discarded issue; its number is not used again.'),
  title: z.string(),
  event_count: z.number().int().describe('Number of events when it was discarded.'),
  fingerprints: z.number().int().describe('Fingerprints whose events are dropped.'),
  discarded_by: Person.nullable(),
  created_at: Timestamp,
})
export type Discard = z.infer<typeof Discard>

const PreviewIssue = z.object({ id: Id, short_id: z.string(), title: z.string() })

export const GroupingPreview = z.object({
  looked_at: z.number().int().describe('Number of stored events that were grouped both ways, newest first.'),
  of: z.number().int().describe('Number of stored events of the last seven days, at most 10,000.'),
  oldest_at: Timestamp.nullable().describe('When the oldest of the grouped events occurred; null when there are none.'),
  issues: z.number().int().describe('Number of issues of these events.'),
  moved: z.number().int().describe('Number of events that would change to another issue.'),
  merges: z
    .array(z.object({ issues: z.array(PreviewIssue), events: z.number().int() }))
    .describe('Issues that would become one: the largest 50.'),
  merges_total: z.number().int(),
  splits: z
    .array(
      z.object({
        issue: PreviewIssue,
        parts: z.array(z.object({ title: z.string(), event_id: z.string(), events: z.number().int() })),
      }),
    )
    .describe('Issues that would become several: the largest 50, at most 10 parts of each.'),
  splits_total: z.number().int(),
  fingerprint_rules: z
    .array(z.object({ events: z.number().int(), issues: z.number().int() }))
    .describe('In the order of the rules: the events that each rule applies to.'),
  stack_rules: z.array(z.object({ events: z.number().int() })).describe('In the order of the rules.'),
})
export type GroupingPreview = z.input<typeof GroupingPreview>

const version = z.number({ error: 'version must be a number.' }).int().min(1)

export const GroupingView = z.object({
  version: z.number().int(),
  parts: z.array(GroupingPart).describe('Parts of the oldest fingerprint.'),
  fingerprints: z
    .array(
      z.object({
        hash: z.string().describe('SHA-256, 64 hex digits.'),
        version: z.number().int(),
        parts: z.array(GroupingPart).describe('Its parts, in order.'),
        created_at: Timestamp,
        issue_id: Id.describe('The issue it created: this one, or one that was merged into it.'),
        short_id: z.string(),
      }),
    )
    .describe('Fingerprints of this issue, oldest first; at most 100.'),
  merged: z
    .array(
      z.object({
        id: Id,
        short_id: z.string(),
        title: z.string(),
        event_count: z.number().int().describe('Number of its own events, before and after the merge.'),
        merged_at: Timestamp,
        merged_by: Person.nullable(),
      }),
    )
    .describe('Issues merged into this one, which can be unmerged.'),
})
export type GroupingView = z.infer<typeof GroupingView>

export const mergingRoutes = routes({
  mergeIssues: {
    method: 'POST',
    path: '/api/issues/:issueId/merge',
    tag: 'Issues',
    summary: 'Merge issues into this one',
    description:
      'Merged issues are no longer listed and can be unmerged without loss. This issue then has the counts, users and hours of all, and keeps its own status, assignee and pinned severity. 400 for the issue itself and for issues of several projects, 409 when one is merged already. With very many users `user_count` is that of the largest issue until they are counted, a few seconds later; a live message follows.',
    permission: 'issues.write',
    params: issueParams,
    body: z.strictObject({ issue_ids: issueIds }),
    response: Issue,
    refusals: [404, 409],
  },
  unmergeIssues: {
    method: 'POST',
    path: '/api/issues/:issueId/unmerge',
    tag: 'Issues',
    summary: 'Unmerge issues',
    description:
      'Each gets back its history, the events it received since, and the issues that had been merged into it before. 409 for an issue that is not merged into this one.',
    permission: 'issues.write',
    params: issueParams,
    body: z.strictObject({ issue_ids: issueIds }),
    response: Issue,
    refusals: [404, 409],
  },
  discardIssue: {
    method: 'POST',
    path: '/api/issues/:issueId/discard',
    tag: 'Issues',
    summary: 'Delete an issue and drop its future events',
    description:
      'Events of its fingerprints get the outcome discarded, reason discarded_issue. An admin can restore it in the settings of the project; deleted events stay deleted.',
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
    response: pageSchema(Discard),
    refusals: [404],
  },
  removeDiscard: {
    method: 'DELETE',
    path: '/api/projects/:projectId/discards/:discardId',
    tag: 'Projects',
    summary: 'Restore a discarded issue',
    description: 'Its next event creates a new issue.',
    permission: 'issues.admin',
    status: 204,
    params: z.object({ projectId: Id, discardId: Id }),
    refusals: [404],
  },
  readGrouping: {
    method: 'GET',
    path: '/api/projects/:projectId/grouping',
    tag: 'Projects',
    summary: 'The grouping version of a project, and the newer ones',
    permission: 'projects.read',
    params: projectParams,
    response: z.object({
      version: z.number().int(),
      newer: z.array(z.number().int()).describe('Versions to which the project can change, oldest first.'),
      transition: GroupingTransition.nullable(),
    }),
    refusals: [404],
  },
  previewGrouping: {
    method: 'POST',
    path: '/api/projects/:projectId/grouping/preview',
    tag: 'Projects',
    summary: 'Preview of other rules or a newer grouping version, over the newest stored events',
    description:
      'Absent fields are as saved; nothing is changed. Groups the newest 10,000 events of the last seven days for at most eight seconds; `looked_at` of `of` events were grouped in that time.',
    permission: 'projects.write',
    params: projectParams,
    body: z.strictObject({ grouping_rules: GroupingRules.optional(), version: version.optional() }),
    response: GroupingPreview,
    refusals: [404],
  },
  upgradeGrouping: {
    method: 'POST',
    path: '/api/projects/:projectId/grouping/upgrade',
    tag: 'Projects',
    summary: 'Change a project to a newer grouping version',
    description:
      'For 30 days an event with an unknown new fingerprint is added to the issue of its old fingerprint, and the new fingerprint to that issue; after that only new fingerprints count. 400 for a version that is not newer, 409 during an earlier change.',
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
