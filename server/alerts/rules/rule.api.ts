import { z } from 'zod'
import {
  ACTION_TYPES,
  DEFAULT_COOLDOWN_MINUTES,
  MAX_ACTIONS,
  MAX_RECIPIENTS,
  MAX_RULE_NAME_LENGTH,
  MONITOR_KINDS,
  PERCENTILES,
  PERFORMANCE_METRICS,
  SECURITY_KINDS,
  TRIGGER_TYPES,
} from '#shared/alert-rules.ts'
import { SEVERITIES } from '#shared/issue-values.ts'
import { Id, Timestamp } from '../../platform/kernel/page.api.ts'

/** Rules of alerts as the API takes and shows them. */

export const TriggerTypeSchema = z.enum(TRIGGER_TYPES, {
  error: `trigger_type must be one of ${TRIGGER_TYPES.join(', ')}.`,
})

const numberKey = (name: string) => z.number({ error: `${name} must be a number.` })
const oneOf = <const T extends readonly [string, ...string[]]>(name: string, values: T) =>
  z.enum(values, { error: `${name} must be one of ${values.join(', ')}.` })
const KINDS = {
  error: `kinds must be a list of ${SECURITY_KINDS.join(', ')} (security_event), or of ${MONITOR_KINDS.join(', ')} (monitor).`,
}
const textKey = (name: string) =>
  z
    .string({ error: `${name} must be a string.` })
    .trim()
    .min(1, { error: `${name} must not be empty.` })
    .max(200, { error: `${name} must be at most 200 characters.` })

/** Every key; `conditions.ts` checks which belong to the trigger, and their ranges. */
export const ConditionsInput = z.strictObject(
  {
    threshold: numberKey('threshold')
      .optional()
      .describe('Events, percent (2 is 2 %), milliseconds, percent per hour, or a score from 0 to 1, by trigger.'),
    window_minutes: numberKey('window_minutes').optional(),
    severity: oneOf('severity', SEVERITIES).optional().describe('The minimum; absent means any.'),
    environment: textKey('environment').optional(),
    multiplier: numberKey('multiplier').optional().describe('How many times the usual count of this hour.'),
    min_users: numberKey('min_users').optional(),
    kinds: z
      .array(z.enum([...SECURITY_KINDS, ...MONITOR_KINDS], KINDS), KINDS)
      .min(1, KINDS)
      .optional(),
    min_sessions: numberKey('min_sessions').optional(),
    metric: oneOf('metric', PERFORMANCE_METRICS).optional(),
    percentile: oneOf('percentile', PERCENTILES).optional(),
    min_count: numberKey('min_count').optional(),
    transaction: textKey('transaction').optional(),
    monitor: textKey('monitor').optional().describe('Slug of a monitor; absent means every monitor of the project.'),
  },
  {
    error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : 'conditions must be an object.'),
  },
)
export type ConditionsInput = z.infer<typeof ConditionsInput>
/** Complete: with the defaults of the trigger. */
export type Conditions = ConditionsInput

const URL_FIELD = {
  error: 'webhook_url must be a URL, such as https://hooks.example.com/services/….',
}
const webhookUrl = z.string(URL_FIELD).min(1, URL_FIELD).max(2_000, URL_FIELD)
const SECRET = { error: 'secret must be 16 to 200 visible characters.' }
const secret = z.string(SECRET).regex(/^[\x21-\x7e]{16,200}$/, SECRET)
const ROUTING_KEY = { error: 'routing_key must be the integration key of the pager: 20 to 64 letters and digits.' }
const routingKey = z.string(ROUTING_KEY).regex(/^[A-Za-z0-9_-]{20,64}$/, ROUTING_KEY)
const BOT_TOKEN = { error: 'bot_token must be the token of the bot, such as 123456789:AA….' }
const botToken = z.string(BOT_TOKEN).regex(/^\d{5,20}:[A-Za-z0-9_-]{20,100}$/, BOT_TOKEN)
const CHAT_ID = {
  error: 'chat_id must be the number of the chat, such as -1001234567890, or @ and the name of a channel.',
}
const chatId = z.string(CHAT_ID).regex(/^(?:-?\d{1,20}|@[A-Za-z][A-Za-z0-9_]{3,31})$/, CHAT_ID)
const ACCESS_TOKEN = { error: 'access_token must be the token of a user, such as tk_….' }
const accessToken = z.string(ACCESS_TOKEN).regex(/^[\x21-\x7e]{0,200}$/, ACCESS_TOKEN)
const TO = { error: `to must be team, assignee, or a list of 1 to ${MAX_RECIPIENTS} email addresses.` }
const recipients = z.union(
  [z.enum(['team', 'assignee']), z.array(z.email(TO).max(254, TO), TO).min(1, TO).max(MAX_RECIPIENTS, TO)],
  TO,
)
const id = Id.optional().describe('Of an action that the rule has: what is not given of it stays.')

