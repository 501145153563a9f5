import { z } from 'zod'
import { ALERT_STATES, TRIGGER_TYPES } from '#shared/alert-rules.ts'
import { SEVERITIES } from '#shared/issue-values.ts'

/**
 * The message when an alert fires, is acknowledged or resolved, and as a test: one for all actions of a rule. Its
 * bytes are what the action `webhook` sends, in the shape of the webhook specification; other channels read it and make
 * their own form of it.
 */

const ALERT_MESSAGE_TYPES = ['alert.fired', 'alert.acknowledged', 'alert.resolved', 'alert.test'] as const
export type AlertMessageType = (typeof ALERT_MESSAGE_TYPES)[number]

const Named = z.object({ id: z.string(), name: z.string() })

const MessageAlert = z.object({
  id: z.string(),
  trigger_type: z.enum(TRIGGER_TYPES),
  title: z.string(),
  severity: z.enum(SEVERITIES),
  value: z.number().nullable(),
  unit: z.enum(['events', 'percent', 'ms', 'score', 'percent_per_hour', 'runs']).nullable(),
  threshold: z.number().nullable(),
  window_minutes: z.number().nullable(),
  explanation: z.string(),
  state: z.enum(ALERT_STATES),
  fired_at: z.string(),
  acknowledged_by: Named.nullable(),
  acknowledged_at: z.string().nullable(),
  resolved_at: z.string().nullable(),
  resolved_reason: z.string().nullable(),
  url: z.string(),
  is_test: z.boolean(),
})

const MessageIssue = z.object({
  id: z.string(),
  short_id: z.string(),
  title: z.string(),
  culprit: z.string(),
  level: z.string(),
  status: z.string(),
  severity: z.enum(SEVERITIES),
  assignee: Named.nullable(),
  event_count: z.number(),
  user_count: z.number(),
  first_seen: z.string(),
  last_seen: z.string(),
  last_release: z.string().nullable(),
  url: z.string(),
})

export const AlertMessage = z.object({
  id: z.string(),
  type: z.enum(ALERT_MESSAGE_TYPES),
  /** The project. */
  app_id: z.string(),
  /** Who acted; empty when no member did. */
  user_id: z.string(),
  occurred_at: z.string(),
  data: z.object({
    alert: MessageAlert,
    rule: Named.extend({ url: z.string() }),
    project: z.object({ id: z.string(), name: z.string(), slug: z.string(), platform: z.string() }),
    issue: MessageIssue.nullable(),
    /** The alert was not acknowledged in time. */
    escalated: z.literal(true).optional(),
    /** Stands for further alerts of the rule in one minute; `alert` is the newest of them. */
    summary: z
      .object({
        count: z.number(),
        /** At most 100. */
        alert_ids: z.array(z.string()),
        from: z.string(),
        to: z.string(),
      })
      .optional(),
  }),
})
export type AlertMessage = z.infer<typeof AlertMessage>
