import { describe, expect, test } from 'vitest'
import { contract } from '#server/service/api/contract.ts'
import type { RouteSpec } from '#server/platform/kernel/contract.ts'
import { CHAT_SECRET } from '#test/kit/chat-platform.ts'
import { aPerson } from '#test/kit/members.ts'
import { EXAMPLES, newAddressOf } from '#test/kit/route-examples.ts'
import { testServer } from '#test/kit/test-server.ts'

/** Every route that changes something writes an entry of the audit log, or stands in the list below with the reason. */

const t = await testServer({ env: { CHAT_SIGNING_SECRET: CHAT_SECRET } })

type Name = keyof typeof contract

const WITHOUT_ENTRY: Partial<Record<Name, string>> = {
  refresh: 'Every open dashboard refreshes its session all the time; a theft is an entry.',
  setUpTwoFactor: 'Changes nothing before the code is verified, which is an entry.',
  startPasskeyRegistration: 'Gives out a challenge.',
  startPasskeyLogIn: 'Gives out a challenge.',
  renamePasskey: "The name is for the passkey's own user.",
  forgotPassword: 'Does the same for every address, known or not; the job that sends the link writes the entry.',
  changeEmail: 'Changes nothing before the address is confirmed.',
  updateMe: 'Only how a user is shown; entries name users by their address.',
  forgetDevice: 'Concerns only the user; the next log-in from it is an entry.',
  markInboxRead: "Concerns only the member's own inbox.",
  subscribe: "Concerns only the member's own inbox.",
  unsubscribe: "Concerns only the member's own inbox.",
  registerPushDevice: "Concerns only the member's own notifications.",
  updateNotificationPreferences: "Concerns only the member's own notifications.",
  updateProjectNotifications: "Concerns only the member's own notifications.",
  testPushDevice: "Concerns only the member's own notifications.",
  deletePushDevice: "Concerns only the member's own notifications.",
  createView: 'A saved view shows what its reader may see anyway.',
  updateView: 'A saved view shows what its reader may see anyway.',
  deleteView: 'A saved view shows what its reader may see anyway.',
  unsubscribeMails: "Concerns only the receiver's own mails.",
  unsubscribeOneClick: "Concerns only the receiver's own mails.",
  deleteMutedRule: "Concerns only the member's own mails.",
  takeCodeHostDelivery: 'What it does to issues and releases writes the entries.',
  listTrackerChoices: 'Reads.',
  takeTrackerDelivery: 'The job that reads the ticket writes the entry about what changed.',
  takeChatPress: 'What its button does writes the entry.',
  readChatLinkOffer: 'Reads.',
  dryRunAlertRule: 'Reads.',
  saveQuery: 'A saved query shows what its reader may see anyway.',
  deleteSavedQuery: 'A saved query shows what its reader may see anyway.',
  analyseIssue: 'Reads, and stores what it found; a question to a model has an entry of its own.',
  rateAnalysis: 'An opinion about a text.',
  toolUploadChunks: 'Chunks name no file yet; the file that is put together of them is an entry.',
  toolAssociate: 'Does nothing.',
  toolMappingRelease: 'The upload of the mapping is the entry.',
  toolReprocess: 'Does nothing.',
  previewFilters: 'Reads.',
  readInvite: 'Reads.',
  previewScrubbing: 'Reads.',
  previewOwnership: 'Reads.',
  previewGrouping: 'Reads.',
  testAlertRule: 'Changes nothing; the log of deliveries has it.',
  testAlertAction: 'Changes nothing.',
}

