import { createHash, createHmac } from 'node:crypto'
import { Readable } from 'node:stream'
import type { NewFeedback } from '#server/issues/feedback/feedback.ts'
import { insertFeedback } from '#server/issues/feedback/feedback.queries.ts'
import { insertMonitors } from '#server/telemetry/monitors/check-ins.queries.ts'
import { encodeSpans } from '#server/telemetry/traces/trace-part.ts'
import { ENDPOINT } from '#test/kit/endpoint-input.ts'
import { saveQuery } from '#server/assistant/query/save-query.ts'
import { analyseIssue } from '#server/assistant/analysis/analyse-issue.ts'
import { createKey } from '#server/identity/api-keys/create-key.ts'
import { putToken, type TokenPurpose } from '#server/identity/accounts/account-tokens.queries.ts'
import { receiveContent } from '#server/platform/blobs/receive-content.ts'
import { insertChunk } from '#server/symbols/upload-protocol/chunks.queries.ts'
import { insertFiles } from '#server/symbols/files/symbol-files.queries.ts'
import type { SymbolKind } from '#server/symbols/files/symbol-kinds.api.ts'
import { packContent } from '#server/platform/blobs/pack-content.ts'
import { insertAttachments } from '#server/events/attachments/attachments.queries.ts'
import { listAttachments } from '#server/events/attachments/list-attachments.ts'
import { lockUser } from '#server/identity/auth/auth.queries.ts'
import { recogniseDevice } from '#server/identity/auth/complete-sign-in.ts'
import { startSession } from '#server/identity/auth/start-session.ts'
import { makeUnsubscribeToken } from '#server/alerts/alert-mails/unsubscribe-token.ts'
import { selectMutedRules } from '#server/alerts/alert-mails/alert-mails.queries.ts'
import { unsubscribe } from '#server/alerts/alert-mails/unsubscribe.ts'
import { confirmLink } from '#server/alerts/chat/confirm-link.ts'
import { offerLink } from '#server/alerts/chat/press-button.ts'
import type { App } from '#server/platform/context/app.ts'
import { insertEvents } from '#server/events/store/store.queries.ts'
import type { Contract } from '#server/service/api/contract.ts'
import { utcDay } from '#server/platform/kernel/day.ts'
import { changeIssues } from '#server/issues/bulk/start-operation.ts'
import { hyphenate, newId, newPrefixedId, unhyphenate } from '#server/platform/kernel/ids.ts'
import { newOneTimeToken, oneTimeTokenHash } from '#server/platform/kernel/one-time-token.ts'
import { discardIssue } from '#server/issues/merging/discard-issue.ts'
import { mergeIssues } from '#server/issues/merging/merge-issues.ts'
import { newSpanId, record, transactionFact } from '#server/telemetry/performance/performance.fixture.ts'
import { insertProjectKey } from '#server/projects/registry/projects.queries.ts'
import { createRelease } from '#server/projects/releases/create-release.ts'
import { IMPORT_KINDS } from '#server/service/imports/imports.api.ts'
import { deleteProject } from '#server/service/project-deletion/delete-project.ts'
import { ensureDayPartitions } from '#server/platform/storage/day-partitions.ts'
import { startPasskeyLogIn } from '#server/identity/passkeys/log-in-with-passkey.ts'
import { startPasskeyRegistration } from '#server/identity/passkeys/register-passkey.ts'
import { startPendingSignIn } from '#server/identity/two-factor/pending-sign-in.ts'
import { setUpTwoFactor } from '#server/identity/two-factor/set-up-two-factor.ts'
import { aSocialIdentity, pendingSocialLink } from './social.ts'
import { anSsoDomain, pendingSsoLink, SSO_INPUT } from './sso.ts'
import { insertIdentity } from '#server/identity/external-identity/external-identities.queries.ts'
import { updateSsoConfig } from '#server/identity/external-identity/update-config.ts'
import { createRule } from '#server/alerts/rules/create-rule.ts'
import { fireAlerts } from '#server/alerts/rules/fire-alerts.ts'
import { type AlertRule, NewRule } from '#server/alerts/rules/rule.api.ts'
import { systemActor, factContext } from '#server/platform/context/actor.ts'
import { connectTracker } from '#server/integrations/trackers/connect-tracker.ts'
import { createEndpoint } from '#server/integrations/webhooks/create-endpoint.ts'
import { sendTest } from '#server/integrations/webhooks/send-test.ts'
import type { WebhookEndpoint } from '#server/integrations/webhooks/webhooks.api.ts'
import { aDevice, expoToken } from './push-devices.ts'
import { addGroupingVersion, TEST_GROUPING_VERSION } from './grouping-version.ts'
import { anInvite } from './invites.ts'
import { aPerson, GOOD_PASSWORD, type Person } from './members.ts'
import { addPasskey, passkeyOrigin } from './passkeys.ts'
import { authenticatorApp, insertVerifiedFactor } from './two-factor.ts'
import { softAuthenticator } from './authenticator.ts'
import { connectCodeHost } from '#server/integrations/code-host/connect-code-host.ts'
import { githubDelivery } from './code-host-github.ts'
import { CHAT_TEAM, formOf, payloadOf, signedRequest } from './chat-platform.ts'
import { LINEAR_KEY, startLinear } from './tracker-linear.ts'
import { sourceMapBundle, zipOf } from './zip.ts'
import { fakeSentry, type FakeSentry, SOURCE_ORG } from './fake-sentry.ts'
import { formOfFile } from './form-of-file.ts'
import { cookieJar } from './cookie-jar.ts'
import { newEventId } from './sdk.ts'
import { insertGroups } from './seed-issues.ts'

/** A call that succeeds for the user, on things of that user's organisation. */
export type ExampleCall = {
  readonly params?: Readonly<Record<string, string>>
  readonly body?: Readonly<Record<string, unknown>>
  /** The bytes of the body, for a route that reads them. */
  readonly raw?: string | Buffer<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
  /** Cookies that the call needs beside those of a session. */
  readonly cookie?: string
  /** Where the route asks for one. */
  readonly query?: string
  /** Query strings that name things of `stranger`: each must be 404 or an empty list. */
  readonly foreignQueries?: readonly string[]
  /** Bodies that name things of `stranger`: each must be refused. */
  readonly foreignBodies?: readonly Readonly<Record<string, unknown>>[]
}

/**
 * @param owner a user of the organisation that the call's things belong to
 * @param stranger a user of another organisation
 */
export type Example = (app: App, owner: Person, stranger: Person) => Promise<ExampleCall>

const nothing: Example = () => Promise.resolve({})

