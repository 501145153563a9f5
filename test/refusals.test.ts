import { describe, expect, test } from 'vitest'
import { createKey } from '#server/identity/api-keys/create-key.ts'
import { contract } from '#server/service/api/contract.ts'
import type { RouteSpec } from '#server/platform/kernel/contract.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import { PERMISSIONS, roleAtLeast, ROLES, SCOPES, type Permission, type Role, type Scope } from '#shared/permissions.ts'
import { CHAT_SECRET } from '#test/kit/chat-platform.ts'
import { UPLOAD_TOOLS } from '#server/symbols/upload-protocol/upload-protocol.api.ts'
import { aPerson, type Person } from '#test/kit/members.ts'
import { EXAMPLES, type ExampleCall } from '#test/kit/route-examples.ts'
import { testServer } from '#test/kit/test-server.ts'

/**
 * The access matrix in full: every route of the contract × no session, four roles, the scopes of API keys, another
 * organisation, malformed input, requests from other sites. A refusal has the documented status and changes nothing.
 */

const t = await testServer({ env: { CHAT_SIGNING_SECRET: CHAT_SECRET } })

type Name = keyof typeof contract
type Case = readonly [Name, RouteSpec]

const all: Case[] = (Object.keys(contract) as Name[]).map((name) => [name, contract[name]])

