import { openConfig } from '../../alerts/rules/action-config.ts'
import { createRule } from '../../alerts/rules/create-rule.ts'
import { NewRule } from '../../alerts/rules/rule.api.ts'
import { randomBytes } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { adminCommand } from '#test/kit/admin-command.ts'
import { aPerson, type Person } from '#test/kit/members.ts'
import { SSO_INPUT } from '#test/kit/sso.ts'
import { fakeSentry, SOURCE_ORG } from '#test/kit/fake-sentry.ts'
import { LINEAR_KEY, startLinear } from '#test/kit/tracker-linear.ts'
import { connectTracker } from '../../integrations/trackers/connect-tracker.ts'
import { testServer } from '#test/kit/test-server.ts'
import { createImport } from '../imports/create-import.ts'
import { readForJob, sourceTokenPlace } from '../imports/imports.queries.ts'
import { createApp } from '../app.ts'
import { orgOpener, orgSealer } from '../../identity/auth/org-sealer.ts'
import { refreshSession } from '../../identity/auth/refresh-session.ts'
import { readConfig } from '../../config/config.ts'
import type { App } from '../../platform/context/app.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { keyPlace } from '../erasure/key-place.ts'
import { startErasure } from '../erasure/erasures.queries.ts'
import { tokenPlace } from '../../alerts/notifications/push-token.ts'
import { openScrubKey } from '../../ingest/scrubbing/scrub-settings.ts'
import { openClientSecret } from '../../identity/external-identity/client-secret.ts'
import { selectSsoConfig } from '../../identity/external-identity/sso.queries.ts'
import { updateSsoConfig } from '../../identity/external-identity/update-config.ts'
import { changeCodeHost, lockCodeHost, selectCodeHost } from '../../integrations/code-host/code-hosts.queries.ts'
import { connectCodeHost } from '../../integrations/code-host/connect-code-host.ts'
import { openSecret, openToken, tokenPlace as hostTokenPlace } from '../../integrations/code-host/secrets.ts'
import { HOST_TOKEN } from '#test/kit/code-host-github.ts'
import { prepareWebhooks } from '../../integrations/webhooks/prepare-webhooks.ts'
import { createEndpoint } from '../../integrations/webhooks/create-endpoint.ts'
import { aDevice, type TestDevice } from '#test/kit/push-devices.ts'
import { keyIdsBySealedColumn } from '#test/kit/sealed-values.ts'
import { ORG_SEALED, rotateDataKeys } from './account-commands.ts'