const onProject =
  (body?: Record<string, unknown>): Example =>
  async (app, owner) => ({ params: { projectId: await insertProject(app, owner) }, body })

/** A key beside the one that the project needs. */
const onSecondKey =
  (body?: Record<string, unknown>): Example =>
  async (app, owner) => {
    const projectId = await insertProject(app, owner)
    const id = newId()
    const key = { id, project_id: projectId, public_key: unhyphenate(id), created_at: app.clock.now() }
    await app.tx((tx) => insertProjectKey(tx, { ...key, name: 'Staging', place: 1 }))
    return { params: { projectId, keyId: id }, body }
  }

const onIssue =
  (body?: Record<string, unknown>): Example =>
  async (app, owner) => ({ params: { issueId: await insertIssue(app, owner) }, body })

const onMonitor =
  (body?: Record<string, unknown>): Example =>
  async (app, owner) => {
    const monitor = { id: newId(), projectId: await insertProject(app, owner), slug: 'nightly' }
    await app.tx((tx) => insertMonitors(tx, app.clock.now(), [monitor]))
    return { params: { monitorId: monitor.id }, body }
  }

const onMessage =
  (body?: Record<string, unknown>): Example =>
  async (app, owner) => {
    const projectId = await insertProject(app, owner)
    return { params: { feedbackId: await insertMessage(app, projectId, { email: 'mara@example.org' }) }, body }
  }

/** A message from a user of an app. @returns its id in the inbox */
export async function insertMessage(
  app: App,
  projectId: string,
  fields: Partial<NewFeedback> & { readonly issueId?: string; readonly receivedAt?: Date } = {},
): Promise<string> {
  const { issueId = null, receivedAt = app.clock.now(), ...own } = fields
  const feedbackId = unhyphenate(newId())
  const none = { eventId: null, name: null, email: null, url: null, source: 'widget', replayId: null, context: null }
  const feedback = {
    ...none,
    feedbackId,
    message: 'It froze.',
    release: null,
    environment: null,
    userHash: null,
    ...own,
  }
  await app.tx((tx) => insertFeedback(tx, [{ projectId, receivedAt, issueId, feedback }]))
  const { id } = await app.db
    .selectFrom('feedback')
    .select('id')
    .where('project_id', '=', projectId)
    .where('feedback_id', '=', hyphenate(feedback.feedbackId))
    .executeTakeFirstOrThrow()
  return id
}

const onRelease =
  (body?: Record<string, unknown>): Example =>
  async (app, owner) => ({ params: { releaseId: await insertRelease(app, owner) }, body })

const onDevice: Example = async (app, owner) => ({ params: { deviceId: (await aDevice(app, owner)).id } })

/** One for all examples: it holds no process open. */
let source: Promise<FakeSentry> | undefined

const onImport =
  (body?: Record<string, unknown>): Example =>
  async (app, owner) => {
    const id = newId()
    await app.db.query(
      `insert into imports (id, org_id, source_url, source_org, state, mapping, position, counts, created_at)
       values ($1, $2, 'https://sentry.example', $1::uuid::text, 'mapping', '[]', $3, $4, $5)`,
      [
        id,
        owner.actor.orgId,
        JSON.stringify({ phase: 'projects', project: 0, cursor: null }),
        JSON.stringify(NO_COUNTS),
        app.clock.now(),
      ],
    )
    return { params: { importId: id }, body }
  }
const NO_COUNTS = Object.fromEntries(IMPORT_KINDS.map((kind) => [kind, { done: 0, total: null }]))

const onTrace: Example = async (app, owner) => {
  const projectId = await insertProject(app, owner)
  const today = utcDay(app.clock.now())
  await ensureDayPartitions(app.db, [{ table: 'trace_parts' }], today)
  await app.db.query(
    `insert into trace_parts (received_day, project_id, trace_id, part, received_at, span_count, spans)
     values ($1::date, $2, $3, 1, $4, 0, $5)`,
    [today, projectId, EXAMPLE_TRACE, app.clock.now(), encodeSpans([])],
  )
  return { params: { projectId, traceId: EXAMPLE_TRACE } }
}
const EXAMPLE_TRACE = '0af7651916cd43dd8448eb211c80319c'

const SOURCE_MAP = JSON.stringify({ version: 3, sources: ['a.ts'], names: [], mappings: 'AAAA' })
const BREAKPAD_FILE = `MODULE Linux x86_64 ${'0123456789ABCDEF'.repeat(2)}0 shop\nPUBLIC 1000 0 main\n`

async function insertSymbolFile(app: App, owner: Person, kind: SymbolKind) {
  const [fileId, projectId] = [newId(), await insertProject(app, owner)]
  const content = await receiveContent(app, owner.actor.orgId, Readable.from([Buffer.from(fileId)]))
  await app.tx((tx) =>
    insertFiles(
      tx,
      [
        {
          id: fileId,
          org_id: owner.actor.orgId,
          project_id: projectId,
          kind,
          name: 'app.js.map',
          created_by: owner.actor.userId,
          created_at: app.clock.now(),
          state: 'ready',
        },
      ],
      content,
    ),
  )
  return { projectId, fileId }
}

const onTool = (): Example => (_app, owner) => Promise.resolve({ params: { org: owner.orgSlug } })

const onToolProject =
  (body?: Record<string, unknown>): Example =>
  async (app, owner) => ({ params: { org: owner.orgSlug, project: await insertProject(app, owner) }, body })

const onToolRelease =
  (body?: Record<string, unknown>, named: string | null = null): Example =>
  async (app, owner) => {
    const projectId = await insertProject(app, owner)
    const { version } = await createRelease(app, owner.actor, { projectId, version: named ?? `shop@${newId()}` })
    return { params: { org: owner.orgSlug, project: projectId, version }, body }
  }

/** @returns their digests */
async function insertChunks(app: App, owner: Person, ...chunks: readonly Buffer[]): Promise<string[]> {
  return Promise.all(
    chunks.map(async (bytes) => {
      const content = await receiveContent(app, owner.actor.orgId, Readable.from([bytes]))
      const digest = createHash('sha1').update(bytes).digest('hex')
      const chunk = { sha1: Buffer.from(digest, 'hex'), content }
      await app.tx((tx) => insertChunk(tx, owner.actor.orgId, chunk, app.clock.now()))
      return digest
    }),
  )
}

const onWebhook =
  (body?: Record<string, unknown>): Example =>
  async (app, owner) => ({ params: { endpointId: (await insertWebhook(app, owner)).id }, body })

const onDelivery =
  (body?: Record<string, unknown>): Example =>
  async (app, owner) => ({ params: { deliveryId: await insertDelivery(app, owner) }, body })