/** Who may call what, written down a second time on purpose (security 4.8): the least role, null for everybody. */
const MIN_ROLE: Readonly<Record<Name, Role | null>> = {
  signUp: null,
  logIn: null,
  logOut: null,
  refresh: null,
  readJwks: null,
  startSso: null,
  finishSso: null,
  linkSso: null,
  readSsoConfig: 'owner',
  updateSsoConfig: 'owner',
  removeSsoConfig: 'owner',
  verifySsoDomain: 'owner',
  startSocial: null,
  finishSocial: null,
  listSocial: 'viewer',
  linkSocial: 'viewer',
  unlinkSocial: 'viewer',
  listSessions: 'viewer',
  endSession: 'viewer',
  endOtherSessions: 'viewer',
  readNotificationPreferences: 'viewer',
  updateNotificationPreferences: 'viewer',
  updateProjectNotifications: 'viewer',
  registerPushDevice: 'viewer',
  listPushDevices: 'viewer',
  readPushDevice: 'viewer',
  deletePushDevice: 'viewer',
  testPushDevice: 'viewer',
  listDevices: 'viewer',
  forgetDevice: 'viewer',
  readMethods: null,
  forgotPassword: null,
  resetPassword: null,
  changePassword: 'viewer',
  changeEmail: 'viewer',
  confirmEmail: null,
  updateMe: 'viewer',
  deleteMe: 'viewer',
  switchOrg: 'viewer',
  readMe: 'viewer',
  readTwoFactor: 'viewer',
  setUpTwoFactor: 'viewer',
  verifyTwoFactor: 'viewer',
  disableTwoFactor: 'viewer',
  replaceBackupCodes: 'viewer',
  continueSignIn: null,
  startPasskeyRegistration: 'viewer',
  registerPasskey: 'viewer',
  startPasskeyLogIn: null,
  logInWithPasskey: null,
  listPasskeys: 'viewer',
  renamePasskey: 'viewer',
  deletePasskey: 'viewer',
  listProjects: 'viewer',
  createProject: 'admin',
  readProjectSettings: 'viewer',
  updateProjectSettings: 'admin',
  rotateDsn: 'admin',
  createProjectKey: 'admin',
  updateProjectKey: 'admin',
  removeProjectKey: 'admin',
  deleteProject: 'owner',
  followOperation: 'viewer',
  previewFilters: 'admin',
  previewScrubbing: 'admin',
  eraseUserData: 'admin',
  readOnboarding: 'viewer',
  listIssues: 'viewer',
  searchIssues: 'viewer',
  suggestTerms: 'viewer',
  readIssue: 'viewer',
  updateIssue: 'member',
  analyseIssue: 'viewer',
  rateAnalysis: 'viewer',
  deleteIssue: 'admin',
  mergeIssues: 'member',
  unmergeIssues: 'member',
  discardIssue: 'admin',
  listDiscards: 'viewer',
  removeDiscard: 'admin',
  readGrouping: 'viewer',
  previewGrouping: 'admin',
  upgradeGrouping: 'admin',
  listComments: 'viewer',
  createComment: 'member',
  deleteComment: 'member',
  updateComment: 'member',
  readSubscription: 'viewer',
  subscribe: 'viewer',
  unsubscribe: 'viewer',
  listInbox: 'viewer',
  markInboxRead: 'viewer',
  listMembers: 'viewer',
  updateOrganisation: 'admin',
  readOperatorStatus: 'viewer',
  updateMember: 'admin',
  removeMember: 'admin',
  inviteMember: 'admin',
  listInvites: 'admin',
  inviteMembers: 'admin',
  resendInvite: 'admin',
  revokeInvite: 'admin',
  readInvite: null,
  acceptInvite: null,
  listApiKeys: 'viewer',
  createApiKey: 'viewer',
  deleteApiKey: 'viewer',
  previewOwnership: 'admin',
  listSimilar: 'viewer',
  listProjectIssues: 'viewer',
  readVolume: 'viewer',
  readSessionSummary: 'viewer',
  readPerformance: 'viewer',
  listScreens: 'viewer',
  readScreen: 'viewer',
  listTransactions: 'viewer',
  updateIssues: 'member',
  deleteIssues: 'admin',
  readOperation: 'viewer',
  undoOperation: 'member',
  listIssueEvents: 'viewer',
  readIssueEvent: 'viewer',
  addAttachment: 'member',
  uploadSourceMap: 'member',
  listSourceMaps: 'viewer',
  deleteSourceMap: 'member',
  uploadDsym: 'member',
  listDsyms: 'viewer',
  readMissingSymbols: 'viewer',
  deleteDsym: 'member',
  toolReadRoot: 'viewer',
  toolReadUser: 'viewer',
  toolListOrgs: 'viewer',
  toolReadOrg: 'viewer',
  toolListProjects: 'viewer',
  toolReadProject: 'viewer',
  toolListRepos: 'viewer',
  toolCreateRelease: 'member',
  toolCreateProjectRelease: 'member',
  toolReadRelease: 'viewer',
  toolUpdateRelease: 'member',
  toolReadProjectRelease: 'viewer',
  toolUpdateProjectRelease: 'member',
  toolPreviousRelease: 'viewer',
  toolListDeploys: 'viewer',
  toolCreateDeploy: 'member',
  toolReadChunkUpload: 'member',
  toolUploadChunks: 'member',
  toolAssembleBundle: 'member',
  toolAssembleDifs: 'member',
  toolUploadDsyms: 'member',
  toolFindUnknown: 'viewer',
  toolAssociate: 'member',
  toolMappingRelease: 'member',
  toolReprocess: 'member',
  readSharedValues: 'viewer',
  readIssueTrend: 'viewer',
  listIssueUsers: 'viewer',
  listIssueReleases: 'viewer',
  createRelease: 'member',
  updateRelease: 'member',
  listReleaseCommits: 'viewer',
  addReleaseCommits: 'member',
  listDeploys: 'viewer',
  createDeploy: 'member',
  listReleaseMarkers: 'viewer',
  listViews: 'viewer',
  createView: 'viewer',
  updateView: 'viewer',
  deleteView: 'viewer',
  listReleases: 'viewer',
  readMetrics: 'viewer',
  readBreakdown: 'viewer',
  readOverview: 'viewer',
  readStoreGuard: 'viewer',
  readReleasesHealth: 'viewer',
  readRelease: 'viewer',
  listLogs: 'viewer',
  readLogVolume: 'viewer',
  listLogAttributes: 'viewer',
  listLogsAround: 'viewer',
  listTraceMetrics: 'viewer',
  listTraceMetricNames: 'viewer',
  readTraceMetric: 'viewer',
  listCheckIns: 'viewer',
  listMonitors: 'viewer',
  readMonitor: 'viewer',
  changeMonitor: 'member',
  deleteMonitor: 'member',
  listTraces: 'viewer',
  readTraceOverview: 'viewer',
  readTrace: 'viewer',
  readProjectTrace: 'viewer',
  readTransaction: 'viewer',
  listSpanOperations: 'viewer',
  readIntake: 'viewer',
  readQuota: 'viewer',
  updateQuota: 'admin',
  streamLive: 'viewer',
  readAssistant: 'viewer',
  runQuery: 'viewer',
  listSavedQueries: 'viewer',
  saveQuery: 'viewer',
  deleteSavedQuery: 'viewer',
  ask: 'viewer',
  downloadAttachment: 'viewer',
  listFeedback: 'viewer',
  listInboxMessages: 'viewer',
  readFeedback: 'viewer',
  updateFeedback: 'member',
  addFeedbackNote: 'member',
  replyToFeedback: 'member',
  listAuditLog: 'admin',
  exportAuditLog: 'admin',
  verifyAuditLog: 'owner',
  listAlertRules: 'viewer',
  dryRunAlertRule: 'viewer',
  createAlertRule: 'member',
  readAlertRule: 'viewer',
  updateAlertRule: 'member',
  deleteAlertRule: 'member',
  listRecentAlerts: 'viewer',
  readCanary: 'viewer',
  listFiredAlerts: 'viewer',
  readFiredAlert: 'viewer',
  testAlertRule: 'member',
  testAlertAction: 'member',
  acknowledgeAlert: 'member',
  resolveAlert: 'member',
  unsubscribeMails: null,
  unsubscribeOneClick: null,
  openUnsubscribe: null,
  listMutedRules: 'viewer',
  deleteMutedRule: 'viewer',
  takeChatPress: null,
  readTracker: 'viewer',
  listTrackerChoices: 'admin',
  connectTracker: 'admin',
  disconnectTracker: 'admin',
  createTrackerTicket: 'member',
  takeTrackerDelivery: null,
  readChatLinkOffer: 'viewer',
  confirmChatLink: 'viewer',
  listChatLinks: 'viewer',
  removeChatLink: 'viewer',
  listImports: 'admin',
  createImport: 'admin',
  readImport: 'admin',
  changeImport: 'admin',
  listImportDifferences: 'admin',
  readCodeHost: 'viewer',
  connectCodeHost: 'admin',
  changeCodeHost: 'admin',
  disconnectCodeHost: 'admin',
  takeCodeHostDelivery: null,
  listWebhooks: 'admin',
  createWebhook: 'admin',
  readWebhook: 'admin',
  updateWebhook: 'admin',
  deleteWebhook: 'admin',
  rotateWebhookSecret: 'admin',
  testWebhook: 'admin',
  recoverWebhook: 'admin',
  listWebhookDeliveries: 'admin',
  readWebhookDelivery: 'admin',
  replayWebhookDelivery: 'admin',
  replayWebhookDeliveries: 'admin',
}

