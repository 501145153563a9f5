import { describe, expect, test } from 'vitest'
import { SCOPES } from '#shared/permissions.ts'
import { everythingStored } from '#test/kit/everything-stored.ts'
import { interceptedApp } from '#test/kit/intercepted-app.ts'
import { aCaller, aPerson, type Person } from '#test/kit/members.ts'
import { secondApp } from '#test/kit/second-app.ts'
import { testApp } from '#test/kit/test-app.ts'
import { createAuthenticator } from '../auth/authenticate.ts'
import { createKey, parseScopes } from './create-key.ts'
import { deleteKey } from './delete-key.ts'
import { actorOfKey } from './key-actor.ts'
import { isKey, newKey } from './key-format.ts'
import { listKeys } from './list-keys.ts'

const t = await testApp()
const { app, clock } = t
const second = await secondApp(t)
const MINUTE_MS = 60_000

const page = { limit: 25, offset: 0, sort: '-created_at' } as const
const aKey = (person: Person, scopes: string[] = ['read'], more: { expires_at?: string } = {}) =>
  createKey(app, person.actor, { name: 'CI', scopes, ...more })
const ask = async (key: string, where = app) => (await actorOfKey(where, key, aCaller())).actor
const refused = { code: 'unauthenticated' }

describe('the form', () => {
  test('is what scanners look for, and every mistyped character is found', () => {
    for (let n = 0; n < 200; n++) {
      const key = newKey()
      expect(key).toMatch(/^svc_[0-9A-Za-z]{8}_[0-9A-Za-z]{38}$/)
      expect(isKey(key)).toBe(true)
      const at = 4 + (n % (key.length - 4))
      const typo = key.slice(0, at) + (key.charAt(at) === 'a' ? 'b' : 'a') + key.slice(at + 1)
      expect(isKey(typo), typo).toBe(false)
    }
    const key = newKey()
    for (const wrong of ['', 'svc_', key.slice(1), `${key}0`, key.toUpperCase(), ` ${key}`, `${key}\n`])
      expect(isKey(wrong), wrong).toBe(false)
  })

  test('the checksum is the CRC-32 of all before, as published', () => {
    // crc32("svc_00000000_" + 32 zeros), computed with Python's zlib.
    const body = `svc_00000000_${'0'.repeat(32)}`
    expect(isKey(`${body}1vbHU7`)).toBe(true)
  })

  test('a key with a wrong checksum costs no query', async () => {
    const key = newKey()
    const statements: string[] = []
    const watched = interceptedApp(t, (statement, run) => {
      statements.push(statement)
      return run()
    })
    await expect(
      actorOfKey(watched, `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`, aCaller()),
    ).rejects.toMatchObject(refused)
    expect(statements).toEqual([])
    await expect(actorOfKey(watched, key, aCaller())).rejects.toMatchObject(refused)
    expect(statements).toHaveLength(1)
  })
})

describe('scopes', () => {
  test('aliases and singular spellings', () => {
    expect(parseScopes(['read'])).toEqual(SCOPES.filter((scope) => scope.endsWith(':read')))
    expect(parseScopes(['write'])).toEqual(SCOPES.filter((scope) => /:(?:read|write)$/.test(scope)))
    expect(parseScopes(['admin'])).toEqual(SCOPES)
    expect(parseScopes(['issue:write', 'issues:read', 'issue:read', 'metric:read'])).toEqual([
      'issues:read',
      'issues:write',
      'metrics:read',
    ])
    expect(parseScopes(['ai:use', 'team:read'])).toEqual(['ai:use', 'team:read'])
  })

  test.each(['', 'issues', 'issues:*', 'ISSUES:READ', 'teams:read', 'issuess:read', 'constructor', '__proto__'])(
    'unknown: %s',
    (name) => {
      expect(() => parseScopes([name])).toThrow(expect.objectContaining({ code: 'invalid' }))
    },
  )
})

test('the key is shown once, and neither database nor log hold it', async () => {
  const person = await aPerson(app)
  const made = await aKey(person, ['issue:read'])
  expect(made).toEqual({
    id: made.id,
    name: 'CI',
    scopes: ['issues:read'],
    prefix: made.key.slice(0, 12),
    key: made.key,
    expires_at: null,
    created_at: made.created_at,
  })
  const { items } = await listKeys(app, person.actor, page)
  expect(items).toMatchObject([{ id: made.id, prefix: made.prefix, last_used_at: null }])
  expect(JSON.stringify(items)).not.toContain(made.key)
  const stored = await everythingStored(app.db)
  expect(stored).toContain(made.prefix)
  expect(stored).not.toContain(made.key.slice(13))
  expect(JSON.stringify(t.logLines)).not.toContain(made.key.slice(13))
})