async function screenQuery(app: App, owner: Person): Promise<string> {
  const projectId = await insertProject(app, owner)
  const now = app.clock.now()
  const contexts = { trace: { trace_id: unhyphenate(newId()), span_id: newSpanId(), op: 'ui.load' } }
  await record(app.db, [transactionFact(projectId, { transaction: 'Cart', contexts }, now)], now)
  return `?projectId=${projectId}&name=Cart`
}

const onRule =
  (body?: Readonly<Record<string, unknown>>): Example =>
  async (app, owner) => ({
    params: { ruleId: (await insertRule(app, owner)).id },
    ...(body === undefined ? {} : { body }),
  })

const onAlert: Example = async (app, owner) => ({ params: { alertId: await insertAlert(app, owner) } })

/** For routes with a projectId. */
const ofProjectWith =
  (rest: string): Example =>
  async (app, owner, stranger) => ({
    query: `?projectId=${await insertProject(app, owner)}${rest}`,
    foreignQueries: [`?projectId=${await insertProject(app, stranger)}${rest}`],
  })
const ofProject = ofProjectWith('')

const ofProjects: Example = async (app, _owner, stranger) => ({
  foreignQueries: [`?projectId=${await insertProject(app, stranger)}`],
})

let tracker: ReturnType<typeof startLinear> | undefined

/** The credentials of a tracker that answers as long as the process runs: torture calls the examples too, outside of tests. */
async function trackerInput() {
  const linear = await (tracker ??= startLinear())
  linear.receiver.unref()
  return { provider: 'tracker_a' as const, base_url: linear.url, api_key: LINEAR_KEY }
}

async function aTracker(app: App, owner: Person) {
  const projectId = await insertProject(app, owner)
  const connected = await connectTracker(app, owner.actor, projectId, await trackerInput())
  if (connected.webhook === null) throw new Error('a tracker without a webhook')
  return { projectId, webhook: connected.webhook }
}