const guarded = all.filter(([name]) => MIN_ROLE[name] !== null)
const open = all.filter(([name]) => MIN_ROLE[name] === null)
/** A browser that must be sent on gets no JSON: every request brings it to a page. */
const answering = all.filter(([, spec]) => spec.stream !== 'redirect')
const redirecting = all.filter(([, spec]) => spec.stream === 'redirect')
const naming = answering.filter(([, spec]) => spec.params !== undefined)
const querying = answering.filter(([, spec]) => spec.query !== undefined)
const taking = all.filter(([, spec]) => spec.body !== undefined)
/** Without those that prove themselves by what they carry, which no other site can make a browser send. */
const unsafe = all.filter(([, spec]) => spec.method !== 'GET' && spec.rawBody !== true)
const unsafeWithoutBody = unsafe.filter(([, spec]) => spec.body === undefined && spec.upload === undefined)

/**
 * Some of the variants, other ones for each route. One function for all routes judges them before a route is asked, so a
 * route needs a few of them, and all variants are sent with many routes.
 */
function someOf<T>(variants: readonly T[], name: Name, count: number): T[] {
  const from = all.findIndex(([one]) => one === name)
  return Array.from({ length: count }, (_, index) => variants[(from + index) % variants.length]!)
}

const OWN_ORIGIN = new URL(t.app.config.publicUrl).origin

type Sent = {
  readonly spec: RouteSpec
  readonly call?: ExampleCall
  readonly cookie?: string
  readonly query?: string
  /** Sent unchanged, in place of the call's body. */
  readonly raw?: string
  readonly headers?: Readonly<Record<string, string>>
}

type Got = { readonly status: number; readonly body: unknown; readonly headers: Headers }

const statusOf = (spec: RouteSpec): number => (spec.stream === 'redirect' ? 302 : (spec.status ?? 200))

