import { expect, test } from 'vitest'
import { INBOX_KINDS } from '../../issues/inbox/inbox.api.ts'
import { KINDS, factKind, type FactKind } from './kinds.ts'

/**
 * Actions of the audit log. One marked `*` is an event type of webhooks, too, by the same name or the one behind `=`.
 */
const ACTIONS =
  `signup.password.ok* signup.invite.ok* signup.oidc.ok* signin.password.ok* signin.passkey.ok* signin.oauth.ok*
  signin.oidc.ok* signin.failed signin.locked signout.ok session.refreshed session.revoked* session.theft_detected*
  mfa.totp.enrolled* mfa.totp.disabled* mfa.backup_codes.generated* mfa.backup_code.used* mfa.failed passkey.registered*
  passkey.removed* passkey.counter_regressed* user.password_changed*=password.changed password.reset.requested
  password.reset.ok* email.changed* device.new* user.disabled* user.deleted* api_key.created api_key.revoked invite.created
  invite.accepted invite.revoked member.role_changed member.removed org.updated sso.config.updated sso.domain.verified
  project.created project.settings_updated project.dsn_rotated issue.status_changed issue.assigned issue.deleted
  comment.deleted alert_rule.created alert_rule.updated alert_rule.deleted alert.acknowledged release.created
  source_map.uploaded source_map.deleted dsym.uploaded dsym.deleted integration.codehost.updated integration.tracker.connected
  integration.tracker.disconnected ticket.created webhook.endpoint.created webhook.endpoint.updated
  webhook.endpoint.deleted webhook.endpoint.auto_paused webhook.secret.rotated webhook.delivery.exhausted
  webhook.delivery.replayed webhook.tls_error webhook.test* nlq.executed nlq.rejected access.denied ratelimit.exceeded
  encryption.key_rotated audit.exported`
    .split(/\s+/)
    .map((word) => {
      const [, action = '', mark, type] = /^([\w.]+)(\*)?(?:=(.+))?$/.exec(word) ?? []
      return { action, webhook: mark === undefined ? undefined : (type ?? action) }
    })

/** Actions that this product adds. */
const ADDED =
  `issue.merged issue.unmerged issue.discarded issue.severity_changed issue.attachment_added comment.created comment.updated release.updated
  project.key_created project.key_updated project.key_removed project.grouping_upgraded project.discard_removed project.user_data_erased project.deleted org.quota_updated
  session.org_switched identity.linked identity.unlinked user.enabled invite.resent member.added alert.resolved
  integration.chat.linked integration.chat.unlinked assistant.asked assistant.model_called
  integration.tracker.broken integration.codehost.disconnected import.created import.changed monitor.changed monitor.deleted
  feedback.changed feedback.noted feedback.replied feedback.author_notified`.split(/\s+/)

/** A refused request changes nothing: no fact. `audit/` counts refusals and writes these entries itself. */
const REFUSALS = ['signin.failed', 'signin.locked', 'mfa.failed', 'access.denied', 'ratelimit.exceeded']

/** Not in the log. */
const LEFT_OUT = ['session.refreshed']

const kinds = Object.keys(KINDS)
  .filter((name): name is FactKind => name in KINDS)
  .map((name) => ({ name, ...factKind(name) }))

test('every action is declared, and no other', () => {
  const all = new Set([...ACTIONS.map(({ action }) => action), ...ADDED]).difference(
    new Set([...REFUSALS, ...LEFT_OUT]),
  )
  expect(new Set(kinds.flatMap(({ audit }) => audit ?? []))).toEqual(all)
})

test.each(kinds)(
  '$name agrees with the specification',
  ({ name, audit, webhook, target, activity, notifies, live }) => {
    expect(name).toMatch(/^[a-z_]+(\.[a-z_]+)+$/)
    expect(webhook).toBe(ACTIONS.find(({ action }) => action === audit)?.webhook)
    // A fact that is named as an action is that action.
    if (name !== 'session.refreshed' && ACTIONS.some(({ action }) => action === name)) expect(audit).toBe(name)
    if (activity !== undefined || notifies !== undefined) expect(['issue', 'comment']).toContain(target)
    if (live === 'releases') expect(target).toBe('release')
  },
)

test('inboxes and alerts', () => {
  const inboxes = kinds.flatMap(({ notifies }) => notifies?.as ?? [])
  expect(inboxes.toSorted()).toEqual([...INBOX_KINDS].toSorted())
  const alerts = Object.fromEntries(kinds.flatMap(({ name, alert }) => (alert === undefined ? [] : [[alert, name]])))
  expect(alerts).toEqual({
    new_issue: 'issue.created',
    issue_regression: 'issue.regressed',
    issue_spike: 'issue.escalated',
    security_event: 'issue.security_event',
  })
})