/** Actions of each route's example, oldest first. */
const ENTRIES: Partial<Record<Name, readonly string[]>> = {
  signUp: ['signup.password.ok'],
  logIn: ['signin.password.ok', 'device.new'],
  endSession: ['session.revoked'],
  endOtherSessions: ['session.revoked'],
  resetPassword: ['password.reset.ok', 'session.revoked'],
  confirmEmail: ['email.changed'],
  deleteMe: ['session.revoked', 'user.deleted'],
  logOut: ['signout.ok'],
  changePassword: ['user.password_changed', 'session.revoked'],
  verifyTwoFactor: ['mfa.totp.enrolled', 'mfa.backup_codes.generated', 'session.revoked'],
  disableTwoFactor: ['mfa.totp.disabled', 'session.revoked'],
  replaceBackupCodes: ['mfa.backup_codes.generated'],
  continueSignIn: ['signin.oauth.ok', 'device.new'],
  registerPasskey: ['passkey.registered'],
  logInWithPasskey: ['signin.passkey.ok', 'device.new'],
  deletePasskey: ['passkey.removed'],
  linkSso: ['identity.linked', 'signin.oidc.ok', 'device.new'],
  updateSsoConfig: ['sso.config.updated'],
  removeSsoConfig: ['sso.config.updated'],
  verifySsoDomain: ['sso.domain.verified'],
  linkSocial: ['identity.linked'],
  unlinkSocial: ['identity.unlinked'],
  switchOrg: ['session.org_switched', 'session.org_switched'],
  updateOrganisation: ['org.updated'],
  updateMember: ['member.role_changed', 'session.revoked'],
  removeMember: ['member.removed', 'session.revoked'],
  inviteMember: ['invite.created'],
  inviteMembers: ['invite.created'],
  resendInvite: ['invite.resent'],
  revokeInvite: ['invite.revoked'],
  acceptInvite: ['invite.accepted'],
  createApiKey: ['api_key.created'],
  deleteApiKey: ['api_key.revoked'],
  createProject: ['project.created'],
  updateProjectSettings: ['project.settings_updated'],
  rotateDsn: ['project.dsn_rotated'],
  createProjectKey: ['project.key_created'],
  updateProjectKey: ['project.key_updated'],
  removeProjectKey: ['project.key_removed'],
  deleteProject: ['project.deleted'],
  createImport: ['import.created'],
  changeImport: ['import.changed'],
  eraseUserData: ['project.user_data_erased'],
  updateIssue: ['issue.status_changed'],
  deleteIssue: ['issue.deleted'],
  mergeIssues: ['issue.merged'],
  unmergeIssues: ['issue.unmerged'],
  discardIssue: ['issue.discarded', 'issue.deleted'],
  removeDiscard: ['project.discard_removed'],
  upgradeGrouping: ['project.grouping_upgraded'],
  addAttachment: ['issue.attachment_added'],
  uploadSourceMap: ['source_map.uploaded'],
  deleteSourceMap: ['source_map.deleted'],
  uploadDsym: ['dsym.uploaded'],
  deleteDsym: ['dsym.deleted'],
  toolCreateRelease: ['release.created'],
  toolCreateProjectRelease: ['release.created'],
  toolUpdateRelease: ['release.updated'],
  toolUpdateProjectRelease: ['release.updated'],
  toolCreateDeploy: ['release.updated'],
  toolAssembleBundle: ['source_map.uploaded'],
  toolAssembleDifs: ['dsym.uploaded'],
  toolUploadDsyms: ['source_map.uploaded'],
  createComment: ['comment.created'],
  updateComment: ['comment.updated'],
  deleteComment: ['comment.deleted'],
  updateIssues: ['issue.status_changed'],
  deleteIssues: ['issue.deleted'],
  undoOperation: ['issue.status_changed'],
  createRelease: ['release.created'],
  updateRelease: ['release.updated'],
  addReleaseCommits: ['release.updated'],
  createDeploy: ['release.updated'],
  ask: ['assistant.asked'],
  runQuery: ['nlq.executed'],
  updateQuota: ['org.quota_updated'],
  exportAuditLog: ['audit.exported'],
  createAlertRule: ['alert_rule.created'],
  updateAlertRule: ['alert_rule.updated'],
  deleteAlertRule: ['alert_rule.deleted'],
  acknowledgeAlert: ['alert.acknowledged'],
  resolveAlert: ['alert.resolved'],
  confirmChatLink: ['integration.chat.linked'],
  removeChatLink: ['integration.chat.unlinked'],
  connectCodeHost: ['integration.codehost.updated'],
  changeCodeHost: ['integration.codehost.updated'],
  disconnectCodeHost: ['integration.codehost.disconnected'],
  connectTracker: ['integration.tracker.connected'],
  disconnectTracker: ['integration.tracker.disconnected'],
  createTrackerTicket: ['ticket.created'],
  changeMonitor: ['monitor.changed'],
  deleteMonitor: ['monitor.deleted'],
  updateFeedback: ['feedback.changed'],
  addFeedbackNote: ['feedback.noted'],
  replyToFeedback: ['feedback.replied'],
  createWebhook: ['webhook.endpoint.created'],
  updateWebhook: ['webhook.endpoint.updated'],
  deleteWebhook: ['webhook.endpoint.deleted'],
  rotateWebhookSecret: ['webhook.secret.rotated'],
  testWebhook: ['webhook.test'],
  recoverWebhook: ['webhook.delivery.replayed'],
  replayWebhookDelivery: ['webhook.delivery.replayed'],
  replayWebhookDeliveries: ['webhook.delivery.replayed'],
}