/** Parameters that the call does not name get ids that do not exist. */
async function send({ spec, call = {}, cookie, query = call.query ?? '', raw, headers }: Sent): Promise<Got> {
  const path = spec.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(call.params?.[name] ?? newId()))
  const body = raw ?? call.raw ?? (call.body === undefined ? undefined : JSON.stringify(call.body))
  const cookies = [cookie, call.cookie].filter((one) => one !== undefined && one !== '').join('; ')
  const gone = new AbortController()
  const response = await fetch(t.url + path + query, {
    method: spec.method,
    headers: {
      ...(cookies === '' ? {} : { cookie: cookies }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...call.headers,
      ...headers,
    },
    body: body ?? null,
    signal: gone.signal,
    redirect: 'manual',
  })
  if (spec.stream !== undefined && response.ok) {
    gone.abort()
    return { status: response.status, body: null, headers: response.headers }
  }
  const text = await response.text()
  return { status: response.status, body: text === '' ? null : JSON.parse(text), headers: response.headers }
}

// Every changed row of every table leaves a mark in the same transaction: comparing the tables would cost more with
// each test.
await t.app.db.query(`
  create table test_changes (id bigint generated always as identity primary key);
  create function test_note_change() returns trigger language plpgsql as
    $$ begin insert into test_changes default values; return null; end $$;
  do $$ declare t regclass; begin
    for t in select oid from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
        and relname <> 'test_changes'
    loop execute format('create trigger test_note after insert or update or delete on %s
      for each row execute function test_note_change()', t); end loop;
  end $$`)

async function changesMade(): Promise<unknown> {
  return (await t.app.db.query('select coalesce(max(id), 0) as made from test_changes')).rows[0]
}

/**
 * Each is refused with that status, in the one form of errors, without a cookie, and nothing has changed. Together,
 * because a look for changes takes as long as some refusals.
 */
async function expectRefused(status: number, ...all: readonly Sent[]): Promise<void> {
  const before = await changesMade()
  for (const sent of all) {
    const got = await send(sent)
    expect(got).toMatchObject({ status, body: { error: expect.stringMatching(/^[^\n]{8,300}[.?]$/) as unknown } })
    expect(Object.keys(got.body as object)).toEqual(['error'])
    expect(got.headers.getSetCookie()).toEqual([])
  }
  expect(await changesMade(), 'rows changed').toEqual(before)
}

type World = { readonly owner: Person; readonly stranger: Person; readonly call: ExampleCall }

/** A call of the owner that succeeds, and a user of another organisation. */
async function anExample(name: Name): Promise<World> {
  const [owner, stranger] = [await aPerson(t.app), await aPerson(t.app)]
  return { owner, stranger, call: await EXAMPLES[name](t.app, owner, stranger) }
}

const examples = new Map<Name, Promise<World>>()

/** One example for all tests whose calls are refused: they change nothing, so they can share it. */
function anUntouchedExample(name: Name): Promise<World> {
  const known = examples.get(name) ?? anExample(name)
  examples.set(name, known)
  return known
}

/** Reading changes no example either. */
const anExampleOf = (name: Name, spec: RouteSpec): Promise<World> =>
  spec.method === 'GET' && spec.stream === undefined ? anUntouchedExample(name) : anExample(name)

test('a changed row is found, whichever statement changed it', async () => {
  const before = await changesMade()
  const { actor } = await aPerson(t.app)
  const added = await changesMade()
  expect(added).not.toEqual(before)
  await t.app.db.deleteFrom('sessions').where('id', '=', actor.sessionId).execute()
  expect(await changesMade()).not.toEqual(added)
})

test('every route has an example and a place in the matrix, and both name no other route', () => {
  expect(Object.keys(EXAMPLES).sort()).toEqual(Object.keys(contract).sort())
  expect(Object.keys(MIN_ROLE).sort()).toEqual(Object.keys(contract).sort())
})

test('the permissions of the routes equal the matrix of this test', () => {
  const ofCode = Object.fromEntries(all.map(([name, spec]) => [name, PERMISSIONS[spec.permission]?.minRole ?? null]))
  expect(ofCode).toEqual(MIN_ROLE)
})

test.each(all)('%s answers its example as the contract declares', async (name, spec) => {
  const { owner, call } = await anExampleOf(name, spec)
  const { status } = await send({ spec, call, cookie: owner.cookie })
  // It exists for owners of the oldest organisation only.
  if (name === 'readOperatorStatus') expect([200, 404]).toContain(status)
  else expect(status).toBe(statusOf(spec))
})

