import { z } from 'zod'
import { SECURITY_KINDS } from '#shared/alert-rules.ts'

/**
 * Every kind of fact: what can happen to an issue, a project, a release, a member. A fact is recorded once, in the
 * transaction of its change; this table says everything that follows from it. `docs/decisions/facts.md` explains it.
 */

export type InboxKind = 'assigned' | 'mentioned' | 'commented' | 'regressed' | 'escalated' | 'reopened'
export type SubscriptionReason = 'manual' | 'assigned' | 'mentioned' | 'commented' | 'changed'

type Kind = {
  /** The target of the fact: which ids it names. */
  readonly target: keyof Targets
  /** Other data of the fact. */
  readonly data: z.ZodObject
  /** Kind of the entry in the activity of its issue. */
  readonly activity?: string
  /** Notifies the subscribers of its issue, or the users that the fact names. */
  readonly notifies?: { readonly who: 'subscribers' | 'named'; readonly as: InboxKind }
  /** Subscribes the actor, or the users that the fact names, to its issue. */
  readonly subscribes?: { readonly who: 'actor' | 'named'; readonly as: Exclude<SubscriptionReason, 'manual'> }
  /** Live message that names its issue, its project, its release, its endpoint or its alert. */
  readonly live?: 'issues' | 'new_issues' | 'project' | 'releases' | 'webhooks' | 'alerts' | 'feedback'
  /** Action of the audit log. */
  readonly audit?: string
  /** Field of the data that the audit log cuts last. */
  readonly verbatim?: string
  /** How the action ended, if not well. */
  readonly outcome?: 'denied' | 'failed'
  /** Event type of webhooks. */
  readonly webhook?: string
  /** Trigger of alert rules that listen to it. */
  readonly alert?: 'new_issue' | 'issue_regression' | 'issue_spike' | 'security_event'
}

const NONE = z.object({})
const ids = z.array(z.string()).readonly()
/** A change of a value. The activity shows further fields, such as the reason. */
const change = z.looseObject({ from: z.string(), to: z.string() })
const assignment = z.looseObject({ from: z.string().nullable(), to: z.string().nullable() })

const STATUS = {
  target: 'issue',
  data: change,
  activity: 'status_changed',
  live: 'issues',
  audit: 'issue.status_changed',
} as const
const fields = z.object({ fields: ids })
/** A change of many issues. The facts of each issue are not entries of the audit log. */
const bulk = z.object({
  operation_id: z.string(),
  count: z.number(),
  to: z.string().nullish(),
  undoes: z.string().optional(),
})
const factor = z.object({ factor_id: z.string() })
const passkey = z.object({ passkey_id: z.string() })
const named = z.object({ name: z.string() })
const chatUser = z.object({ team_id: z.string(), chat_user_id: z.string() })
const provider = z.object({ provider: z.string(), issuer: z.string() })
/** `via`: how the user came to the organisation, such as password, invite or oidc. */
const signUp = z.object({ org_id: z.string(), via: z.string() })
/** How an alert ended. */
const ended = z.object({ state: z.string(), reason: z.string() })
const ASSIGNMENT = {
  target: 'issue',
  data: assignment,
  activity: 'assigned',
  live: 'issues',
  audit: 'issue.assigned',
} as const