/** One entry per route of the contract; the types and test/refusals.test.ts fail without one. */
export const EXAMPLES: Readonly<Record<keyof Contract, Example>> = {
  signUp: () =>
    Promise.resolve({
      body: { email: `${newId()}@example.com`, password: GOOD_PASSWORD, name: 'Ada', org: 'Another' },
    }),
  logIn: (_app, owner) => Promise.resolve({ body: { email: owner.email, password: owner.password } }),
  logOut: nothing,
  refresh: nothing,
  changePassword: (_app, owner) =>
    Promise.resolve({ body: { currentPassword: owner.password, newPassword: 'a different good password' } }),
  switchOrg: (_app, owner, stranger) =>
    Promise.resolve({ body: { org: owner.orgSlug }, foreignBodies: [{ org: stranger.orgSlug }, { org: 'nowhere' }] }),
  readJwks: nothing,
  readMe: nothing,
  readTwoFactor: nothing,
  setUpTwoFactor: (_app, owner) => Promise.resolve({ body: { password: owner.password } }),
  verifyTwoFactor: async (app, owner) => {
    const { otpauthUrl } = await setUpTwoFactor(app, owner.actor, undefined)
    return { body: { token: authenticatorApp(app, otpauthUrl).code() } }
  },
  disableTwoFactor: async (app, owner) => {
    await insertVerifiedFactor(app, owner)
    return { body: { password: owner.password } }
  },
  replaceBackupCodes: async (app, owner) => {
    await insertVerifiedFactor(app, owner)
    return { body: { password: owner.password } }
  },
  continueSignIn: async (app, owner) => {
    const phone = await insertVerifiedFactor(app, owner)
    const jar = cookieJar()
    const fact = { kind: 'signin.oauth.ok', data: { provider: 'github', issuer: 'https://github.com' } } as const
    startPendingSignIn(app, jar, { userId: owner.actor.userId, orgId: owner.actor.orgId, fact })
    return { body: { token: phone.code() }, cookie: jar.header() }
  },
  startPasskeyRegistration: (_app, owner) => Promise.resolve({ body: { password: owner.password } }),
  registerPasskey: async (app, owner) => {
    const jar = cookieJar()
    const options = await startPasskeyRegistration(app, owner.actor, { password: undefined, cookies: jar })
    const { response } = softAuthenticator(passkeyOrigin(app)).create(options)
    return { body: { name: 'Phone', response }, cookie: jar.header() }
  },
  startPasskeyLogIn: nothing,
  logInWithPasskey: async (app, owner) => {
    const { passkey } = await addPasskey(app, owner)
    const jar = cookieJar()
    return { body: { response: passkey.answer(startPasskeyLogIn(app, jar)) }, cookie: jar.header() }
  },
  listPasskeys: nothing,
  renamePasskey: async (app, owner) => ({
    params: { passkeyId: (await addPasskey(app, owner)).row.id },
    body: { name: 'Key ring' },
  }),
  deletePasskey: async (app, owner) => ({
    params: { passkeyId: (await addPasskey(app, owner)).row.id },
    body: { password: owner.password },
  }),

  startSso: () => Promise.resolve({ query: '?org=nowhere' }),
  finishSso: () => Promise.resolve({ query: '?code=x&state=y' }),
  linkSso: async (app, owner) => ({ body: { password: owner.password }, cookie: await pendingSsoLink(app, owner) }),
  readSsoConfig: nothing,
  updateSsoConfig: () => Promise.resolve({ body: SSO_INPUT }),
  removeSsoConfig: async (app, owner) => {
    await updateSsoConfig(app, owner.actor, SSO_INPUT)
    return {}
  },
  verifySsoDomain: async (app, owner) => ({ params: { domain: await anSsoDomain(app, owner) } }),
  startSocial: () => Promise.resolve({ params: { provider: 'github' } }),
  finishSocial: () => Promise.resolve({ params: { provider: 'github' }, query: '?code=x&state=y' }),
  listSocial: nothing,
  linkSocial: async (app, owner) => ({
    body: { password: owner.password },
    cookie: `svc_oauth_link=${await pendingSocialLink(app)}`,
  }),
  unlinkSocial: async (app, owner) => {
    await app.tx((tx) => insertIdentity(tx, aSocialIdentity(), owner.actor.userId, app.clock.now()))
    return { params: { provider: 'github' }, body: { password: owner.password } }
  },

  listSessions: nothing,
  endSession: async (app, owner) => ({ params: { sessionId: await insertSession(app, owner) } }),
  endOtherSessions: async (app, owner) => {
    await insertSession(app, owner)
    return {}
  },
  listDevices: nothing,
  forgetDevice: async (app, owner) => ({ params: { deviceId: await insertDevice(app, owner) } }),
  readMethods: nothing,
  forgotPassword: (_app, owner) => Promise.resolve({ body: { email: owner.email } }),
  resetPassword: async (app, owner) => ({
    body: { token: await insertToken(app, owner, 'reset'), password: 'a different good password' },
  }),
  changeEmail: (_app, owner) =>
    Promise.resolve({ body: { email: `${newId()}@example.com`, password: owner.password } }),
  confirmEmail: async (app, owner) => ({ body: { token: await insertToken(app, owner, 'email') } }),
  updateMe: () => Promise.resolve({ body: { name: 'Ada' } }),
  deleteMe: async (app, owner) => {
    await aPerson(app, { role: 'owner', org: { id: owner.actor.orgId, slug: owner.orgSlug } })
    return { body: { password: owner.password } }
  },

  listProjects: nothing,
  createProject: () => Promise.resolve({ body: { name: `Shop ${newId()}`, platform: 'web', region: 'eu-central-1' } }),
  readProjectSettings: onProject(),
  updateProjectSettings: async (app, owner, stranger) => ({
    params: { projectId: await insertProject(app, owner) },
    body: { retention_days: 30 },
    foreignBodies: [{ ownership_rules: [{ match: 'path', glob: 'src/*', user_id: stranger.actor.userId }] }],
  }),
  updateProjectNotifications: onProject({ push: false }),
  rotateDsn: onProject({ grace_seconds: 60 }),
  createProjectKey: onProject({ name: 'Staging' }),
  updateProjectKey: onSecondKey({ rate_limit_per_minute: 100 }),
  removeProjectKey: onSecondKey(),
  deleteProject: async (app, owner) => {
    const projectId = await insertProject(app, owner)
    return { params: { projectId }, body: { confirm: await slugOf(app, projectId) } }
  },
  followOperation: async (app, owner) => {
    const projectId = await insertProject(app, owner)
    const { id } = await deleteProject(app, owner.actor, projectId, await slugOf(app, projectId))
    return { params: { operationId: id } }
  },
  listImports: nothing,
  createImport: async () => {
    source ??= fakeSentry(new Date(), [
      { id: '7', slug: 'shop', platform: 'javascript', publicKey: 'e'.repeat(32), issues: [] },
    ])
    const { url, token } = await source
    return { body: { url, organisation: SOURCE_ORG, token } }
  },
  readImport: onImport(),
  changeImport: onImport({ state: 'stopped' }),
  listImportDifferences: onImport(),
  previewFilters: onProject({ inbound_filters: { releases: ['1.*'] } }),
  previewScrubbing: onProject({ scrub_rules: [{ path: 'user.email', pattern: 'anything', action: 'remove' }] }),
  eraseUserData: async (app, owner) => ({
    params: { projectId: await insertProject(app, owner), userId: 'a/b c@example.com' },
  }),
  readOnboarding: nothing,

  listIssues: ofProjects,
  searchIssues: ofProjects,
  suggestTerms: nothing,
  readIssue: onIssue(),
  analyseIssue: onIssue(),
  rateAnalysis: async (app, owner) => {
    const issueId = await insertIssue(app, owner)
    const { id } = await analyseIssue(app, owner.actor, { askModel: null }, issueId)
    return { params: { issueId }, body: { analysis_id: id, feedback: 'helpful' } }
  },
  updateIssue: async (app, owner, stranger) => ({
    params: { issueId: await insertIssue(app, owner) },
    body: { status: 'ignored' },
    foreignBodies: [{ assignee_id: stranger.actor.userId }, { assignee_id: newId() }],
  }),
  deleteIssue: onIssue(),
  mergeIssues: async (app, owner, stranger) => {
    const projectId = await insertProject(app, owner)
    const [issueId, other] = [await insertIssue(app, owner, projectId), await insertIssue(app, owner, projectId)]
    return {
      params: { issueId },
      body: { issue_ids: [other] },
      foreignBodies: [
        { issue_ids: [await insertIssue(app, stranger)] },
        { issue_ids: [newId()] },
        { issue_ids: [issueId] },
      ],
    }
  },
  unmergeIssues: async (app, owner, stranger) => {
    const projectId = await insertProject(app, owner)
    const [issueId, other] = [await insertIssue(app, owner, projectId), await insertIssue(app, owner, projectId)]
    await mergeIssues(app, owner.actor, { issueId, issue_ids: [other] })
    return {
      params: { issueId },
      body: { issue_ids: [other] },
      foreignBodies: [
        { issue_ids: [await insertIssue(app, stranger)] },
        { issue_ids: [newId()] },
        { issue_ids: [issueId] },
      ],
    }
  },
  discardIssue: onIssue(),
  listDiscards: onProject(),
  removeDiscard: async (app, owner) => {
    const projectId = await insertProject(app, owner)
    const { id } = await discardIssue(app, owner.actor, await insertIssue(app, owner, projectId))
    return { params: { projectId, discardId: id } }
  },
  readGrouping: onProject(),
  previewGrouping: onProject({
    grouping_rules: { fingerprint: [], stack: [{ match: [{ key: 'module', glob: 'a.*' }], action: 'ignore' }] },
  }),
  upgradeGrouping: async (app, owner) => {
    addGroupingVersion()
    return { params: { projectId: await insertProject(app, owner) }, body: { version: TEST_GROUPING_VERSION } }
  },
  listComments: onIssue(),
  createComment: onIssue({ body: 'Seen on my phone, too.' }),
  deleteComment: async (app, owner) => {
    const issueId = await insertIssue(app, owner)
    return { params: { issueId, commentId: await insertComment(app, owner, issueId) } }
  },
  updateComment: async (app, owner) => {
    const issueId = await insertIssue(app, owner)
    return { params: { issueId, commentId: await insertComment(app, owner, issueId) }, body: { body: 'Mine, edited.' } }
  },
  readSubscription: onIssue(),
  subscribe: onIssue(),
  unsubscribe: onIssue(),
  listInbox: nothing,
  markInboxRead: () => Promise.resolve({ body: { ids: [newId()] } }),
  listMembers: nothing,
  updateOrganisation: () => Promise.resolve({ body: { name: 'Ada’s apps' } }),
  updateMember: async (app, owner) => ({
    params: { memberId: await insertMember(app, owner) },
    body: { role: 'viewer' },
  }),
  removeMember: async (app, owner) => ({ params: { memberId: await insertMember(app, owner) } }),
  inviteMember: () => Promise.resolve({ body: { email: `${newId()}@example.com`, role: 'member' } }),
  listInvites: nothing,
  inviteMembers: () => Promise.resolve({ body: { emails: [`${newId()}@example.com`], role: 'viewer' } }),
  resendInvite: async (app, owner) => ({ params: { inviteId: (await anInvite(app, owner)).id } }),
  revokeInvite: async (app, owner) => ({ params: { inviteId: (await anInvite(app, owner)).id } }),
  readInvite: async (app, owner) => ({ body: { token: (await anInvite(app, owner)).token } }),
  acceptInvite: async (app, owner, stranger) => ({
    body: {
      token: (await anInvite(app, owner, { email: stranger.email })).token,
      password: stranger.password,
    },
  }),

  listApiKeys: nothing,
  createApiKey: () => Promise.resolve({ body: { name: 'CI', scopes: ['read'] } }),
  deleteApiKey: async (app, owner) => ({
    params: { keyId: (await createKey(app, owner.actor, { name: 'CI', scopes: ['read'] })).id },
  }),
  previewOwnership: async (app, owner, stranger) => ({
    params: { projectId: await insertProject(app, owner) },
    body: { ownership_rules: [{ match: 'path', glob: 'src/*', team: 'web' }] },
    foreignBodies: [{ ownership_rules: [{ match: 'path', glob: 'src/*', user_id: stranger.actor.userId }] }],
  }),
  listSimilar: onIssue(),
  listProjectIssues: onProject(),
  readVolume: ofProjects,
  readSessionSummary: ofProjects,
  updateIssues: async (app, owner, stranger) => ({
    body: { ids: [await insertIssue(app, owner)], status: 'ignored' },
    foreignBodies: [{ assignee_id: stranger.actor.userId }],
  }),
  deleteIssues: async (app, owner) => ({ body: { ids: [await insertIssue(app, owner)] } }),
  readOperation: async (app, owner) => ({ params: { operationId: await insertOperation(app, owner) } }),
  listIssueEvents: onIssue(),
  readIssueEvent: async (app, owner) => {
    const issueId = await insertIssue(app, owner)
    return { params: { issueId, eventId: await insertEvent(app, issueId) } }
  },
  addAttachment: async (app, owner) => {
    const issueId = await insertIssue(app, owner)
    return { params: { issueId, eventId: await insertEvent(app, issueId) }, query: '?filename=a.log', raw: 'a line\n' }
  },
  uploadSourceMap: async (app, owner) => ({
    params: { projectId: await insertProject(app, owner) },
    ...formOfFile('app.js.map', SOURCE_MAP, { symbolication_type: 'js_source_map', release: 'shop@1.0.0' }),
  }),
  listSourceMaps: onProject(),
  deleteSourceMap: async (app, owner) => {
    const { projectId, fileId } = await insertSymbolFile(app, owner, 'js_source_map')
    return { params: { projectId, mapId: fileId } }
  },
  uploadDsym: async (app, owner) => ({
    params: { projectId: await insertProject(app, owner) },
    ...formOfFile('shop.sym', BREAKPAD_FILE),
  }),
  listDsyms: onProject(),
  readMissingSymbols: onProject(),
  deleteDsym: async (app, owner) => ({ params: await insertSymbolFile(app, owner, 'breakpad') }),
  toolReadRoot: nothing,
  toolReadUser: nothing,
  toolListOrgs: nothing,
  toolReadOrg: onTool(),
  toolListProjects: onTool(),
  toolReadProject: onToolProject(),
  toolListRepos: onTool(),
  toolCreateRelease: async (app, owner) => ({
    params: { org: owner.orgSlug },
    body: { version: 'shop@3.0.0', projects: [await insertProject(app, owner)] },
  }),
  toolCreateProjectRelease: onToolProject({ version: 'shop@3.0.0' }),
  toolReadRelease: onToolRelease(),
  toolUpdateRelease: onToolRelease({ dateReleased: '2026-11-20T12:00:00.123456789Z' }),
  toolReadProjectRelease: onToolRelease(),
  // It creates a release of any name.
  toolUpdateProjectRelease: onToolRelease({ dateReleased: '2026-11-20T12:00:00.123456789Z' }, 'shop@3.0.0'),
  toolPreviousRelease: onToolRelease(),
  toolListDeploys: onToolRelease(),
  toolCreateDeploy: onToolRelease({ environment: 'production' }),
  toolReadChunkUpload: onTool(),
  toolUploadChunks: async (_app, owner) => ({
    params: { org: owner.orgSlug },
    ...formOfFile(createHash('sha1').update('a chunk').digest('hex'), 'a chunk'),
  }),
  toolAssembleBundle: async (app, owner) => {
    const projectId = await insertProject(app, owner)
    const [checksum] = await insertChunks(app, owner, sourceMapBundle())
    return { params: { org: owner.orgSlug }, body: { checksum, chunks: [checksum], projects: [projectId] } }
  },
  toolAssembleDifs: async (app, owner) => {
    const project = await insertProject(app, owner)
    const [checksum = ''] = await insertChunks(app, owner, Buffer.from(BREAKPAD_FILE))
    return {
      params: { org: owner.orgSlug, project },
      body: { [checksum]: { name: 'shop.sym', chunks: [checksum] } },
    }
  },
  toolUploadDsyms: async (app, owner) => {
    const project = await insertProject(app, owner)
    const content = zipOf({ [`proguard/${newId()}.txt`]: 'com.acme.Cart -> a.b:\n' }).toString('latin1')
    const { raw, headers } = formOfFile('mapping.zip', content)
    return { params: { org: owner.orgSlug, project }, raw: Buffer.from(raw, 'latin1'), headers }
  },
  toolFindUnknown: onToolProject(),
  toolAssociate: onToolProject({}),
  toolMappingRelease: onToolProject({
    release_name: 'shop@3.0.0',
    proguard_uuid: '0198f000-0000-7000-8000-000000000000',
  }),
  toolReprocess: onToolProject({}),
  readSharedValues: onIssue(),
  readIssueTrend: onIssue(),
  listIssueUsers: onIssue(),
  listIssueReleases: onIssue(),
  undoOperation: async (app, owner) => ({ params: { operationId: await insertOperation(app, owner) } }),

  listViews: nothing,
  createView: async (app, _owner, stranger) => ({
    body: { name: 'Fatal', query: 'level:fatal' },
    foreignBodies: [
      { name: 'a', filters: { projectId: [await insertProject(app, stranger)] } },
      { name: 'a', filters: { assignee_id: [stranger.actor.userId] } },
      { name: 'a', query: `project:${await insertProject(app, stranger)}` },
      { name: 'a', query: `assigned:${stranger.actor.userId}` },
    ],
  }),
  updateView: async (app, owner, stranger) => ({
    params: { viewId: await insertView(app, owner) },
    body: { name: 'Fatal' },
    foreignBodies: [
      { filters: { projectId: [await insertProject(app, stranger)] } },
      { query: `assigned:${stranger.email}` },
    ],
  }),
  deleteView: async (app, owner) => ({ params: { viewId: await insertView(app, owner) } }),

  readNotificationPreferences: nothing,
  updateNotificationPreferences: () => Promise.resolve({ body: { channels: { push: false } } }),
  registerPushDevice: () => Promise.resolve({ body: { token: expoToken(), platform: 'ios' } }),
  listPushDevices: nothing,
  readPushDevice: onDevice,
  deletePushDevice: onDevice,
  testPushDevice: onDevice,

  listFeedback: onProject(),
  listInboxMessages: async (app, _owner, stranger) => ({
    foreignQueries: [
      `?projectId=${await insertProject(app, stranger)}`,
      `?issueId=${await insertIssue(app, stranger)}`,
    ],
  }),
  readFeedback: onMessage(),
  updateFeedback: async (app, owner, stranger) => ({
    ...(await onMessage({ status: 'resolved' })(app, owner, stranger)),
    foreignBodies: [{ assignee_id: stranger.actor.userId }],
  }),
  addFeedbackNote: onMessage({ body: 'Seen on the phone, too.' }),
  replyToFeedback: onMessage({ body: 'Please try again.', to: 'mara@example.org', last_reply_id: null }),
  listAuditLog: nothing,
  exportAuditLog: nothing,
  verifyAuditLog: nothing,
  downloadAttachment: async (app, owner) => {
    const projectId = await insertProject(app, owner)
    return { params: { projectId, attachmentId: await insertAttachment(app, owner.actor.orgId, projectId) } }
  },

  createRelease: async (app, owner, stranger) => ({
    body: { projectId: await insertProject(app, owner), version: `1.0.0+${newId()}`, commits: [{ id: '4f2c9e1' }] },
    foreignBodies: [{ projectId: await insertProject(app, stranger), version: '1.0.0' }],
  }),
  updateRelease: onRelease({ released_at: '2026-11-19T10:00:00Z' }),
  listReleaseCommits: onRelease(),
  addReleaseCommits: onRelease({ commits: [{ id: '4f2c9e1', message: 'Pay once' }] }),
  listDeploys: onRelease(),
  createDeploy: onRelease({ environment: 'production' }),
  listReleaseMarkers: () => Promise.resolve({ query: '?from=2026-11-01T00:00:00Z&to=2026-12-01T00:00:00Z' }),
  readBreakdown: ofProjectWith('&dimension=device'),
  readOverview: ofProject,
  readStoreGuard: ofProject,
  readMetrics: ofProjectWith('&metric=crash_rate'),
  listReleases: ofProject,
  readReleasesHealth: ofProject,
  readPerformance: ofProject,
  listScreens: ofProject,
  listTransactions: ofProject,
  readScreen: async (app, owner, stranger) => ({
    query: await screenQuery(app, owner),
    foreignQueries: [await screenQuery(app, stranger)],
  }),
  readRelease: onRelease(),
  listLogs: onProject(),
  readLogVolume: onProject(),
  listLogAttributes: onProject(),
  listLogsAround: async (app, owner) => ({
    params: { projectId: await insertProject(app, owner) },
    query: '?at=2026-11-20T12:00:00Z',
  }),
  listTraceMetrics: onProject(),
  listTraceMetricNames: onProject(),
  readTraceMetric: async (app, owner) => ({
    params: { projectId: await insertProject(app, owner) },
    query: '?name=queue.depth',
  }),
  listCheckIns: onProject(),
  listMonitors: nothing,
  readMonitor: onMonitor(),
  changeMonitor: onMonitor({ state: 'muted' }),
  deleteMonitor: onMonitor(),
  listTraces: nothing,
  readTraceOverview: nothing,
  readTrace: onTrace,
  readProjectTrace: onTrace,
  readTransaction: async (app, owner, stranger) => ({
    query: await screenQuery(app, owner),
    foreignQueries: [await screenQuery(app, stranger)],
  }),
  listSpanOperations: ofProject,

  readIntake: onProject(),
  readQuota: nothing,
  updateQuota: () => Promise.resolve({ body: { events_per_day: 1_000_000 } }),

  listAlertRules: ofProjects,
  dryRunAlertRule: async (app, owner, stranger) => ({
    body: { projectId: await insertProject(app, owner), trigger_type: 'new_issue' },
    foreignBodies: [{ projectId: await insertProject(app, stranger), trigger_type: 'new_issue' }],
  }),
  createAlertRule: async (app, owner, stranger) => ({
    body: aRule(await insertProject(app, owner)),
    foreignBodies: [aRule(await insertProject(app, stranger))],
  }),
  readAlertRule: onRule(),
  updateAlertRule: onRule({ name: 'Another name' }),
  deleteAlertRule: onRule(),
  listRecentAlerts: nothing,
  readCanary: nothing,
  readOperatorStatus: nothing,
  listFiredAlerts: ofProjects,
  readFiredAlert: onAlert,
  testAlertRule: onRule({}),
  testAlertAction: async (app, owner, stranger) => {
    // Nothing listens there.
    const action = { type: 'chat', webhook_url: 'http://127.0.0.1:1/' }
    const projectId = await insertProject(app, owner)
    const foreign = await insertRule(app, stranger)
    return {
      body: { projectId, action },
      foreignBodies: [
        { projectId: foreign.projectId, action },
        { projectId, rule_id: foreign.id, action },
      ],
    }
  },
  acknowledgeAlert: onAlert,
  resolveAlert: onAlert,

  unsubscribeMails: async (app, owner) => ({
    body: { token: await anUnsubscribeToken(app, owner), scope: 'rule' },
  }),
  unsubscribeOneClick: async (app, owner) => ({
    query: `?token=${await anUnsubscribeToken(app, owner)}`,
    raw: 'List-Unsubscribe=One-Click',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }),
  openUnsubscribe: () => Promise.resolve({ query: '?token=x' }),
  listMutedRules: nothing,
  deleteMutedRule: async (app, owner) => {
    const token = await anUnsubscribeToken(app, owner)
    await unsubscribe(app, { token, scope: 'rule' })
    const [muted] = await selectMutedRules(app.db, owner.actor)
    return { params: { muteId: muted?.id ?? '' } }
  },

  takeChatPress: async (app, owner) => {
    const { body: raw, headers } = signedRequest(
      formOf(payloadOf('acknowledge', await insertAlert(app, owner), 'U0001')),
      app.clock.now(),
    )
    return { raw, headers }
  },
  readChatLinkOffer: async (app) => ({ body: { token: await aChatOffer(app) } }),
  confirmChatLink: async (app) => ({ body: { token: await aChatOffer(app) } }),
  listChatLinks: nothing,
  removeChatLink: async (app, owner) => {
    const { id } = await confirmLink(app, owner.actor, await aChatOffer(app))
    return { params: { linkId: id } }
  },

  readCodeHost: onProject(),
  connectCodeHost: onProject({ repository_url: 'https://github.com/acme/shop' }),
  changeCodeHost: async (app, owner) => ({
    params: { projectId: (await insertCodeHost(app, owner)).projectId },
    body: { reads_owners: false },
  }),
  disconnectCodeHost: async (app, owner) => ({ params: { projectId: (await insertCodeHost(app, owner)).projectId } }),
  takeCodeHostDelivery: async (app, owner) => {
    const { projectId, secret } = await insertCodeHost(app, owner)
    const { body: raw, headers } = githubDelivery(secret, 'ping', { zen: 'Keep it logically awesome.' })
    return { query: `?project=${projectId}`, raw, headers }
  },
  readTracker: onProject(),
  listTrackerChoices: async (app, owner) => ({
    params: { projectId: await insertProject(app, owner) },
    body: await trackerInput(),
  }),
  connectTracker: async (app, owner) => ({
    params: { projectId: await insertProject(app, owner) },
    body: await trackerInput(),
  }),
  disconnectTracker: async (app, owner) => ({ params: { projectId: (await aTracker(app, owner)).projectId } }),
  createTrackerTicket: async (app, owner) => ({
    params: { issueId: await insertIssue(app, owner, (await aTracker(app, owner)).projectId) },
  }),
  takeTrackerDelivery: async (app, owner) => {
    const { webhook } = await aTracker(app, owner)
    const raw = JSON.stringify({ type: 'Issue', data: { id: newId() } })
    return {
      query: new URL(webhook.url).search,
      raw,
      headers: {
        'content-type': 'application/json',
        'linear-signature': createHmac('sha256', webhook.secret).update(raw).digest('hex'),
      },
    }
  },

  listWebhooks: nothing,
  createWebhook: async (app, _owner, stranger) => ({
    body: { url: 'https://hooks.example.com/a', events: ['device.new'] },
    foreignBodies: [
      { url: 'https://hooks.example.com/a', app_id: (await insertWebhook(app, stranger)).app_id },
      { url: 'https://hooks.example.com/a', app_id: newPrefixedId('app') },
    ],
  }),
  readWebhook: onWebhook(),
  updateWebhook: onWebhook({ description: 'The pager' }),
  deleteWebhook: onWebhook(),
  rotateWebhookSecret: onWebhook({ overlap_seconds: 60 }),
  testWebhook: onWebhook(),
  recoverWebhook: async (app, owner) => {
    const { id } = await insertWebhook(app, owner)
    const delivery = await sendTest(app, owner.actor, id)
    await app.db
      .updateTable('outbox_deliveries')
      .set({ state: 'failed', next_attempt_at: null, due_at: null })
      .where('id', '=', delivery.id)
      .execute()
    return { params: { endpointId: id }, body: { since: '2020-01-01T00:00:00Z' } }
  },
  listWebhookDeliveries: onWebhook(),
  readWebhookDelivery: onDelivery(),
  replayWebhookDelivery: onDelivery({ retries: true }),
  replayWebhookDeliveries: async (app, owner) => ({ body: { ids: [await insertDelivery(app, owner)], retries: true } }),

  readAssistant: nothing,
  runQuery: async (app, owner, stranger) => ({
    body: { project_id: await insertProject(app, owner), sql: 'select count(*) from events' },
    foreignBodies: [{ project_id: await insertProject(app, stranger), sql: 'select count(*) from events' }],
  }),
  listSavedQueries: async (app, owner) => ({ params: { projectId: await insertProject(app, owner) } }),
  saveQuery: async (app, owner) => ({
    params: { projectId: await insertProject(app, owner) },
    body: { name: 'Fatal', sql: "select count(*) from events where level = 'fatal'" },
  }),
  deleteSavedQuery: async (app, owner) => {
    const projectId = await insertProject(app, owner)
    const { id } = await saveQuery(app, owner.actor, projectId, { name: 'Fatal', query: 'How many fatal events?' })
    return { params: { projectId, queryId: id } }
  },
  ask: async (app, owner, stranger) => ({
    body: { messages: [{ role: 'user', content: 'What is new?' }], project_id: await insertProject(app, owner) },
    foreignBodies: [
      { messages: [{ role: 'user', content: 'What is new?' }], project_id: await insertProject(app, stranger) },
    ],
  }),

  streamLive: nothing,
}

