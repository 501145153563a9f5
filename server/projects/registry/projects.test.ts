import { MAX_PROJECT_KEYS } from '#shared/limits.ts'
import { describe, expect, test } from 'vitest'
import { anOrg, aPerson } from '#test/kit/members.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { createProject } from '../../service/project-settings/create-project.ts'
import { listProjects } from './view-project.ts'
import { readOnboarding } from './read-onboarding.ts'
import { removeProjectKey, updateProjectKey } from './change-project-key.ts'
import { createProjectKey } from './create-project-key.ts'
import { rotateDsn } from './rotate-dsn.ts'
import { updateProjectSettings, readProjectSettings } from '../../service/project-settings/update-project-settings.ts'

const t = await testApp()
const MINUTE_MS = 60_000

const anActor = async (): Promise<OrgActor> => (await aPerson(t.app, { org: await anOrg(t.app) })).actor
const shop = { name: 'Shop', platform: 'web', region: 'eu-central-1' } as const
const aProject = (actor: OrgActor, over: { name?: string; slug?: string } = {}) =>
  createProject(t.app, actor, { ...shop, ...over })
const withConfig = (over: Partial<App['config']>): App => ({ ...t.app, config: { ...t.app.config, ...over } })

/** Collects the messages of a topic. */
function collect(topic: string): unknown[] {
  const messages: unknown[] = []
  t.app.bus.on(topic, (payload) => messages.push(payload))
  return messages
}

describe('creating', () => {
  test('returns a number, a slug and a DSN that works immediately', async () => {
    const project = await aProject(await anActor(), { name: 'Shöp App' })
    expect(project).toMatchObject({
      name: 'Shöp App',
      slug: 'shop-app',
      platform: 'web',
      region: 'eu-central-1',
      open_issues: 0,
      events_24h: 0,
      last_event_at: null,
      created_at: t.clock.now().toISOString(),
    })
    expect(project.number).toBeGreaterThan(0)
    const url = new URL(project.dsn)
    expect(url.pathname).toBe(`/${project.number}`)
    const key = await t.app.db
      .selectFrom('project_keys')
      .selectAll()
      .where('public_key', '=', url.username)
      .executeTakeFirstOrThrow()
    expect(key).toMatchObject({ project_id: project.id, expires_at: null })
  })

  test('a taken slug is a conflict in the same organisation only', async () => {
    const actor = await anActor()
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => aProject(actor)))
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
    await expect(aProject(actor)).rejects.toMatchObject({ code: 'conflict' })
    await expect(aProject(actor, { slug: 'shop-2' })).resolves.toMatchObject({ name: 'Shop', slug: 'shop-2' })
    await expect(aProject(await anActor())).resolves.toMatchObject({ slug: 'shop' })
  })

  test('a name without Latin letters gets a slug, too', async () => {
    const actor = await anActor()
    expect((await aProject(actor, { name: '商店' })).slug).toMatch(/^project-[0-9a-f]{8}$/)
    await expect(aProject(actor, { name: '工具' })).resolves.toBeDefined()
  })

  test('an installation with a region serves only that region', async () => {
    const app = withConfig({ region: 'us-east-1' })
    const actor = await anActor()
    await expect(createProject(app, actor, shop)).rejects.toMatchObject({
      code: 'invalid',
      message: 'region must be us-east-1: this installation serves only projects of that region.',
    })
    await expect(createProject(app, actor, { ...shop, region: 'us-east-1' })).resolves.toBeDefined()
  })

  test('the DSN has the address of the region', async () => {
    const app = withConfig({ ingestUrls: { 'eu-central-1': 'https://in.eu.example.com' } })
    expect(new URL((await createProject(app, await anActor(), shop)).dsn).host).toBe('in.eu.example.com')
  })
})