describe('without a session', () => {
  test.each(open)('%s works', async (name, spec) => {
    const { owner, call } = await anExampleOf(name, spec)
    // The refresh cookie is what `refresh` needs; it is no session.
    const cookie = name === 'refresh' ? `svc_refresh=${owner.tokens.refreshToken}` : ''
    expect((await send({ spec, call, cookie })).status).toBe(statusOf(spec))
  })

  test.each(guarded)('%s: 401', async (name, spec) => {
    const { call } = await anUntouchedExample(name)
    // A refused caller does not learn which input would be valid.
    const invalid = { spec, call: { params: { projectId: 'x' } }, query: '?unknown=1' }
    await expectRefused(401, { spec, call }, invalid)
  })
})

const ended = await aPerson(t.app)
await t.app.db
  .updateTable('sessions')
  .set({ ended_at: t.clock.now() })
  .where('id', '=', ended.actor.sessionId)
  .execute()

test.each(guarded)('%s with an ended session, a forged one, or an API key: 401', async (name, spec) => {
  const { owner, call } = await anUntouchedExample(name)
  await expectRefused(
    401,
    { spec, call, cookie: ended.cookie },
    { spec, call, cookie: `${owner.cookie.slice(0, 60)}x${owner.cookie.slice(61)}` },
    { spec, call, cookie: owner.cookie, headers: { authorization: 'Bearer svc_x' } },
  )
})

/** A key of a member, with these scopes. */
const bearerOf = async ({ actor }: Person, scopes: readonly string[]): Promise<Record<string, string>> => {
  const { id, key } = await createKey(t.app, actor, { name: 'Test', scopes: [...scopes] })
  // Its first use would be a change.
  await t.app.db.updateTable('api_keys').set({ last_used_at: t.clock.now() }).where('id', '=', id).execute()
  return { authorization: `Bearer ${key}` }
}

describe.each(ROLES)('the role %s', (role) => {
  const may = ([name]: Case) => roleAtLeast(role, MIN_ROLE[name] ?? 'viewer')
  const allowed = guarded.filter((route) => may(route))
  const denied = guarded.filter((route) => !may(route))

  const aMember = async ({ owner, call }: World) => {
    const person = await aPerson(t.app, { role, org: { id: owner.actor.orgId, slug: owner.orgSlug } })
    return { person, call }
  }

  test.for(denied)('may not %s: 403, with a session and with a key of every scope', async ([name, spec]) => {
    const { person, call } = await aMember(await anUntouchedExample(name))
    await expectRefused(
      403,
      { spec, call, cookie: person.cookie },
      { spec, call: { ...call, params: {} }, cookie: person.cookie },
      { spec, call, headers: await bearerOf(person, SCOPES) },
    )
  })

  test.for(allowed)('may %s', async ([name, spec]) => {
    // With ids that do not exist, so that only the permission is tested.
    const world = await (spec.params === undefined ? anExampleOf(name, spec) : anUntouchedExample(name))
    const { person, call } = await aMember(world)
    const { status } = await send({ spec, call: { ...call, params: {} }, cookie: person.cookie })
    const expected = spec.params === undefined ? [200, 201, 204, 400, 409] : [404]
    // It exists for owners of one organisation only.
    expect(name === 'readOperatorStatus' ? [...expected, 404] : expected).toContain(status)
  })
})

/** Which scope a key needs, written down a second time on purpose (security 4.8): null refuses every key. */
const SCOPE: Readonly<Record<Exclude<Permission, 'public'>, Scope | 'any' | null>> = {
  self: null,
  'me.read': 'any',
  'issues.read': 'issues:read',
  'issues.write': 'issues:write',
  'issues.admin': 'issues:admin',
  'ai.use': 'ai:use',
  'alerts.read': 'alerts:read',
  'alerts.write': 'alerts:write',
  'metrics.read': 'metrics:read',
  'releases.read': 'releases:read',
  'releases.write': 'releases:write',
  'uploads.read': 'releases:read',
  'uploads.write': 'uploads:write',
  'projects.read': 'projects:read',
  'projects.write': 'projects:write',
  'imports.manage': 'integrations:write',
  'devices.read': 'alerts:read',
  'devices.write': 'alerts:write',
  'projects.delete': null,
  'team.read': 'team:read',
  'team.write': 'team:write',
  'invites.read': 'team:read',
  'integrations.read': 'projects:read',
  'integrations.write': 'integrations:write',
  'webhooks.read': 'webhooks:read',
  'webhooks.write': 'webhooks:write',
  'sso.manage': null,
  'audit.read': 'audit:read',
  'audit.verify': 'audit:read',
}