const insertMember = async (app: App, owner: Person): Promise<string> =>
  (await aPerson(app, { role: 'member', org: { id: owner.actor.orgId, slug: owner.orgSlug } })).actor.userId
/** Another session of the user. */
async function insertSession(app: App, { actor }: Person): Promise<string> {
  const { userId: user_id, orgId: org_id, role, origin } = actor
  const { session } = await app.tx(async (tx) => {
    await lockUser(tx, user_id)
    return startSession(tx, app, { user_id, org_id, role }, { method: 'password', origin })
  })
  return session.sessionId
}

async function insertDevice(app: App, { actor: { userId, origin } }: Person): Promise<string> {
  const { id } = await app.tx((tx) => recogniseDevice(tx, app, userId, { origin, token: null }))
  return id
}

/** The address that {@link insertToken} confirms. */
export const newAddressOf = ({ email }: Person): string => `new-${email}`

async function insertToken(app: App, owner: Person, purpose: TokenPurpose): Promise<string> {
  const token = newOneTimeToken()
  const now = app.clock.now()
  await app.tx((tx) =>
    putToken(tx, {
      user_id: owner.actor.userId,
      purpose,
      token_hash: oneTimeTokenHash(token),
      email: purpose === 'email' ? newAddressOf(owner) : null,
      created_at: now,
      expires_at: new Date(now.getTime() + 60_000),
    }),
  )
  return token
}