describe('listing', () => {
  const names = async (actor: OrgActor, sort: 'name' | '-name' | 'created_at' | '-created_at') =>
    (await listProjects(t.app, actor, { sort, limit: 100, offset: 0 })).items.map((project) => project.name)

  test('sorts, and omits other organisations', async () => {
    const actor = await anActor()
    await aProject(await anActor())
    for (const name of ['b', 'C', 'Ä', 'a']) {
      await aProject(actor, { name, slug: `s${newId().slice(-6)}` })
      t.clock.advance(1000)
    }
    expect(await names(actor, 'created_at')).toEqual(['b', 'C', 'Ä', 'a'])
    expect(await names(actor, '-created_at')).toEqual(['a', 'Ä', 'C', 'b'])
    const byName = await names(actor, 'name')
    expect(byName.filter((name) => name !== 'Ä')).toEqual(['a', 'b', 'C'])
    expect(await names(actor, '-name')).toEqual(byName.toReversed())
  })

  test.each(['name', '-name', 'created_at', '-created_at'] as const)(
    'pages by cursor contain each row once, sorted by %s',
    async (sort) => {
      const actor = await anActor()
      // Equal names and equal times are sorted by id.
      for (let i = 0; i < 7; i++) await aProject(actor, { name: i < 4 ? 'Équal' : `n${i}`, slug: `s${i}` })
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = await listProjects(t.app, actor, { sort, limit: 2, offset: 0, cursor })
        expect(page.total).toBe(7)
        seen.push(...page.items.map((project) => project.id))
        cursor = page.next_cursor ?? undefined
      } while (cursor !== undefined && seen.length < 20)
      const all = await listProjects(t.app, actor, { sort, limit: 100, offset: 0 })
      expect(seen).toEqual(all.items.map((project) => project.id))
      const skipped = await listProjects(t.app, actor, { sort, limit: 2, offset: 5 })
      expect(skipped.items.map((project) => project.id)).toEqual(seen.slice(5))
      expect(skipped.next_cursor).toBeNull()
    },
  )

  test.each([
    'x',
    'eyJhIjoxfQ',
    Buffer.from('["name","a","no id"]').toString('base64url'),
    Buffer.from(JSON.stringify(['-name', 'a', newId()])).toString('base64url'),
  ])('cursor %j is refused', async (cursor) => {
    const listing = listProjects(t.app, await anActor(), { sort: 'name', limit: 2, offset: 0, cursor })
    await expect(listing).rejects.toMatchObject({ code: 'invalid' })
  })

  test('counts open issues and the events of the last 24 hours', async () => {
    const actor = await anActor()
    const project = await aProject(actor)
    const now = t.clock.now()
    for (const [index, status] of (
      ['unresolved', 'regressed', 'escalated', 'resolved', 'ignored'] as const
    ).entries()) {
      await t.app.db
        .insertInto('issues')
        .values({
          id: newId(),
          org_id: actor.orgId,
          project_id: project.id,
          number: index + 1,
          title: 'Error',
          culprit: '',
          level: 'error',
          platform: 'javascript',
          status,
          status_changed_at: now,
          severity: 1,
          first_seen: now,
          last_seen: now,
          is_unhandled: false,
          created_at: now,
        })
        .execute()
    }
    const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * MINUTE_MS)
    await t.app.db
      .insertInto('project_minutes')
      .values([
        { project_id: project.id, minute: minutesAgo(0), events: 3, fatal: 0 },
        { project_id: project.id, minute: minutesAgo(23 * 60), events: 4, fatal: 0 },
        { project_id: project.id, minute: minutesAgo(24 * 60), events: 50, fatal: 0 },
      ])
      .execute()
    await t.app.db.updateTable('projects').set({ last_event_at: now }).where('id', '=', project.id).execute()
    const { items } = await listProjects(t.app, actor, { sort: 'name', limit: 100, offset: 0 })
    expect(items).toMatchObject([{ open_issues: 3, events_24h: 7, last_event_at: now.toISOString() }])
  })
})