export const KINDS = {
  'issue.created': {
    target: 'issue',
    data: z.object({ event_id: z.string() }),
    activity: 'created',
    live: 'new_issues',
    alert: 'new_issue',
  },
  /** Events of one fold. */
  'issue.events_received': {
    target: 'issue',
    /** `minutes`: when they happened, as `[start of the minute in ms, events]`. */
    data: z.object({ events: z.number(), minutes: z.array(z.tuple([z.number(), z.number()])).readonly() }),
    live: 'issues',
  },
  'issue.late_events_received': {
    target: 'issue',
    data: z.looseObject({ before: z.number(), unfixed: z.number(), unnamed: z.number() }),
    activity: 'late_events',
    live: 'issues',
  },
  /** By a member; or by itself, without need of action: resolved, no longer escalated. */
  'issue.status_changed': { ...STATUS, subscribes: { who: 'actor', as: 'changed' } },
  /** A bulk operation was undone. */
  'issue.status_restored': STATUS,
  'issue.regressed': { ...STATUS, notifies: { who: 'subscribers', as: 'regressed' }, alert: 'issue_regression' },
  'issue.escalated': { ...STATUS, notifies: { who: 'subscribers', as: 'escalated' }, alert: 'issue_spike' },
  /** No longer ignored, because its condition was met. */
  'issue.reopened': { ...STATUS, notifies: { who: 'subscribers', as: 'reopened' } },
  /** A release with the fixing commit appeared. */
  'issue.resolution_changed': {
    target: 'issue',
    data: z.looseObject({ commit: z.string(), fixed_in: ids }),
    activity: 'resolution_changed',
    live: 'issues',
  },
  /** Names the new assignee. */
  'issue.assigned': {
    ...ASSIGNMENT,
    notifies: { who: 'named', as: 'assigned' },
    subscribes: { who: 'named', as: 'assigned' },
  },
  /** A bulk operation was undone: the former assignee is not notified. */
  'issue.assignee_restored': ASSIGNMENT,
  'issue.severity_changed': {
    target: 'issue',
    data: change,
    activity: 'severity_changed',
    live: 'issues',
    audit: 'issue.severity_changed',
  },
  /** Other issues were merged into it. */
  'issue.merged': {
    target: 'issue',
    data: z.object({ issue_ids: ids }),
    activity: 'merged',
    live: 'issues',
    audit: 'issue.merged',
  },
  /** It was merged into another issue. */
  'issue.merged_into': {
    target: 'issue',
    data: z.object({ issue_id: z.string() }),
    activity: 'merged_into',
    live: 'issues',
  },
  /** Other issues were unmerged from it. */
  'issue.unmerged': {
    target: 'issue',
    data: z.object({ issue_ids: ids }),
    activity: 'unmerged',
    live: 'issues',
    audit: 'issue.unmerged',
  },
  /** It was unmerged from another issue. */
  'issue.unmerged_from': {
    target: 'issue',
    data: z.object({ issue_id: z.string() }),
    activity: 'unmerged',
    live: 'issues',
  },
  'issue.deleted': { target: 'issue', data: NONE, live: 'issues', audit: 'issue.deleted' },
  'issue.discarded': { target: 'issue', data: NONE, live: 'project', audit: 'issue.discarded' },
  'issue.feedback_received': { target: 'issue', data: NONE, live: 'issues' },
  /** Events of a batch say that an app, its device or its connection is under attack; once per issue and kind. */
  'issue.security_event': {
    target: 'issue',
    data: z.object({ kind: z.enum(SECURITY_KINDS), event_id: z.string(), environment: z.string() }),
    alert: 'security_event',
  },
  'issue.attachment_received': { target: 'issue', data: NONE, live: 'issues' },
  /** By a member. */
  'issue.attachment_added': { target: 'issue', data: NONE, live: 'issues', audit: 'issue.attachment_added' },
  /** Its users were counted after a merge. */
  'issue.users_counted': { target: 'issue', data: NONE, live: 'issues' },
  /** Events of an erased user were deleted. */
  'issue.user_erased': { target: 'issue', data: NONE, live: 'issues' },
  /** A commit or pull request names it, or came to another state. */
  'issue.code_mentioned': { target: 'issue', data: NONE, live: 'issues' },
  /** The assistant stored an analysis of it. */
  'issue.analysed': { target: 'issue', data: NONE, live: 'issues' },

  'comment.created': {
    target: 'comment',
    data: NONE,
    audit: 'comment.created',
    notifies: { who: 'subscribers', as: 'commented' },
    subscribes: { who: 'actor', as: 'commented' },
    live: 'issues',
  },
  /** Names the users whom a comment mentions for the first time. */
  'comment.mentioned': {
    target: 'comment',
    data: NONE,
    notifies: { who: 'named', as: 'mentioned' },
    subscribes: { who: 'named', as: 'mentioned' },
  },
  'comment.updated': { target: 'comment', data: NONE, live: 'issues', audit: 'comment.updated' },
  'comment.deleted': {
    target: 'comment',
    data: NONE,
    activity: 'comment_deleted',
    live: 'issues',
    audit: 'comment.deleted',
  },

  /** A bulk operation was started; one fact for each value that it changes. */
  'issues.status_changed': { target: 'operation', data: bulk, audit: 'issue.status_changed' },
  'issues.assigned': { target: 'operation', data: bulk, audit: 'issue.assigned' },
  'issues.severity_changed': { target: 'operation', data: bulk, audit: 'issue.severity_changed' },
  'issues.deleted': { target: 'operation', data: bulk.extend({ short_ids: ids }), audit: 'issue.deleted' },

  'project.created': {
    target: 'project',
    data: z.object({ name: z.string(), slug: z.string() }),
    live: 'project',
    audit: 'project.created',
  },
  'project.settings_updated': {
    target: 'project',
    data: z.object({ fields: ids }),
    live: 'project',
    audit: 'project.settings_updated',
  },
  'project.dsn_rotated': {
    target: 'project',
    data: z.object({ grace_seconds: z.number() }),
    live: 'project',
    audit: 'project.dsn_rotated',
  },
  'project.key_created': { target: 'project', data: named, live: 'project', audit: 'project.key_created' },
  'project.key_updated': {
    target: 'project',
    data: z.object({ name: z.string(), fields: ids }),
    live: 'project',
    audit: 'project.key_updated',
  },
  'project.key_removed': { target: 'project', data: named, live: 'project', audit: 'project.key_removed' },
  'project.grouping_upgraded': {
    target: 'project',
    data: z.object({ version: z.number() }),
    live: 'project',
    audit: 'project.grouping_upgraded',
  },
  /** A discarded issue was restored. */
  'project.discard_removed': {
    target: 'project',
    data: z.object({ discard_id: z.string() }),
    live: 'project',
    audit: 'project.discard_removed',
  },
  /** The erasure of a user's data was requested. Never names the user: the log outlives the data. */
  'project.user_data_erased': {
    target: 'project',
    data: z.object({ erasure_id: z.string() }),
    audit: 'project.user_data_erased',
  },
  'project.deleted': { target: 'project', data: named, live: 'project', audit: 'project.deleted' },

  'release.created': {
    target: 'release',
    data: z.object({ version: z.string(), automatic: z.boolean() }),
    live: 'releases',
    audit: 'release.created',
  },
  /** Its date, state, address or commit. */
  'release.updated': { target: 'release', data: fields, live: 'releases', audit: 'release.updated' },
  'release.commits_added': {
    target: 'release',
    data: z.object({ commits: z.number() }),
    live: 'releases',
    audit: 'release.updated',
  },
  'release.deployed': {
    target: 'release',
    data: z.object({ environment: z.string() }),
    live: 'releases',
    audit: 'release.updated',
  },
  /** Its first event or session arrived, or it was planned and something arrived. */
  'release.seen': { target: 'release', data: NONE, live: 'releases' },

  'source_map.uploaded': { target: 'project', data: named, audit: 'source_map.uploaded' },
  'source_map.deleted': { target: 'project', data: named, audit: 'source_map.deleted' },
  'dsym.uploaded': { target: 'project', data: named, audit: 'dsym.uploaded' },
  'dsym.deleted': { target: 'project', data: named, audit: 'dsym.deleted' },

  'org.updated': { target: 'org', data: fields, audit: 'org.updated' },
  'org.quota_updated': {
    target: 'org',
    data: z.object({ events_per_day: z.number().nullable() }),
    audit: 'org.quota_updated',
  },
  'sso.config.updated': { target: 'org', data: fields, audit: 'sso.config.updated' },
  'sso.domain.verified': { target: 'org', data: z.object({ domain: z.string() }), audit: 'sso.domain.verified' },
  'nlq.executed': { target: 'org', data: z.looseObject({ question: z.string() }), audit: 'nlq.executed' },
  'nlq.rejected': {
    target: 'org',
    data: z.looseObject({ question: z.string(), reason: z.string() }),
    audit: 'nlq.rejected',
    outcome: 'denied',
  },
  /** `source`: built_in or model. `question` only where the operator keeps texts. */
  'assistant.asked': {
    target: 'org',
    data: z.looseObject({ source: z.string(), question: z.string().optional() }),
    audit: 'assistant.asked',
    verbatim: 'question',
  },
  /** Something was sent to a model; `prompt` and `answer` only where the operator keeps texts. */
  'assistant.model_called': {
    target: 'org',
    data: z.looseObject({
      purpose: z.string(),
      model: z.string(),
      input_tokens: z.number(),
      output_tokens: z.number(),
      error: z.string().optional(),
      prompt: z.string().optional(),
      answer: z.string().optional(),
    }),
    audit: 'assistant.model_called',
    verbatim: 'answer',
  },
  'encryption.key_rotated': { target: 'org', data: z.object({ key_id: z.string() }), audit: 'encryption.key_rotated' },
  'audit.exported': { target: 'org', data: z.looseObject({}), audit: 'audit.exported' },

  'signup.password.ok': {
    target: 'user',
    data: signUp,
    audit: 'signup.password.ok',
    webhook: 'signup.password.ok',
  },
  'signup.invite.ok': { target: 'user', data: signUp, audit: 'signup.invite.ok', webhook: 'signup.invite.ok' },
  'signup.oidc.ok': { target: 'user', data: signUp, audit: 'signup.oidc.ok', webhook: 'signup.oidc.ok' },
  'signin.password.ok': {
    target: 'session',
    data: NONE,
    audit: 'signin.password.ok',
    webhook: 'signin.password.ok',
  },
  'signin.passkey.ok': {
    target: 'session',
    data: NONE,
    audit: 'signin.passkey.ok',
    webhook: 'signin.passkey.ok',
  },
  'signin.oauth.ok': { target: 'session', data: provider, audit: 'signin.oauth.ok', webhook: 'signin.oauth.ok' },
  'signin.oidc.ok': { target: 'session', data: provider, audit: 'signin.oidc.ok', webhook: 'signin.oidc.ok' },
  'signout.ok': { target: 'session', data: NONE, audit: 'signout.ok' },
  /** Not in the audit log: every open dashboard refreshes all the time. */
  'session.refreshed': { target: 'session', data: NONE },
  /** Not by its own log-out. */
  'session.revoked': {
    target: 'session',
    data: z.object({ reason: z.string() }),
    audit: 'session.revoked',
    webhook: 'session.revoked',
  },
  /** A refresh token was used a second time. The session is its family. */
  'session.theft_detected': {
    target: 'session',
    data: z.object({
      family_id: z.string(),
      revoked_sessions: z.number(),
      first_ip: z.string().nullable(),
      reuse_ip: z.string(),
    }),
    outcome: 'denied',
    audit: 'session.theft_detected',
    webhook: 'session.theft_detected',
  },
  /** In both organisations: out of one, with the session that ended, and into the other with a new one. */
  'session.org_switched': {
    target: 'session',
    data: z.object({ direction: z.enum(['out', 'in']) }),
    audit: 'session.org_switched',
  },
  /** The first log-in from a device or browser that the user was not known to use. */
  'device.new': {
    target: 'session',
    data: z.object({ device_id: z.string(), device_label: z.string(), first: z.boolean() }),
    audit: 'device.new',
    webhook: 'device.new',
  },
  'webhook.endpoint.created': {
    target: 'endpoint',
    data: z.object({ url: z.string(), events: ids }),
    live: 'webhooks',
    audit: 'webhook.endpoint.created',
  },
  'webhook.endpoint.updated': {
    target: 'endpoint',
    data: z.object({ fields: ids }),
    live: 'webhooks',
    audit: 'webhook.endpoint.updated',
  },
  'webhook.endpoint.deleted': {
    target: 'endpoint',
    data: z.object({ url: z.string() }),
    live: 'webhooks',
    audit: 'webhook.endpoint.deleted',
  },
  'webhook.endpoint.auto_paused': {
    target: 'endpoint',
    data: z.object({ failing_since: z.string(), failed_attempts: z.number() }),
    live: 'webhooks',
    audit: 'webhook.endpoint.auto_paused',
  },
  'webhook.secret.rotated': {
    target: 'endpoint',
    data: z.object({ version: z.number(), overlap_seconds: z.number() }),
    live: 'webhooks',
    audit: 'webhook.secret.rotated',
  },
  /** All attempts of deliveries failed; at most one per endpoint and minute. */
  'webhook.delivery.exhausted': {
    target: 'endpoint',
    data: z.object({ count: z.number(), delivery_ids: ids }),
    audit: 'webhook.delivery.exhausted',
    outcome: 'failed',
  },
  'webhook.delivery.replayed': {
    target: 'endpoint',
    data: z.object({ count: z.number(), delivery_ids: ids }),
    audit: 'webhook.delivery.replayed',
  },
  /** The text of the error is verbatim. */
  'webhook.tls_error': {
    target: 'endpoint',
    data: z.object({ delivery_id: z.string(), code: z.string(), message: z.string() }),
    audit: 'webhook.tls_error',
    verbatim: 'message',
    outcome: 'failed',
  },
  /** Only the endpoint that it names receives the event. */
  'webhook.test': {
    target: 'endpoint',
    data: z.object({ event_id: z.string() }),
    audit: 'webhook.test',
    webhook: 'webhook.test',
  },

  /** The action and the type have different names in the two specifications. */
  'user.password_changed': {
    target: 'user',
    data: NONE,
    audit: 'user.password_changed',
    webhook: 'password.changed',
  },
  'password.reset.requested': { target: 'user', data: NONE, audit: 'password.reset.requested' },
  'password.reset.ok': {
    target: 'user',
    data: z.object({ requested_at: z.string() }),
    audit: 'password.reset.ok',
    webhook: 'password.reset.ok',
  },
  /** A way to sign in: the account at a provider. */
  'identity.linked': { target: 'user', data: provider, audit: 'identity.linked' },
  'identity.unlinked': { target: 'user', data: provider, audit: 'identity.unlinked' },
  /** A user of the chat may act for the account. */
  'integration.chat.linked': { target: 'user', data: chatUser, audit: 'integration.chat.linked' },
  'integration.chat.unlinked': { target: 'user', data: chatUser, audit: 'integration.chat.unlinked' },
  'email.changed': { target: 'user', data: NONE, audit: 'email.changed', webhook: 'email.changed' },
  'user.disabled': { target: 'user', data: NONE, audit: 'user.disabled', webhook: 'user.disabled' },
  'user.enabled': { target: 'user', data: NONE, audit: 'user.enabled' },
  'user.deleted': { target: 'user', data: NONE, audit: 'user.deleted', webhook: 'user.deleted' },
  'mfa.totp.enrolled': { target: 'user', data: factor, audit: 'mfa.totp.enrolled', webhook: 'mfa.totp.enrolled' },
  'mfa.totp.disabled': { target: 'user', data: factor, audit: 'mfa.totp.disabled', webhook: 'mfa.totp.disabled' },
  'mfa.backup_codes.generated': {
    target: 'user',
    data: factor,
    audit: 'mfa.backup_codes.generated',
    webhook: 'mfa.backup_codes.generated',
  },
  'mfa.backup_code.used': {
    target: 'user',
    data: factor,
    audit: 'mfa.backup_code.used',
    webhook: 'mfa.backup_code.used',
  },
  'passkey.registered': {
    target: 'user',
    data: passkey,
    audit: 'passkey.registered',
    webhook: 'passkey.registered',
  },
  'passkey.removed': { target: 'user', data: passkey, audit: 'passkey.removed', webhook: 'passkey.removed' },
  /** A copy of the passkey may exist: the log-in is refused. */
  'passkey.counter_regressed': {
    target: 'user',
    data: passkey,
    audit: 'passkey.counter_regressed',
    outcome: 'denied',
    webhook: 'passkey.counter_regressed',
  },
  /** By a command of the operator: a user who had an account. */
  'member.added': { target: 'user', data: z.object({ role: z.string() }), audit: 'member.added' },
  'member.role_changed': { target: 'user', data: change, audit: 'member.role_changed' },
  'member.removed': { target: 'user', data: z.object({ role: z.string() }), audit: 'member.removed' },
  'invite.created': { target: 'invite', data: z.object({ role: z.string() }), audit: 'invite.created' },
  'invite.resent': { target: 'invite', data: z.object({ role: z.string() }), audit: 'invite.resent' },
  'invite.accepted': { target: 'invite', data: z.object({ role: z.string() }), audit: 'invite.accepted' },
  'invite.revoked': { target: 'invite', data: z.object({ role: z.string() }), audit: 'invite.revoked' },
  'api_key.created': { target: 'api_key', data: z.object({ scopes: ids }), audit: 'api_key.created' },
  'api_key.revoked': { target: 'api_key', data: z.object({ scopes: ids }), audit: 'api_key.revoked' },

  /** A message from a user of an app arrived. */
  'feedback.received': { target: 'feedback', data: NONE, live: 'feedback' },
  /** Its status, its assignee, or whether its author is notified of the resolution. Never names the author. */
  'feedback.changed': {
    target: 'feedback',
    data: z.object({ fields: ids, to: z.string().optional() }),
    live: 'feedback',
    audit: 'feedback.changed',
  },
  'feedback.read': { target: 'feedback', data: NONE, live: 'feedback' },
  'feedback.noted': { target: 'feedback', data: NONE, live: 'feedback', audit: 'feedback.noted' },
  'feedback.replied': { target: 'feedback', data: NONE, live: 'feedback', audit: 'feedback.replied' },
  /** Its author was notified that the issue is resolved. */
  'feedback.author_notified': { target: 'feedback', data: NONE, live: 'feedback', audit: 'feedback.author_notified' },

  'monitor.changed': {
    target: 'monitor',
    data: z.object({ fields: ids, to: z.string().optional() }),
    audit: 'monitor.changed',
  },
  'monitor.deleted': { target: 'monitor', data: NONE, audit: 'monitor.deleted' },

  'alert_rule.created': { target: 'alert_rule', data: named, live: 'alerts', audit: 'alert_rule.created' },
  'alert_rule.updated': { target: 'alert_rule', data: fields, live: 'alerts', audit: 'alert_rule.updated' },
  'alert_rule.deleted': { target: 'alert_rule', data: named, live: 'alerts', audit: 'alert_rule.deleted' },
  'alert.fired': { target: 'alert', data: z.object({ rule_id: z.string(), severity: z.string() }), live: 'alerts' },
  'alert.acknowledged': { target: 'alert', data: NONE, live: 'alerts', audit: 'alert.acknowledged' },
  /** By a member, not with its issue. */
  'alert.resolved': { target: 'alert', data: ended, live: 'alerts', audit: 'alert.resolved' },
  /** With its issue, its condition or its rule; or it expired. */
  'alert.ended': { target: 'alert', data: ended, live: 'alerts' },
  /** Connected, changed, or its secret renewed. */
  'integration.codehost.updated': { target: 'integration', data: fields, audit: 'integration.codehost.updated' },
  'integration.codehost.disconnected': {
    target: 'integration',
    data: named,
    audit: 'integration.codehost.disconnected',
  },
  'integration.tracker.connected': { target: 'integration', data: named, audit: 'integration.tracker.connected' },
  'integration.tracker.disconnected': {
    target: 'integration',
    data: named,
    audit: 'integration.tracker.disconnected',
  },
  'import.created': {
    target: 'integration',
    data: z.object({ url: z.string(), organisation: z.string() }),
    audit: 'import.created',
  },
  'import.changed': { target: 'integration', data: change, audit: 'import.changed' },
  /** The tracker refused the credentials. */
  'integration.tracker.broken': {
    target: 'integration',
    data: named,
    audit: 'integration.tracker.broken',
    outcome: 'failed',
  },
  /** The ticket was closed, reopened or deleted in the tracker. */
  'ticket.changed': {
    target: 'issue',
    data: z.object({ key: z.string(), url: z.string(), state: z.string() }),
    activity: 'ticket_changed',
    live: 'issues',
  },
  'ticket.created': {
    target: 'issue',
    data: z.object({ integration_id: z.string(), key: z.string(), url: z.string() }),
    activity: 'ticket_created',
    live: 'issues',
    audit: 'ticket.created',
  },
} as const satisfies Record<string, Kind>