const insertDelivery = async (app: App, owner: Person): Promise<string> =>
  (await sendTest(app, owner.actor, (await insertWebhook(app, owner)).id)).id

const aRule = (projectId: string): NewRule =>
  NewRule.parse({
    projectId,
    name: 'New issues',
    trigger_type: 'new_issue',
    actions: [{ type: 'chat', webhook_url: 'https://hooks.example.com/services/1' }],
  })

const insertRule = async (app: App, owner: Person): Promise<AlertRule> =>
  createRule(app, owner.actor, aRule(await insertProject(app, owner)))

async function insertAlert(app: App, owner: Person): Promise<string> {
  const { id } = await insertRule(app, owner)
  const [alertId = ''] = await app.tx((tx) =>
    fireAlerts(tx, app, factContext(app, systemActor('alerts')), [
      {
        ruleId: id,
        subject: '',
        issueId: null,
        cause: 'test',
        title: 'Cold start P95 over 5 s',
        severity: 'high',
        value: 5_310,
        unit: 'ms',
        threshold: 5_000,
        windowMinutes: 60,
        explanation: 'P95 of cold starts is 5.31 s.',
      },
    ]),
  )
  return alertId
}

async function insertCodeHost(app: App, owner: Person): Promise<{ projectId: string; secret: string }> {
  const projectId = await insertProject(app, owner)
  const input = { projectId, repository_url: 'https://github.com/acme/shop' }
  return { projectId, secret: (await connectCodeHost(app, owner.actor, input)).webhook_secret }
}