const ACTION = {
  error: (issue: z.core.$ZodRawIssue) =>
    issue.code === 'invalid_union' ? `type must be one of ${ACTION_TYPES.join(', ')}.` : undefined,
}

export const ActionInput = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ id, type: z.literal('chat'), webhook_url: webhookUrl.optional() }),
    z.strictObject({
      id,
      type: z.literal('webhook'),
      webhook_url: webhookUrl.optional(),
      secret: secret
        .optional()
        .describe('The key of the signature. Without one a new one is made, and shown once in the answer.'),
    }),
    z.strictObject({ id, type: z.literal('email'), to: recipients.optional() }),
    z.strictObject({ id, type: z.literal('pager'), routing_key: routingKey.optional() }),
    z.strictObject({ id, type: z.literal('teamchat'), webhook_url: webhookUrl.optional() }),
    z.strictObject({ id, type: z.literal('discord'), webhook_url: webhookUrl.optional() }),
    z.strictObject({ id, type: z.literal('mattermost'), webhook_url: webhookUrl.optional() }),
    z.strictObject({
      id,
      type: z.literal('telegram'),
      bot_token: botToken.optional(),
      chat_id: chatId.optional(),
    }),
    z.strictObject({
      id,
      type: z.literal('ntfy'),
      webhook_url: webhookUrl.optional().describe('Address of the topic, such as https://ntfy.sh/shop-alerts.'),
      access_token: accessToken.optional().describe('For a topic that is not public. Empty removes it.'),
    }),
  ],
  ACTION,
)
export type ActionInput = z.infer<typeof ActionInput>

const ACTIONS = { error: `actions must be a list of at most ${MAX_ACTIONS} actions.` }
const actions = z.array(ActionInput, ACTIONS).max(MAX_ACTIONS, ACTIONS)

/** As it is shown: URLs and keys are masked. */
export const Action = z.object({
  id: Id,
  type: z.enum(ACTION_TYPES),
  webhook_url: z.string().optional().describe('Masked: what follows the host is not shown.'),
  routing_key: z.string().optional().describe('Masked: only its last four characters are shown.'),
  bot_token: z.string().optional().describe('Masked: only the number of the bot is shown.'),
  chat_id: z.string().optional(),
  access_token: z.string().optional().describe('Masked: only its last four characters are shown.'),
  to: z.union([z.enum(['team', 'assignee']), z.array(z.string())]).optional(),
  secret_prefix: z.string().optional().describe('The first characters of the secret that signs.'),
  secret: z.string().optional().describe('Only in the answer that made it.'),
  last_status: z.number().int().nullable().describe('Of the newest attempt; null without an answer.'),
  last_attempt_at: Timestamp.nullable(),
  needs_attention: z.boolean().describe('The newest attempt failed.'),
})
z.globalRegistry.add(Action, { id: 'AlertAction' })
export type Action = z.infer<typeof Action>

const NAME = { error: `name must be 1 to ${MAX_RULE_NAME_LENGTH} visible characters in one line.` }
const name = z
  .string(NAME)
  .trim()
  .max(MAX_RULE_NAME_LENGTH, NAME)
  .regex(/[^\p{C}\p{Z}]/u, NAME)
  .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, NAME)
