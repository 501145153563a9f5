import { z } from 'zod'
import { Json } from '../../platform/kernel/json.api.ts'
import { Id, Timestamp } from '../../platform/kernel/page.api.ts'
import { EventLevel } from '../../events/protocol/event.api.ts'
import { ISSUE_SORT_FIELDS, ISSUE_SORTS, ISSUE_STATUSES, RANGE_SORT_FIELDS, SEVERITIES } from '#shared/issue-values.ts'
import { IgnoreUntil, Resolution } from './life-cycle.api.ts'

export const IssueStatus = z.enum(ISSUE_STATUSES, { error: `status must be one of ${ISSUE_STATUSES.join(', ')}.` })
export type IssueStatus = z.infer<typeof IssueStatus>
export const Severity = z.enum(SEVERITIES, { error: `severity must be one of ${SEVERITIES.join(', ')}.` })
export type Severity = z.infer<typeof Severity>

export const IssueSort = z.enum(ISSUE_SORTS, {
  error: `sort must be one of ${[...ISSUE_SORT_FIELDS, ...RANGE_SORT_FIELDS].join(', ')}, with a leading - for descending.`,
})
export type IssueSort = z.infer<typeof IssueSort>

export const Person = z.object({ id: Id, name: z.string(), email: z.string() })

export const Issue = z.object({
  id: Id,
  short_id: z.string().describe('Readable id, such as SHOP-42.'),
  project_id: Id,
  title: z.string(),
  culprit: z.string(),
  type: z.string().nullable(),
  value: z.string().nullable(),
  level: EventLevel,
  platform: z.string(),
  status: IssueStatus,
  status_reason: z.string().nullable().describe('Reason for the status, as a sentence; null while it never changed.'),
  status_changed_at: Timestamp.describe('When the status last changed.'),
  severity: Severity,
  severity_pinned: z.boolean(),
  assignee_id: Id.nullable(),
  assignee: Person.nullable(),
  team: z
    .string()
    .nullable()
    .describe('The team that an ownership rule assigned instead of a member; null when none did.'),
  first_seen: Timestamp,
  last_seen: Timestamp,
  event_count: z.number().int(),
  user_count: z.number().int(),
  event_count_in_range: z
    .number()
    .int()
    .nullable()
    .describe('Events in the range that the list was asked for; null without one. `event_count` is of its lifetime.'),
  user_count_in_range: z
    .number()
    .int()
    .nullable()
    .describe('Distinct users in that range; null without one, and for a range that begins more than 99 days ago.'),
  first_release: z.string().nullable(),
  last_release: z.string().nullable(),
  resolved_in_release: z.string().nullable(),
  resolution: Resolution.nullable().describe('How it was resolved, in the form of a request; null unless resolved.'),
  ignore_until: IgnoreUntil.nullable().describe(
    'Conditions that end the ignoring; null if there are none, or the issue is not ignored.',
  ),
  is_unhandled: z.boolean(),
  tracker_ticket: z.object({ id: z.string(), url: z.string() }).nullable(),
  ai_analysis: z
    .record(z.string(), Json)
    .nullable()
    .describe('The newest analysis, as POST …/analysis answers it, when one issue is read; null in lists.'),
  trend: z.object({
    interval_seconds: z.number().int(),
    start: Timestamp,
    counts: z.array(z.number().int()).describe('Events per bucket, oldest first; the newest bucket is not complete.'),
  }),
})
export type Issue = z.infer<typeof Issue>
