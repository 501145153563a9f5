import { z } from 'zod'
import { ACTION_TYPES, ALERT_STATES, TRIGGER_TYPES } from '#shared/alert-rules.ts'
import { SEVERITIES } from '#shared/issue-values.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Milliseconds, pageQuery, pageSchema, Rate, timeInput, Timestamp } from '../../platform/kernel/page.api.ts'
import { ActionInput, AlertRule, NewRule, RuleChange } from './rule.api.ts'

/** Rules of alerts, and the alerts that fired. */

const Named = z.object({ id: Id, name: z.string() })

export const AlertDelivery = z.object({
  id: z.string().nullable().describe('Null when nothing was to be sent; skipped says why.'),
  action_id: Id.nullable(),
  action_type: z.enum([...ACTION_TYPES, 'push']),
  target: z.string().describe('Where it went, masked.'),
  purpose: z.enum(['fired', 'acknowledged', 'resolved', 'escalated', 'summary']),
  state: z.enum(['pending', 'in_flight', 'delivered', 'failed', 'skipped']),
  skipped: z.string().nullable().describe('Why nothing was sent; null when it was, or is to be.'),
  attempts: z.number().int(),
  last_status: z.number().int().nullable(),
  last_error: z.string().nullable(),
  duration_ms: Milliseconds.nullable().describe('Milliseconds of the newest attempt; null before one has ended.'),
  next_attempt_at: Timestamp.nullable(),
  created_at: Timestamp,
  delivered_at: Timestamp.nullable(),
})
z.globalRegistry.add(AlertDelivery, { id: 'AlertDelivery' })
export type AlertDelivery = z.infer<typeof AlertDelivery>

export const Alert = z.object({
  id: Id,
  rule_id: Id,
  rule_name: z.string(),
  project_id: Id,
  project: z.object({ id: Id, name: z.string(), slug: z.string(), platform: z.string() }),
  issue_id: Id.nullable(),
  issue: z.object({ id: Id, short_id: z.string(), title: z.string() }).nullable(),
  trigger_type: z.enum(TRIGGER_TYPES),
  title: z.string(),
  severity: z.enum(SEVERITIES),
  value: Rate.nullable(),
  unit: z.enum(['events', 'percent', 'ms', 'score', 'percent_per_hour', 'runs']).nullable(),
  threshold: z.number().nullable(),
  window: z
    .number()
    .int()
    .nullable()
    .describe('In minutes; null when the alert measures nothing, and when the rule leaves it to the default.'),
  explanation: z.string(),
  state: z.enum(ALERT_STATES),
  fired_at: Timestamp,
  acknowledged_by: Named.nullable(),
  acknowledged_at: Timestamp.nullable(),
  resolved_at: Timestamp.nullable().describe('When it was resolved or expired; null until then.'),
  resolved_reason: z.string().nullable(),
  escalated_at: Timestamp.nullable(),
  deliveries: z.array(AlertDelivery),
})
z.globalRegistry.add(Alert, { id: 'Alert' })
export type Alert = z.infer<typeof Alert>

export const ActionResult = z.object({
  action_id: Id.nullable(),
  type: z.enum(ACTION_TYPES),
  target: z.string(),
  ok: z.boolean(),
  state: z.enum(['delivered', 'failed', 'pending']).describe('pending: no answer yet; the delivery continues.'),
  status: z.number().int().nullable(),
  error: z.string().nullable(),
  duration_ms: Milliseconds.nullable(),
})
z.globalRegistry.add(ActionResult, { id: 'AlertActionResult' })
export type ActionResult = z.infer<typeof ActionResult>

export const DryRun = z.object({
  from: Timestamp,
  to: Timestamp,
  count: z.number().int().describe('Alerts that the rule would have fired, with its cool-down.'),
  occurrences: z
    .array(
      z.object({
        at: Timestamp,
        title: z.string(),
        value: Rate.nullable(),
        issue: z.object({ id: Id, short_id: z.string(), title: z.string() }).nullable(),
      }),
    )
    .describe('The newest 100 of them, newest first.'),
  unit: z.enum(['events', 'percent', 'ms', 'score', 'percent_per_hour', 'runs']).nullable(),
  threshold: z.number().nullable(),
  interval_seconds: z.number().int(),
  points: z.array(z.object({ t: Timestamp, value: Rate.nullable() })).describe('What the rule measures, over time.'),
  measures: z.string().describe('What the points are, such as "events of the busiest issue per hour".'),
  has_data: z.boolean().describe('False when there was nothing to measure: the rule would not have fired.'),
})
z.globalRegistry.add(DryRun, { id: 'AlertDryRun' })
export type DryRun = z.infer<typeof DryRun>

const ruleParams = z.object({ ruleId: Id })
const alertParams = z.object({ alertId: Id })
const AlertStateQuery = z.enum(ALERT_STATES, { error: `state must be one of ${ALERT_STATES.join(', ')}.` })
const repeated = <T extends z.ZodType>(one: T) => z.union([one.transform((value) => [value]), z.array(one)])