describe('settings', () => {
  test('start with the defaults; a change keeps the rest and notifies every process', async () => {
    const actor = await anActor()
    const { id } = await aProject(actor)
    const messages = collect('project')
    expect(await readProjectSettings(t.app, actor, id)).toMatchObject({
      name: 'Shop',
      retention_days: 90,
      default_environment: 'production',
      rate_limit_per_minute: null,
      grouping_version: 3,
    })
    await updateProjectSettings(t.app, actor, id, {
      retention_days: 30,
      scrub_fields: ['iban'],
      rate_limit_per_minute: 9,
    })
    await updateProjectSettings(t.app, actor, id, { name: 'Store', rate_limit_per_minute: null })
    expect(await readProjectSettings(t.app, actor, id)).toMatchObject({
      name: 'Store',
      slug: 'shop',
      retention_days: 30,
      scrub_fields: ['iban'],
      rate_limit_per_minute: null,
    })
    await waitFor('the message', () =>
      messages.some((payload) => JSON.stringify(payload) === JSON.stringify({ project_id: id })),
    )
  })

  test('concurrent changes do not overwrite each other', async () => {
    const actor = await anActor()
    const { id } = await aProject(actor)
    const patches = [
      { retention_days: 7 },
      { auto_resolve_days: 3 },
      { store_profiles: true },
      { scrub_ip_addresses: true },
    ]
    await Promise.all(patches.map((patch) => updateProjectSettings(t.app, actor, id, patch)))
    expect(await readProjectSettings(t.app, actor, id)).toMatchObject(Object.assign({}, ...patches) as object)
  })

  test('the slug of another project is a conflict, its own slug is not', async () => {
    const actor = await anActor()
    const one = await aProject(actor, { slug: 'one' })
    const two = await aProject(actor, { slug: 'two' })
    await expect(updateProjectSettings(t.app, actor, two.id, { slug: 'one' })).rejects.toMatchObject({
      code: 'conflict',
    })
    await expect(updateProjectSettings(t.app, actor, one.id, { slug: 'one' })).resolves.toMatchObject({ slug: 'one' })
    const three = [one, two].map(({ id }) => updateProjectSettings(t.app, actor, id, { slug: 'three' }))
    const results = await Promise.allSettled(three)
    expect(results.map((result) => result.status).sort()).toEqual(['fulfilled', 'rejected'])
  })
})

describe('rotating the DSN', () => {
  test('the settings show the new key, the old one expires after the grace period, every process is notified of both', async () => {
    const actor = await anActor()
    const { id, dsn } = await aProject(actor)
    const messages = collect('project_key')
    const rotated = await rotateDsn(t.app, actor, id, 300)
    expect(rotated).toEqual({
      dsn: expect.stringMatching(/\/\/[0-9a-f]{32}@/) as unknown,
      old_dsn: dsn,
      old_dsn_expires_at: new Date(t.clock.now().getTime() + 300_000).toISOString(),
    })
    const settings = await readProjectSettings(t.app, actor, id)
    expect(settings.dsn).toBe(rotated.dsn)
    expect(settings.keys.map((key) => [key.dsn, key.expires_at])).toEqual([
      [rotated.dsn, null],
      [dsn, rotated.old_dsn_expires_at],
    ])
    const keys = [rotated.dsn, dsn].map((text) => ({ public_key: new URL(text).username }))
    await waitFor('both messages', () =>
      keys.every((key) => messages.some((payload) => JSON.stringify(payload) === JSON.stringify(key))),
    )
  })

  test('repeated: one key never expires, earlier expiry times stay, a grace period of 0 ends all others', async () => {
    const actor = await anActor()
    const { id } = await aProject(actor)
    const first = await rotateDsn(t.app, actor, id, 60)
    t.clock.advance(1000)
    await rotateDsn(t.app, actor, id, 300)
    const expiries = async () => (await readProjectSettings(t.app, actor, id)).keys.map((key) => key.expires_at)
    const now = t.clock.now().getTime()
    expect(await expiries()).toEqual([null, new Date(now + 300_000).toISOString(), first.old_dsn_expires_at])
    await rotateDsn(t.app, actor, id, 0)
    expect(await expiries()).toEqual([null, ...Array.from({ length: 3 }, () => t.clock.now().toISOString())])
  })

  test('ten concurrent rotations leave one current key', async () => {
    const actor = await anActor()
    const { id } = await aProject(actor)
    await Promise.all(Array.from({ length: 10 }, () => rotateDsn(t.app, actor, id, 300)))
    const { keys } = await readProjectSettings(t.app, actor, id)
    expect(keys).toHaveLength(11)
    expect(keys.filter((key) => key.expires_at === null)).toHaveLength(1)
  })
})