describe('with an API key of the owner', () => {
  test('the scopes of the permissions equal the list of this test', () => {
    const { public: _, ...rules } = PERMISSIONS
    expect(Object.fromEntries(Object.entries(rules).map(([name, { scope }]) => [name, scope]))).toEqual(SCOPE)
  })

  /** Routes that read with the permissions of the caller. */
  const ALSO_READS: Partial<Record<Name, readonly Scope[]>> = {
    analyseIssue: ['issues:read'],
    createTrackerTicket: ['issues:read'],
  }

  test.each(guarded)('%s needs its scope and no other', async (name, spec) => {
    const { owner, stranger, call } = await anExampleOf(name, spec)
    const scope = spec.permission === 'public' ? null : SCOPE[spec.permission]
    if (scope === null) return expectRefused(403, { spec, call, headers: await bearerOf(owner, SCOPES) })
    if (scope !== 'any') {
      const without = await bearerOf(
        owner,
        SCOPES.filter((one) => one !== scope),
      )
      // A key wins over a cookie that may, and what refuses it is the scope and not the site it was called from.
      const sent = { spec, call, cookie: owner.cookie, headers: { ...without, 'sec-fetch-site': 'cross-site' } }
      await expectRefused(403, { spec, call, headers: without }, sent)
      expect((await send(sent)).body).toEqual({ error: `This needs an API key with the scope ${scope}.` })
    }
    const needed = [scope === 'any' ? 'ai:use' : scope, ...(ALSO_READS[name] ?? [])]
    const only = await bearerOf(owner, needed)
    if (spec.params !== undefined) await expectRefused(404, { spec, call, headers: await bearerOf(stranger, needed) })
    // No browser sends a key by itself: the site does not matter.
    const got = await send({ spec, call, headers: { ...only, 'sec-fetch-site': 'cross-site' } })
    expect(got.status).toBe(spec.status ?? 200)
    expect(got.headers.get('ratelimit-policy')).toBe('"api-key";q=1200;w=60')
  })
})

describe('things of another organisation', () => {
  test.each(naming)('%s: 404, with the text for things that do not exist', async (name, spec) => {
    const { stranger, call } = await anUntouchedExample(name)
    await expectRefused(404, { spec, call, cookie: stranger.cookie })
    const theirs = await send({ spec, call, cookie: stranger.cookie })
    const missing = await send({ spec, call: { ...call, params: {} }, cookie: stranger.cookie })
    expect(theirs.body).toEqual(missing.body)
  })

  test.each(naming)(
    '%s: an id of our own does not give access to an id of another organisation',
    async (name, spec) => {
      const { owner, stranger, call } = await anExampleOf(name, spec)
      const theirs = await EXAMPLES[name](t.app, stranger, owner)
      // A name that is the same for everybody is no id.
      const ids = Object.keys(call.params ?? {}).filter(
        (param) => spec.path.includes(`:${param}`) && theirs.params?.[param] !== call.params?.[param],
      )
      const mixed = ids.map((param) => ({ ...call.params, [param]: theirs.params?.[param] ?? '' }))
      await expectRefused(404, ...mixed.map((params) => ({ spec, call: { ...call, params }, cookie: owner.cookie })))
    },
  )

  test.each(all)('%s: ids of another organisation in query or body show and change nothing', async (name, spec) => {
    const { owner, call } = await anExampleOf(name, spec)
    for (const query of call.foreignQueries ?? []) {
      const got = await send({ spec, call, cookie: owner.cookie, query })
      if (got.status !== 404) expect(got).toMatchObject({ status: 200, body: { total: 0 } })
    }
    for (const body of call.foreignBodies ?? []) {
      const before = await changesMade()
      expect([400, 404]).toContain((await send({ spec, call: { ...call, body }, cookie: owner.cookie })).status)
      expect(await changesMade()).toEqual(before)
    }
  })
})