const wholeMinutes = (field: string, min: number, max: number) => {
  const error = { error: `${field} must be a whole number from ${min} to ${max.toLocaleString('en')}.` }
  return z.number(error).int(error).min(min, error).max(max, error)
}
const cooldown = wholeMinutes('cooldown_minutes', 0, 10_080)
const escalateAfter = wholeMinutes('escalate_after_minutes', 1, 10_080).nullable()
const flag = (field: string) => z.boolean({ error: `${field} must be true or false.` })
const projectId = Id.describe('Project whose events it listens to.')

const COOLDOWN = 'Minutes without a further alert of this rule about the same issue.'
const ESCALATE =
  'When an alert is not acknowledged this long, escalation_actions are sent. Null means it does not escalate.'
const CLOSE = 'Resolves its alerts, and the page, when the issue is resolved.'

export const NewRule = z.strictObject({
  projectId,
  name,
  trigger_type: TriggerTypeSchema,
  conditions: ConditionsInput.default({}).describe('By trigger; those left out have its defaults.'),
  actions: actions.default([]),
  enabled: flag('enabled').default(true),
  cooldown_minutes: cooldown.default(DEFAULT_COOLDOWN_MINUTES).describe(COOLDOWN),
  escalate_after_minutes: escalateAfter.default(null).describe(ESCALATE),
  escalation_actions: actions.default([]),
  close_with_issue: flag('close_with_issue').default(true).describe(CLOSE),
})
export type NewRule = z.infer<typeof NewRule>

export const RuleChange = z.strictObject({
  name: name.optional(),
  trigger_type: TriggerTypeSchema.optional(),
  conditions: ConditionsInput.optional().describe('Replaces all conditions.'),
  actions: actions.optional().describe('Replaces the list. An action with an id keeps what is not given of it.'),
  enabled: flag('enabled').optional(),
  cooldown_minutes: cooldown.optional().describe(COOLDOWN),
  escalate_after_minutes: escalateAfter.optional().describe(ESCALATE),
  escalation_actions: actions.optional(),
  close_with_issue: flag('close_with_issue').optional().describe(CLOSE),
})
export type RuleChange = z.infer<typeof RuleChange>

const ShownConditions = z.object({
  threshold: z.number().optional(),
  window_minutes: z.number().optional(),
  severity: z.enum(SEVERITIES).optional(),
  environment: z.string().optional(),
  multiplier: z.number().optional(),
  min_users: z.number().optional(),
  kinds: z.array(z.enum([...SECURITY_KINDS, ...MONITOR_KINDS])).optional(),
  min_sessions: z.number().optional(),
  metric: z.enum(PERFORMANCE_METRICS).optional(),
  percentile: z.enum(PERCENTILES).optional(),
  min_count: z.number().optional(),
  transaction: z.string().optional(),
  monitor: z.string().optional(),
})

export const AlertRule = z.object({
  id: Id,
  projectId: Id,
  project: z.object({ id: Id, name: z.string(), slug: z.string(), platform: z.string() }),
  name: z.string(),
  trigger_type: z.enum(TRIGGER_TYPES),
  conditions: ShownConditions.describe('With the defaults of the trigger.'),
  unused_conditions: z
    .partialRecord(z.enum(['threshold', 'window_minutes', 'severity', 'percentile', 'transaction']), z.unknown())
    .describe('Those of conditions that mean nothing to this trigger.'),
  actions: z.array(Action),
  enabled: z.boolean(),
  cooldown_minutes: z.number().int(),
  escalate_after_minutes: z.number().int().nullable(),
  escalation_actions: z.array(Action),
  close_with_issue: z.boolean(),
  created_by: z.object({ id: Id, name: z.string() }).nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
  last_fired_at: Timestamp.nullable(),
  firing_count: z.number().int().describe('Its alerts that are firing.'),
})
z.globalRegistry.add(AlertRule, { id: 'AlertRule' })
export type AlertRule = z.infer<typeof AlertRule>