/** Type of the target of each action. */
const TARGETS: Readonly<Record<string, string>> = {
  nlq: 'org',
  import: 'integration',
  signup: 'user',
  user: 'user',
  member: 'user',
  invite: 'invite',
  api_key: 'api_key',
  signin: 'session',
  signout: 'session',
  session: 'session',
  mfa: 'user',
  passkey: 'user',
  identity: 'user',
  'integration.tracker.connected': 'integration',
  'integration.tracker.disconnected': 'integration',
  ticket: 'issue',
  integration: 'user',
  'integration.codehost.updated': 'integration',
  'integration.codehost.disconnected': 'integration',
  sso: 'org',
  device: 'session',
  password: 'user',
  email: 'user',
  project: 'project',
  issue: 'issue',
  source_map: 'project',
  dsym: 'project',
  comment: 'comment',
  release: 'release',
  org: 'org',
  audit: 'org',
  webhook: 'endpoint',
  alert_rule: 'alert_rule',
  alert: 'alert',
  monitor: 'monitor',
  feedback: 'feedback',
  assistant: 'org',
}

const names = Object.keys(contract) as Name[]
const specOf = (name: Name): RouteSpec => contract[name]
const changing = names.filter((name) => specOf(name).method !== 'GET' || name === 'exportAuditLog')

/** Entries of an organisation, oldest first. */
const entriesOf = async (org: { readonly slug: string }) =>
  (
    await t.app.db.query<{
      action: string
      seq: number
      actor_email: string
      outcome: string
      target_type: string
      target_label: string | null
    }>(
      `select l.action, l.seq, l.actor_email, l.outcome, l.target_type, l.target_label
       from audit_log l join orgs o on o.id = l.org_id where o.slug = $1 order by l.seq`,
      [org.slug],
    )
  ).rows

describe('every changing route', () => {
  test.each(changing)('%s', async (name) => {
    const spec = specOf(name)
    const [owner, stranger] = [await aPerson(t.app), await aPerson(t.app)]
    const call = await EXAMPLES[name](t.app, owner, stranger)
    const org = { slug: owner.orgSlug }
    const before = (await entriesOf(org)).length
    const others = (await entriesOf({ slug: stranger.orgSlug })).length
    const path = spec.path.replaceAll(/:(\w+)/g, (_, param: string) => encodeURIComponent(call.params?.[param] ?? ''))
    const isPublic = spec.permission === 'public'
    const cookie = name === 'refresh' ? `svc_refresh=${owner.tokens.refreshToken}` : isPublic ? '' : owner.cookie
    const sent = [name === 'logOut' ? owner.cookie : cookie, call.cookie ?? ''].filter((one) => one !== '').join('; ')
    const response = await fetch(t.url + path + (call.query ?? ''), {
      method: spec.method,
      headers: {
        ...(sent === '' ? {} : { cookie: sent }),
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...call.headers,
      },
      body: call.raw ?? (call.body === undefined ? null : JSON.stringify(call.body)),
    })
    const text = await response.text()
    expect(response.status, text).toBe(spec.status ?? 200)
    const made =
      name === 'signUp'
        ? await entriesOf({ slug: (JSON.parse(text) as { org: string }).org })
        : (await entriesOf(org)).slice(before)
    if (name in WITHOUT_ENTRY) {
      expect(made).toEqual([])
      return
    }
    expect(
      made.map(({ action }) => action),
      'its entries, or a reason in WITHOUT_ENTRY',
    ).toEqual(ENTRIES[name] ?? ['?'])
    const emails: Partial<Record<Name, unknown>> = {
      signUp: call.body?.['email'],
      acceptInvite: stranger.email,
      confirmEmail: newAddressOf(owner),
    }
    const email = emails[name] ?? owner.email
    expect(made.every((entry) => entry.actor_email === email && entry.outcome === 'ok')).toBe(true)
    for (const { action, target_type, target_label } of made) {
      expect(target_type, action).toBe(TARGETS[action] ?? TARGETS[action.split('.')[0] ?? ''])
      expect(target_label, action).not.toBeNull()
      expect(target_label, action).not.toBe('')
    }
    expect((await entriesOf({ slug: stranger.orgSlug })).length).toBe(others)
  })
})

test('both lists name changing routes, and no route twice', () => {
  const listed = [...Object.keys(WITHOUT_ENTRY), ...Object.keys(ENTRIES)]
  expect(listed.toSorted()).toEqual([...changing].toSorted())
})