const linear = await startLinear()
afterAll(() => linear.receiver.close())
const key = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`
const [k1, k2] = [key('k1'), key('k2')]
const t = await testServer({ env: { ENCRYPTION_KEYS: `${k2},${k1}` }, realTime: true })

async function appWith(keys: string): Promise<App> {
  const config = readConfig({ FAULTLINE_DATA_DIR: t.dataDir, ENCRYPTION_KEYS: keys, LOG_LEVEL: 'silent' })
  const app = await createApp(config, t.connectionString, 3, 'keys')
  t.onClose(() => app.close())
  return app
}

const CHAT_URL = 'http://127.0.0.1:9/services/secret'

/** A user with a value in every column that a data key seals. */
async function everySecret(): Promise<{
  person: Person
  projectId: string
  endpointId: string
  actionId: string
  device: TestDevice
  importId: string
  importToken: string
}> {
  const person = await aPerson(t.app)
  const { orgId } = person.actor
  await updateSsoConfig(t.app, person.actor, SSO_INPUT)
  const { id: endpointId } = await createEndpoint(t.app, person.actor, {
    url: 'http://127.0.0.1:9/hook',
    events: [],
    description: '',
    ordering: 'none',
    max_per_second: null,
    auto_pause: false,
    standard_headers: false,
    headers: [{ name: 'x-secret', value: 'of the receiver' }],
  })
  const headers = { cookie: person.cookie, 'content-type': 'application/json' }
  const made = await fetch(`${t.url}/api/projects`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ name: 'Shop', platform: 'web', region: 'eu-central-1' }),
  })
  const { id: projectId } = (await made.json()) as { id: string }
  const { actions } = await createRule(
    t.app,
    person.actor,
    NewRule.parse({
      projectId,
      name: 'A rule',
      trigger_type: 'new_issue',
      actions: [{ type: 'chat', webhook_url: CHAT_URL }],
    }),
  )
  const changed = await fetch(`${t.url}/api/projects/${projectId}/settings`, {
    method: 'PATCH',
    headers,
    body: JSON.stringify({ scrub_rules: [{ path: 'user.id', pattern: 'anything', action: 'hash' }] }),
  })
  expect([made.status, changed.status]).toEqual([201, 200])
  await t.app.tx(async (tx) => {
    const sealer = await orgSealer(t.app, orgId, tx)
    const sealed = sealer.seal(Buffer.from('someone'), keyPlace(projectId, 1, orgId))
    const row = { id: newId(), project_id: projectId, org_id: orgId, user_hash: 1, user_key_sealed: sealed }
    await startErasure(tx, { ...row, now: t.app.clock.now() })
  })
  const device = await aDevice(t.app, person)
  await connectTracker(t.app, person.actor, projectId, {
    provider: 'tracker_a',
    base_url: linear.url,
    api_key: LINEAR_KEY,
    sync_states: true,
  })
  await connectCodeHost(t.app, person.actor, { projectId, repository_url: 'https://github.com/acme/shop' })
  await t.app.tx(async (tx) => {
    const host = await lockCodeHost(tx, projectId)
    const sealed = (await orgSealer(t.app, orgId, tx)).seal(
      Buffer.from(HOST_TOKEN),
      hostTokenPlace(orgId, host?.id ?? ''),
    )
    await changeCodeHost(tx, projectId, { token_sealed: sealed })
  })
  const source = await fakeSentry(new Date(), [
    { id: '7', slug: 'shop', platform: 'javascript', publicKey: randomBytes(16).toString('hex'), issues: [] },
  ])
  t.onClose(() => source.close())
  const { url, token } = source
  const { id: importId } = await createImport(t.app, person.actor, { url, organisation: SOURCE_ORG, token })
  return { person, projectId, endpointId, actionId: actions[0]?.id ?? '', device, importId, importToken: token }
}

/** Opens one value of each kind, as the product does. */
async function expectOpens(app: App, of: Awaited<ReturnType<typeof everySecret>>): Promise<void> {
  const { person, projectId, endpointId, actionId, device, importId, importToken } = of
  const { orgId } = person.actor
  const project = await app.db.selectFrom('projects').selectAll().where('id', '=', projectId).executeTakeFirstOrThrow()
  expect(await openScrubKey(app, orgId, projectId, project.scrub_key_sealed ?? '')).toHaveLength(32)
  const config = await selectSsoConfig(app.db, orgId)
  if (config === null) throw new Error('no configuration')
  const opener = await orgOpener(app, orgId)
  expect(openClientSecret(opener, orgId, config.client_secret_sealed)).toBe(SSO_INPUT.client_secret)
  const { token_sealed: token } = await app.db
    .selectFrom('push_devices')
    .select('token_sealed')
    .where('id', '=', device.id)
    .executeTakeFirstOrThrow()
  expect(opener.open(token, tokenPlace(orgId, device.id)).toString()).toBe(device.token)
  const stored = await readForJob(app.db, importId)
  expect(opener.open(stored?.token_sealed ?? '', sourceTokenPlace(orgId, importId)).toString()).toBe(importToken)
  const action = await app.db
    .selectFrom('alert_actions')
    .selectAll()
    .where('id', '=', actionId)
    .executeTakeFirstOrThrow()
  expect(openConfig(opener, orgId, actionId, action.config_sealed ?? '').webhook_url).toBe(CHAT_URL)
  const host = await selectCodeHost(app.db, projectId)
  if (host === undefined) throw new Error('no code host')
  expect(await openToken(app, host)).toBe(HOST_TOKEN)
  expect(await openSecret(app, host)).toMatch(/^whsec_/)
  const errors: unknown[] = []
  app.log.error = (line: unknown): void => void errors.push(line)
  await prepareWebhooks(app, [
    {
      id: 'd_1',
      laneId: endpointId,
      messageId: 'evt_1',
      type: 'webhook.test',
      body: Buffer.from('{}'),
      orgId,
      trigger: 'schedule',
      secretVersion: 1,
      n: 1,
    },
  ])
  expect(errors).toEqual([])
}

const idsOfData = async (): Promise<Map<string, readonly string[]>> =>
  new Map([...(await keyIdsBySealedColumn(t.app.db))].filter(([, ids]) => ids.some((id) => id.startsWith('d'))))

test('every organisation gets a new key and its values are sealed again, after a kill too, while users refresh', async () => {
  const one = await everySecret()
  const two = await everySecret()
  expect([...(await idsOfData()).keys()].toSorted()).toEqual(
    ORG_SEALED.map(({ table, column }) => `${table}.${column}`).toSorted(),
  )
  let token = one.person.tokens.refreshToken
  const refresh = async (): Promise<void> => {
    token = (await refreshSession(t.app, token, one.person.actor)).refreshToken
  }
  let transactions = 0
  const killedAt = (at: number): App => ({
    ...t.app,
    tx: (work) =>
      t.app.tx(async (tx) => {
        const result = await work(tx)
        if (++transactions === at) throw new Error('killed')
        return result
      }),
  })
  // In the middle of giving keys, and of sealing.
  await expect(rotateDataKeys(killedAt(2), () => {})).rejects.toThrow('killed')
  await refresh()
  transactions = 0
  await expect(rotateDataKeys(killedAt(4), () => {})).rejects.toThrow('killed')
  await refresh()
  const steps: string[] = []
  const busy: App = {
    ...t.app,
    tx: async (work) => {
      const result = await t.app.tx(work)
      if (++transactions % 3 === 0) await refresh()
      return result
    },
  }
  const { orgs, resealed } = await rotateDataKeys(busy, (done, total) => void steps.push(`${done}/${total}`))
  expect({ orgs, last: steps.at(-1) }).toEqual({ orgs: 2, last: `${resealed}/${resealed}` })
  const ids = new Set([...(await idsOfData()).values()].flat())
  expect(ids.has('d1')).toBe(false)
  await refresh()
  const elsewhere = await appWith(`${k2},${k1}`)
  for (const each of [one, two]) await expectOpens(elsewhere, each)
  expect((await refreshSession(elsewhere, two.person.tokens.refreshToken, two.person.actor)).accessToken).toBeTruthy()
})

test('a value that is sealed while the key is replaced is sealed again too', async () => {
  const person = await aPerson(t.app)
  const { orgId } = person.actor
  const sealing = Promise.withResolvers<undefined>()
  const release = Promise.withResolvers<undefined>()
  const late = t.app.tx(async (tx) => {
    const sealer = await orgSealer(t.app, orgId, tx)
    sealing.resolve(undefined)
    await release.promise
    // The transaction began with the key before.
    await tx
      .updateTable('sessions')
      .set({
        hmac_key_sealed: sealer.seal(randomBytes(32), `sessions:hmac_key_sealed:${person.actor.sessionId}:${orgId}`),
      })
      .where('id', '=', person.actor.sessionId)
      .execute()
    return sealer.keyId
  })
  await sealing.promise
  const rotation = rotateDataKeys(t.app, () => {})
  await expect
    .poll(
      async () =>
        (await t.app.db.query(`select 1 from pg_locks where locktype = 'advisory' and not granted`)).rows.length,
    )
    .toBe(1)
  release.resolve(undefined)
  const before = await late
  await rotation
  const { hmac_key_sealed: sealed } = await t.app.db
    .selectFrom('sessions')
    .select('hmac_key_sealed')
    .where('id', '=', person.actor.sessionId)
    .executeTakeFirstOrThrow()
  expect(sealed.split('.')[1]).toBe(`d${Number(before.slice(1)) + 1}`)
})

test('`keys rotate --data-keys` beside the running service: then the old master key can be removed', async () => {
  const before = await appWith(`${k1},${k2}`)
  const late = await aPerson(before)
  await before.tx((tx) =>
    enqueueMails(tx, before, late.actor.orgId, [
      { type: 'test', userId: null, to: late.email, subject: 'Hello', name: 'Ada', paragraphs: ['A secret link.'] },
    ]),
  )
  const owner = await t.founder()
  const { code, lines } = await adminCommand(['keys', 'rotate', '--data-keys'], {
    DATABASE_URL: t.connectionString,
    FAULTLINE_DATA_DIR: t.dataDir,
    ENCRYPTION_KEYS: `${k2},${k1}`,
  })
  expect({ code, last: lines.at(-1) }).toEqual({
    code: 0,
    last: 'No value needs another key: remove the others from ENCRYPTION_KEYS.',
  })
  expect(lines.join('\n')).toMatch(
    /^Sealed \d+ values with new data keys of \d organisations\.\nSealed \d+ values? with k2\.$/m,
  )
  const ids = [...(await keyIdsBySealedColumn(t.app.db)).values()].flat()
  expect(ids).not.toContain('k1')
  expect(ids).not.toContain('d1')
  expect((await owner.post('/api/auth/refresh')).status).toBe(200)
  const only = await appWith(k2)
  const person = await aPerson(only)
  await refreshSession(only, person.tokens.refreshToken, person.actor)
  const { rows } = await t.app.db.query<{ key_id: string }>(
    `select distinct meta::jsonb ->> 'key_id' as key_id from audit_log
     where action = 'encryption.key_rotated' and actor_id = 'rotate-keys'`,
  )
  expect(rows.map(({ key_id }) => key_id)).toEqual(expect.arrayContaining(['k2', 'd2', 'd3']))
})