const insertWebhook = (app: App, owner: Person): Promise<WebhookEndpoint> =>
  createEndpoint(app, owner.actor, {
    url: 'https://hooks.example.com/a',
    ...ENDPOINT,
  })

async function slugOf(app: App, projectId: string): Promise<string> {
  const row = await app.db.selectFrom('projects').select('slug').where('id', '=', projectId).executeTakeFirstOrThrow()
  return row.slug
}

/** A token for a rule and its owner. */
async function anUnsubscribeToken(app: App, owner: Person): Promise<string> {
  const { id: ruleId } = await insertRule(app, owner)
  const { orgId, userId } = owner.actor
  return makeUnsubscribeToken(app, { orgId, ruleId, receiver: { userId } })
}

/** The token of a link that the chat shows to a user of it. */
async function aChatOffer(app: App): Promise<string> {
  const user = { teamId: CHAT_TEAM.id, teamName: CHAT_TEAM.domain, userId: newId(), userName: 'ada' }
  return new URL(await offerLink(app, user)).hash.replace('#token=', '')
}

export async function insertProject(app: App, owner: Person): Promise<string> {
  const id = newId()
  await app.db
    .insertInto('projects')
    .values({
      id,
      org_id: owner.actor.orgId,
      name: 'Shop',
      slug: `shop-${id.slice(-12)}`,
      platform: 'web',
      region: 'eu-central-1',
      created_at: app.clock.now(),
    })
    .execute()
  await app.db
    .insertInto('project_keys')
    .values({ id: newId(), project_id: id, public_key: id.replaceAll('-', ''), created_at: app.clock.now() })
    .execute()
  return id
}