export type FactKind = keyof typeof KINDS

/** Concerns an account, and with it every organisation of its user; `identity/auth/account-facts.ts` makes a fact for each. */
export type AccountFactKind = Extract<
  FactKind,
  | `user.${string}`
  | `password.${string}`
  | `email.${string}`
  | `mfa.${string}`
  | `passkey.${string}`
  | `identity.${string}`
  | `integration.chat.${string}`
>

/** Whether the text names a kind. */
export const isFactKind = (text: string): text is FactKind => Object.hasOwn(KINDS, text)

/** The kind of a fact, from which its effects follow. */
export const factKind = (kind: FactKind): Kind => KINDS[kind]

/** The ids that a fact names, by its target. */
type Targets = {
  issue: { readonly projectId: string; readonly issueId: string }
  comment: { readonly projectId: string; readonly issueId: string; readonly commentId: string }
  project: { readonly projectId: string }
  release: { readonly projectId: string; readonly releaseId: string }
  org: unknown
  user: { readonly userId: string }
  session: { readonly userId: string; readonly sessionId: string }
  endpoint: { readonly endpointId: string }
  operation: Operation
  invite: Other
  api_key: Other
  alert_rule: Other
  monitor: Other
  feedback: Other
  alert: Other
  integration: Other
}

/** Names its target by one id and, for the audit log, a label. */
type Other = { readonly targetId: string; readonly label: string; readonly projectId?: string }

/** With one issue only, the issue is the target. */
type Operation = Other & { readonly onlyIssueId?: string }

type Shown = {
  /** For the activity and, unless `notice` is set, for inboxes. */
  readonly sentence: string
  readonly notice?: string
  /** The entry of the activity that this fact replaces. */
  readonly entryId?: string
}

type Named = { readonly userIds: readonly string[] }

/** A fact to record; its data and ids are checked by its kind. */
export type FactOf<K extends FactKind> = {
  readonly kind: K
  readonly orgId: string
  /** When it happened, if not at the time of its context. */
  readonly at?: Date
  /** The target's label in the audit log, when the change deletes the row. */
  readonly label?: string
  readonly data: Readonly<z.infer<(typeof KINDS)[K]['data']>>
} & Targets[(typeof KINDS)[K]['target']] &
  ((typeof KINDS)[K] extends { readonly activity: string } | { readonly notifies: object } ? Shown : unknown) &
  ((typeof KINDS)[K] extends { readonly notifies: { readonly who: 'named' } } ? Named : unknown)

export type Fact = { readonly [K in FactKind]: FactOf<K> }[FactKind]

/** A fact that is recorded in this transaction, with its id and time. */
export type NewFact = Fact & { readonly id: string; readonly at: Date }