describe('routes that send the browser on', () => {
  test.each(redirecting)('%s: every request brings the browser to a page', async (_name, spec) => {
    const queries = ['', '?unknown=1', '?state=a&state=b&code=1', '?error=x', '?org=a&org=b', '?link=1', '?__proto__=1']
    for (const query of queries) {
      const before = await changesMade()
      const got = await send({ spec, query })
      expect(got.status).toBe(302)
      expect(got.headers.get('location')).toMatch(/^\/(?:(?:login|me\/security)\?error=[a-z_]+|unsubscribe)$/)
      expect(got.headers.getSetCookie()).toEqual([])
      expect(await changesMade()).toEqual(before)
    }
  })
})

describe('malformed', () => {
  test.each(naming)('%s with invalid ids: 404', async (name, spec) => {
    const { owner, call } = await anUntouchedExample(name)
    const ids = ['x', '0', "' or 1=1", '\0', '../..', newId().slice(1)]
    const sent = someOf(ids, name, 3).map((id) => {
      const params = Object.fromEntries(Object.keys(call.params ?? {}).map((param) => [param, id]))
      return { spec, call: { ...call, params }, cookie: owner.cookie }
    })
    await expectRefused(404, ...sent)
  })

  test.each(querying)('%s with an unknown or out-of-range query: 400', async (name, spec) => {
    const { owner, call } = await anUntouchedExample(name)
    const queries = [
      'unknown=1',
      '__proto__=1',
      'limit=0',
      'limit=101',
      'limit=1.5',
      'offset=-1',
      'offset=10001',
      'sort=x',
    ]
    await expectRefused(400, ...queries.map((query) => ({ spec, call, cookie: owner.cookie, query: `?${query}` })))
  })

  test.each(taking)('%s with a body that is not JSON, not an object or not sent as JSON: 400', async (name, spec) => {
    const { owner, call } = await anUntouchedExample(name)
    const sent = { spec, call, cookie: owner.cookie }
    const texts = ['{', '[]', '"text"', '1', 'null,', '{"a":1}{']
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/xml']
    const raw = JSON.stringify(call.body)
    const mayBeAbsent = spec.body?.safeParse(undefined).success === true
    await expectRefused(
      400,
      ...someOf(texts, name, 2).map((raw) => ({ ...sent, raw })),
      ...someOf(types, name, 1).map((type) => ({ ...sent, raw, headers: { 'content-type': type } })),
      ...(mayBeAbsent ? [] : [{ ...sent, call: { ...call, body: undefined } }]),
    )
  })

  test.each(taking)('%s with an unknown field, or a value of the wrong type: 400', async (name, spec) => {
    const { owner, call } = await anUntouchedExample(name)
    // Upload tools of others send fields that nothing here needs.
    const wrong: Record<string, unknown>[] = spec.tag === UPLOAD_TOOLS ? [] : [{ unknown_field: 1 }]
    for (const field of Object.keys(call.body ?? {})) {
      for (const value of [{ a: 1 }, [[]], 'a\0b']) wrong.push({ [field]: value })
    }
    const bodies = wrong.map((body) => ({ ...call.body, ...body }))
    await expectRefused(400, ...bodies.map((body) => ({ spec, call: { ...call, body }, cookie: owner.cookie })))
  })

  test.each(unsafeWithoutBody)('%s with a body that is not JSON: 400', async (name, spec) => {
    const { owner, call } = await anUntouchedExample(name)
    const sent = { spec, call, cookie: owner.cookie, raw: 'a=1' }
    await expectRefused(400, sent, { ...sent, headers: { 'content-type': 'application/x-www-form-urlencoded' } })
  })
})

describe('with cookies', () => {
  const elsewhere: Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `${OWN_ORIGIN}.evil.example` },
    { referer: 'https://evil.example/page' },
  ]
  test.each(unsafe)('from another site, %s: 403', async (name, spec) => {
    const { owner, call } = await anUntouchedExample(name)
    await expectRefused(
      403,
      ...someOf(elsewhere, name, 2).map((headers) => ({ spec, call, cookie: owner.cookie, headers })),
    )
  })

  const ours: Record<string, string>[] = [
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
    { origin: OWN_ORIGIN },
  ]
  test.each(unsafe)('from our own pages %s works', async (name, spec) => {
    for (const headers of someOf(ours, name, 1)) {
      const { owner, call } = await anExampleOf(name, spec)
      expect((await send({ spec, call, cookie: owner.cookie, headers })).status).toBe(statusOf(spec))
    }
  })
})