export async function insertIssue(app: App, owner: Person, projectId?: string): Promise<string> {
  const id = newId()
  const now = app.clock.now()
  const inProject = projectId ?? (await insertProject(app, owner))
  const { issue_number: number } = await app.db
    .updateTable('projects')
    .set((row) => ({ issue_number: row('issue_number', '+', 1) }))
    .where('id', '=', inProject)
    .returning('issue_number')
    .executeTakeFirstOrThrow()
  await app.db
    .insertInto('issues')
    .values({
      id,
      org_id: owner.actor.orgId,
      project_id: inProject,
      number,
      title: 'TypeError: x is undefined',
      culprit: 'pay',
      level: 'error',
      platform: 'javascript',
      status: 'unresolved',
      status_changed_at: now,
      severity: 1,
      first_seen: now,
      last_seen: now,
      is_unhandled: false,
      created_at: now,
    })
    .execute()
  await insertGroups(app, [id])
  return id
}

async function insertEvent(app: App, issueId: string): Promise<string> {
  const eventId = newEventId()
  const at = app.clock.now()
  const body = Buffer.from(JSON.stringify({ event_id: eventId, message: 'seeded' }))
  const issue = await app.db
    .selectFrom('issues')
    .select('project_id')
    .where('id', '=', issueId)
    .executeTakeFirstOrThrow()
  await ensureDayPartitions(app.db, [{ table: 'events' }], utcDay(at))
  await app.tx((tx) =>
    insertEvents(tx, [
      {
        projectId: issue.project_id,
        eventId,
        issueId,
        receivedAt: at,
        occurredAt: at,
        sentAt: null,
        level: 'error',
        release: null,
        environment: 'production',
        clientIp: null,
        userAgent: null,
        userHash: null,
        encoding: 'none',
        bodyStart: 0,
        bodyEnd: body.length,
        body,
      },
    ]),
  )
  return eventId
}

/** An operation that changed one issue. */
async function insertOperation(app: App, owner: Person): Promise<string> {
  const { id } = await changeIssues(app, owner.actor, { ids: [await insertIssue(app, owner)], status: 'resolved' })
  return id
}

async function insertRelease(app: App, owner: Person): Promise<string> {
  const projectId = await insertProject(app, owner)
  return (await createRelease(app, owner.actor, { projectId, version: '1.0.0' })).id
}

async function insertView(app: App, owner: Person): Promise<string> {
  const id = newId()
  const now = app.clock.now()
  const { orgId: org_id, userId: created_by } = owner.actor
  await app.db
    .insertInto('issue_views')
    .values({
      id,
      org_id,
      created_by,
      name: 'Mine',
      is_shared: false,
      query: '',
      sort: '-last_seen',
      created_at: now,
      updated_at: now,
    })
    .execute()
  return id
}

async function insertComment(app: App, author: Person, issueId: string): Promise<string> {
  const id = newId()
  await app.db
    .insertInto('comments')
    .values({ id, issue_id: issueId, author_id: author.actor.userId, body: 'Mine.', created_at: app.clock.now() })
    .execute()
  return id
}

async function insertAttachment(app: App, orgId: string, projectId: string): Promise<string> {
  const receivedAt = app.clock.now()
  const eventId = newEventId()
  await ensureDayPartitions(app.db, [{ table: 'attachments' }], utcDay(receivedAt))
  const attachment = {
    eventId,
    filename: 'app.log',
    contentType: 'text/plain',
    attachmentType: 'event.attachment',
    content: await packContent(Buffer.from('a line\n')),
  }
  await app.tx((tx) => insertAttachments(tx, [{ orgId, projectId, receivedAt, attachment }]))
  const [file] = await listAttachments(app.db, projectId, [eventId])
  return file?.id ?? ''
}