export const alertRoutes = routes({
  listAlertRules: {
    method: 'GET',
    path: '/api/alerts',
    tag: 'Alerts',
    summary: 'Alert rules, newest first',
    permission: 'alerts.read',
    query: z.strictObject({ projectId: Id.optional(), ...pageQuery(25) }),
    response: pageSchema(AlertRule),
    refusals: [404],
  },
  createAlertRule: {
    method: 'POST',
    path: '/api/alerts',
    tag: 'Alerts',
    summary: 'Create an alert rule',
    description:
      'Percent triggers take percent numbers (2 is 2 %), times are in milliseconds, pre_crash_state a score from 0 to 1. threshold, window_minutes and severity are taken with every trigger; where one means nothing it is kept and named in unused_conditions.',
    permission: 'alerts.write',
    status: 201,
    body: NewRule,
    response: AlertRule,
    refusals: [404, 409],
  },
  readAlertRule: {
    method: 'GET',
    path: '/api/alerts/:ruleId',
    tag: 'Alerts',
    summary: 'An alert rule',
    permission: 'alerts.read',
    params: ruleParams,
    response: AlertRule,
    refusals: [404],
  },
  updateAlertRule: {
    method: 'PATCH',
    path: '/api/alerts/:ruleId',
    tag: 'Alerts',
    summary: 'Change an alert rule',
    permission: 'alerts.write',
    params: ruleParams,
    body: RuleChange,
    response: AlertRule,
    refusals: [404],
  },
  deleteAlertRule: {
    method: 'DELETE',
    path: '/api/alerts/:ruleId',
    tag: 'Alerts',
    summary: 'Delete an alert rule',
    description: 'Its open alerts are resolved; the history stays.',
    permission: 'alerts.write',
    status: 204,
    params: ruleParams,
    refusals: [404],
  },
  listRecentAlerts: {
    method: 'GET',
    path: '/api/alerts/recent',
    tag: 'Alerts',
    summary: 'The newest alerts, with the number of those that are firing',
    permission: 'alerts.read',
    query: z.strictObject({ limit: pageQuery(20).limit }),
    response: pageSchema(Alert).extend({ unread_count: z.number().int().describe('Alerts that are firing.') }),
  },
  listFiredAlerts: {
    method: 'GET',
    path: '/api/alerts/fired',
    tag: 'Alerts',
    summary: 'Alerts that fired, newest first',
    permission: 'alerts.read',
    query: z.strictObject({
      projectId: Id.optional(),
      rule_id: Id.optional(),
      issue_id: Id.optional(),
      state: repeated(AlertStateQuery).optional().describe('May be repeated.'),
      from: timeInput('from').optional(),
      to: timeInput('to').optional(),
      ...pageQuery(25),
    }),
    response: pageSchema(Alert),
  },
  readFiredAlert: {
    method: 'GET',
    path: '/api/alerts/fired/:alertId',
    tag: 'Alerts',
    summary: 'An alert with its deliveries',
    permission: 'alerts.read',
    params: alertParams,
    response: Alert,
    refusals: [404],
  },
  acknowledgeAlert: {
    method: 'POST',
    path: '/api/alerts/:alertId/ack',
    tag: 'Alerts',
    summary: 'Acknowledge an alert',
    description: 'Stops the page and the escalation. A second time changes nothing.',
    permission: 'alerts.write',
    params: alertParams,
    response: Alert,
    refusals: [404],
  },
  resolveAlert: {
    method: 'POST',
    path: '/api/alerts/:alertId/resolve',
    tag: 'Alerts',
    summary: 'Resolve an alert',
    description: 'Its issue keeps its status. An alert that has ended stays as it is.',
    permission: 'alerts.write',
    params: alertParams,
    response: Alert,
    refusals: [404],
  },
})

/** Handlers are in `alerts/actions/`. */
export const alertTestRoutes = routes({
  testAlertRule: {
    method: 'POST',
    path: '/api/alerts/:ruleId/test',
    tag: 'Alerts',
    summary: 'Send a test through every action of a rule',
    description: 'The messages are marked as tests. Answers when each action has answered, or after 12 seconds.',
    permission: 'alerts.write',
    params: ruleParams,
    body: z.strictObject({ action_id: Id.optional().describe('Only this action.') }).optional(),
    response: z.object({ results: z.array(ActionResult) }),
    isSlow: true,
    refusals: [404, 409],
  },
  testAlertAction: {
    method: 'POST',
    path: '/api/alerts/test-action',
    tag: 'Alerts',
    summary: 'Send a test through an action that is not saved yet',
    description: 'One attempt, without retries. An organisation can send 120 tests an hour.',
    permission: 'alerts.write',
    body: z.strictObject({ projectId: Id, rule_id: Id.optional(), action: ActionInput }),
    response: ActionResult,
    isSlow: true,
    refusals: [404],
  },
})

/** The handler is in `alerts/evaluation/`. */
export const dryRunRoutes = routes({
  dryRunAlertRule: {
    method: 'POST',
    path: '/api/alerts/dry-run',
    tag: 'Alerts',
    summary: 'What a rule would have fired in the last 7 days',
    description: 'The body is that of a new rule; name and actions may be missing.',
    permission: 'alerts.read',
    body: NewRule.partial({ name: true }),
    response: DryRun,
    isSlow: true,
    refusals: [404],
  },
})