test('acts as its member, with the role of now', async () => {
  const person = await aPerson(app, { role: 'admin' })
  const { key, id } = await aKey(person, ['write'])
  const { userId, name, orgId } = person.actor
  expect(await ask(key)).toEqual({
    kind: 'api_key',
    userId,
    name,
    orgId,
    role: 'admin',
    keyId: id,
    scopes: parseScopes(['write']),
    ...aCaller(),
  })
  await app.db.updateTable('memberships').set({ role: 'viewer' }).where('user_id', '=', userId).execute()
  for (const where of [app, second]) expect(await ask(key, where)).toMatchObject({ role: 'viewer' })
  await app.db.updateTable('users').set({ disabled_at: clock.now() }).where('id', '=', userId).execute()
  await expect(ask(key)).rejects.toMatchObject(refused)
})

test('deleting it takes effect at once in every process, also for calls under way', async () => {
  const person = await aPerson(app)
  const { key, id } = await aKey(person)
  expect(await ask(key, second)).toMatchObject({ keyId: id })
  const [, ...during] = await Promise.allSettled([
    deleteKey(app, person.actor, id),
    ...Array.from({ length: 20 }, (_, n) => ask(key, n % 2 === 0 ? app : second)),
  ])
  for (const one of during) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'unauthenticated' })
  for (const where of [app, second]) await expect(ask(key, where)).rejects.toMatchObject(refused)
  await expect(deleteKey(app, person.actor, id)).rejects.toMatchObject({ code: 'not_found' })
})

test('only its own member sees and deletes it, in its own organisation', async () => {
  const owner = await aPerson(app)
  const org = { id: owner.actor.orgId, slug: owner.orgSlug }
  const member = await aPerson(app, { role: 'member', org })
  const { id } = await aKey(member)
  expect((await listKeys(app, owner.actor, page)).total).toBe(0)
  await expect(deleteKey(app, owner.actor, id)).rejects.toMatchObject({ code: 'not_found' })
  expect((await listKeys(app, member.actor, page)).total).toBe(1)
})

test('an expired key is refused; an expiry lies in the future', async () => {
  const person = await aPerson(app)
  await expect(aKey(person, ['read'], { expires_at: clock.now().toISOString() })).rejects.toMatchObject({
    code: 'invalid',
  })
  const { key } = await aKey(person, ['read'], {
    expires_at: new Date(clock.now().getTime() + MINUTE_MS).toISOString(),
  })
  await ask(key)
  clock.advance(MINUTE_MS)
  await expect(ask(key)).rejects.toMatchObject({ ...refused, message: expect.stringContaining('expired') as unknown })
})

test('the last use is written at most once a minute', async () => {
  const person = await aPerson(app)
  const { key, id } = await aKey(person)
  const versionOf = async () =>
    (await app.db.query<{ xmin: string }>('select xmin::text from api_keys where id = $1', [id])).rows[0]?.xmin
  await ask(key)
  const written = await versionOf()
  const used = (await listKeys(app, person.actor, page)).items[0]?.last_used_at
  expect(used).toBe(clock.now().toISOString())
  await Promise.all(Array.from({ length: 10 }, () => ask(key)))
  clock.advance(MINUTE_MS - 1)
  await ask(key)
  expect(await versionOf()).toBe(written)
  clock.advance(1)
  await Promise.all(Array.from({ length: 10 }, (_, n) => ask(key, n % 2 === 0 ? app : second)))
  expect((await listKeys(app, person.actor, page)).items[0]?.last_used_at).toBe(clock.now().toISOString())
})

test('a user has at most 50 keys, also of parallel requests', async () => {
  const person = await aPerson(app)
  const results = await Promise.allSettled(Array.from({ length: 55 }, () => aKey(person)))
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(50)
  await expect(aKey(person)).rejects.toMatchObject({ code: 'conflict' })
})

test('a key is taken over a valid cookie, and not without Bearer', async () => {
  const person = await aPerson(app)
  const { key, id } = await aKey(person)
  const authenticator = createAuthenticator(app)
  const accessToken = person.tokens.accessToken
  const asked = (authorization: string) => authenticator.authenticate({ authorization, accessToken }, aCaller())
  expect(await asked(`Bearer ${key}`)).toMatchObject({ viaCookie: false, actor: { keyId: id } })
  expect(await asked(`bearer   ${key}  `)).toMatchObject({ actor: { keyId: id } })
  expect(await asked(`Basic ${key}`)).toMatchObject({ viaCookie: true })
  for (const wrong of [`Bearer ${key}x`, `Bearer ${key} ${key}`, `Bearer ${newKey()}`, 'Bearer', 'Bearer\t'])
    await expect(asked(wrong)).rejects.toMatchObject(refused)
  authenticator.close()
})