describe('further keys', () => {
  const aKey = async (actor: Awaited<ReturnType<typeof anActor>>, projectId: string, name: string) =>
    createProjectKey(t.app, actor, projectId, { name, rate_limit_per_minute: null })

  test('the DSN of the project stays; rotating one key leaves the others', async () => {
    const actor = await anActor()
    const { id, dsn } = await aProject(actor)
    const messages = collect('project_key')
    const staging = await createProjectKey(t.app, actor, id, { name: 'Staging', rate_limit_per_minute: 50 })
    expect(staging).toMatchObject({ name: 'Staging', rate_limit_per_minute: 50, is_enabled: true, expires_at: null })
    await waitFor('the message', () =>
      messages.some((payload) => JSON.stringify(payload) === JSON.stringify({ public_key: staging.public_key })),
    )
    expect(await readProjectSettings(t.app, actor, id)).toMatchObject({ dsn, keys: [{ dsn }, { id: staging.id }] })
    const { items } = await listProjects(t.app, actor, { sort: 'name', limit: 1, offset: 0 })
    expect(items).toMatchObject([{ dsn }])

    const rotated = await rotateDsn(t.app, actor, id, 300, staging.id)
    expect(rotated.old_dsn).toBe(staging.dsn)
    const after = await readProjectSettings(t.app, actor, id)
    expect(after.dsn).toBe(dsn)
    expect(after.keys.map((key) => [key.dsn, key.name, key.rate_limit_per_minute, key.expires_at !== null])).toEqual([
      [dsn, 'Default', null, false],
      [rotated.dsn, 'Staging', 50, false],
      [staging.dsn, 'Staging', 50, true],
    ])
    // A replaced key cannot be replaced again.
    await expect(rotateDsn(t.app, actor, id, 0, staging.id)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('are renamed, limited and disabled; an unchanged key leaves no entry', async () => {
    const actor = await anActor()
    const { id, dsn } = await aProject(actor)
    const { id: keyId } = await aKey(actor, id, 'Staging')
    const ids = { projectId: id, keyId }
    expect(await updateProjectKey(t.app, actor, ids, { name: 'Tests', rate_limit_per_minute: 9 })).toMatchObject({
      name: 'Tests',
      rate_limit_per_minute: 9,
    })
    expect(await updateProjectKey(t.app, actor, ids, { is_enabled: false })).toMatchObject({ is_enabled: false })
    await updateProjectKey(t.app, actor, ids, { is_enabled: false, name: 'Tests' })
    expect(await updateProjectKey(t.app, actor, ids, { rate_limit_per_minute: null })).toMatchObject({
      is_enabled: false,
      rate_limit_per_minute: null,
    })
    await expect(updateProjectKey(t.app, actor, ids, { name: 'default' })).rejects.toMatchObject({ code: 'conflict' })
    // The DSN of the project is an active key.
    const first = (await readProjectSettings(t.app, actor, id)).keys[0]?.id ?? ''
    await expect(
      updateProjectKey(t.app, actor, { projectId: id, keyId: first }, { is_enabled: false }),
    ).rejects.toMatchObject({ code: 'conflict' })
    await updateProjectKey(t.app, actor, ids, { is_enabled: true })
    await updateProjectKey(t.app, actor, { projectId: id, keyId: first }, { is_enabled: false })
    const settings = await readProjectSettings(t.app, actor, id)
    expect(settings.dsn).not.toBe(dsn)
    expect(settings.keys).toMatchObject([{ is_enabled: false }, { name: 'Tests', is_enabled: true, dsn: settings.dsn }])
    const { rows } = await t.app.db.query<{ action: string }>({
      text: `select action from audit_log where org_id = $1 and action like 'project.key%' order by seq`,
      values: [actor.orgId],
    })
    expect(rows.map(({ action }) => action)).toEqual([
      'project.key_created',
      ...Array.from({ length: 5 }, () => 'project.key_updated'),
    ])
  })

  test('a removed key ends at once with those that it replaced; the last one stays', async () => {
    const actor = await anActor()
    const { id } = await aProject(actor)
    const first = (await readProjectSettings(t.app, actor, id)).keys[0]?.id ?? ''
    await expect(removeProjectKey(t.app, actor, { projectId: id, keyId: first })).rejects.toMatchObject({
      code: 'conflict',
    })
    const { id: second } = await aKey(actor, id, 'Staging')
    const fresh = await rotateDsn(t.app, actor, id, 300)
    const current = (await readProjectSettings(t.app, actor, id)).keys.find(({ dsn }) => dsn === fresh.dsn)?.id ?? ''
    await removeProjectKey(t.app, actor, { projectId: id, keyId: current })
    const now = t.clock.now().toISOString()
    const { keys } = await readProjectSettings(t.app, actor, id)
    expect(keys.map((key) => [key.id, key.expires_at])).toEqual([
      [current, now],
      [first, now],
      [second, null],
    ])
    await expect(removeProjectKey(t.app, actor, { projectId: id, keyId: current })).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  test('have different names, also when they are added at once, and a number of them is the most', async () => {
    const actor = await anActor()
    const { id } = await aProject(actor)
    const added = await Promise.allSettled([aKey(actor, id, 'Beta'), aKey(actor, id, 'beta')])
    expect(added.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    for (let number = 2; number < MAX_PROJECT_KEYS; number += 1) await aKey(actor, id, `Key ${number}`)
    await expect(aKey(actor, id, 'One more')).rejects.toMatchObject({ code: 'conflict' })
    const stranger = await anActor()
    const missing = { code: 'not_found', message: 'Project not found.' }
    const keyId = (await readProjectSettings(t.app, actor, id)).keys[0]?.id ?? ''
    await expect(aKey(stranger, id, 'Mine')).rejects.toMatchObject(missing)
    await expect(updateProjectKey(t.app, stranger, { projectId: id, keyId }, { name: 'Mine' })).rejects.toMatchObject(
      missing,
    )
    await expect(removeProjectKey(t.app, stranger, { projectId: id, keyId })).rejects.toMatchObject(missing)
  })
})

test('onboarding steps follow from data of the organisation', async () => {
  const actor = await anActor()
  await aProject(await anActor())
  const steps = async () => (await readOnboarding(t.app, actor)).steps
  const none = { project_created: false, sdk_installed: false, first_event: false, team_invited: false }
  expect(await steps()).toEqual(none)
  const { id } = await aProject(actor)
  expect(await steps()).toEqual({ ...none, project_created: true })
  const facts = t.app.db.updateTable('projects').where('id', '=', id)
  await facts.set({ first_request_at: t.clock.now() }).execute()
  expect(await steps()).toEqual({ ...none, project_created: true, sdk_installed: true })
  await facts.set({ first_event_at: t.clock.now() }).execute()
  expect(await readOnboarding(t.app, actor)).toEqual({
    steps: { project_created: true, sdk_installed: true, first_event: true, team_invited: false },
    completed: false,
    regions: [],
    default_region: 'us-east-1',
  })
})

test('projects of other organisations are not found', async () => {
  const { id } = await aProject(await anActor())
  const stranger = await anActor()
  const missing = { code: 'not_found', message: 'Project not found.' }
  await expect(readProjectSettings(t.app, stranger, id)).rejects.toMatchObject(missing)
  await expect(updateProjectSettings(t.app, stranger, id, { name: 'Mine' })).rejects.toMatchObject(missing)
  await expect(rotateDsn(t.app, stranger, id, 0)).rejects.toMatchObject(missing)
  const keys = await t.app.db.selectFrom('project_keys').select('expires_at').where('project_id', '=', id).execute()
  expect(keys).toEqual([{ expires_at: null }])
})
