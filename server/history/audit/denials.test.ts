import { beforeEach, describe, expect, test } from 'vitest'
import { aCaller, aMembership, aPerson, type Person } from '#test/kit/members.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { AuditEntry } from './audit.api.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { countDenial, flushDenials, flushEnded, MAX_ORGS_PER_TX, SHARE, ACCOUNT_SHARE } from './denials.ts'
import { changePassword } from '../../identity/accounts/change-password.ts'
import { listAuditLog } from './list-audit-log.ts'

const t = await testServer()
const { app } = t

let ada: Person
beforeEach(async () => {
  await flushDenials(app)
  ada = await aPerson(app)
})

const REFUSALS = ['signin.failed', 'signin.locked', 'access.denied', 'ratelimit.exceeded']

/** Entries of refused requests, oldest first. */
async function refusalsOf({ actor }: Pick<Person, 'actor'>): Promise<AuditEntry[]> {
  const { items } = await listAuditLog(app, actor, { limit: 100, offset: 0 })
  return items.filter(({ action }) => REFUSALS.includes(action)).toReversed()
}

const logIn = (email: string, password = 'wrong', headers = {}) =>
  fetch(`${t.url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'Firefox', ...headers },
    body: JSON.stringify({ email, password }),
  })

const quota = (person: Person, headers = {}) =>
  fetch(`${t.url}/api/organization/quota`, {
    method: 'PATCH',
    headers: { cookie: person.cookie, 'content-type': 'application/json', ...headers },
    body: '{}',
  })

test('failed log-ins of one account and address within a minute are one entry, when the minute ends', async () => {
  for (const password of ['one', 'two', 'three']) expect((await logIn(ada.email, password)).status).toBe(401)
  await logIn('unknown@example.com')
  await flushEnded(app)
  expect(await refusalsOf(ada)).toEqual([])
  t.clock.advance(60_000)
  await flushEnded(app)
  const [entry, ...others] = await refusalsOf(ada)
  expect(others).toEqual([])
  expect(entry).toMatchObject({
    action: 'signin.failed',
    event_type: null,
    actor: { type: 'user', id: null, email: null, role: null },
    target: { type: 'user', id: ada.actor.userId, label: ada.email },
    ip: '127.0.0.1',
    user_agent: 'Firefox',
    session_id: null,
    outcome: 'failed',
    meta: { count: 3, first_at: expect.any(String) as string, last_at: expect.any(String) as string },
  })
  expect(JSON.stringify(entry)).not.toMatch(/one"|two|three|unknown/)
})

test('a wrong current password is an entry of the signed-in user, that of a disabled account has no actor', async () => {
  const wrong = { currentPassword: 'wrong', newPassword: 'another horse battery' }
  await expect(changePassword(app, ada.actor, wrong)).rejects.toMatchObject({ code: 'invalid' })
  await flushDenials(app)
  const target = { type: 'user', id: ada.actor.userId, label: ada.email }
  expect(await refusalsOf(ada)).toMatchObject([
    {
      action: 'signin.failed',
      actor: { id: ada.actor.userId, email: ada.email, role: 'owner' },
      target,
      session_id: ada.actor.sessionId,
    },
  ])
  for (const table of ['memberships', 'users']) {
    await app.db.query(`update ${table} set disabled_at = now() where ${table === 'users' ? 'id' : 'user_id'} = $1`, [
      ada.actor.userId,
    ])
    const { status } = await logIn(ada.email, ada.password)
    expect(status).toBe(table === 'users' ? 401 : 403)
    await flushDenials(app)
  }
  const unknown = { action: 'signin.failed', actor: { id: null, email: null }, target }
  expect((await refusalsOf(ada)).slice(1)).toMatchObject([unknown, unknown])
})

test('every organisation of the account has the entry', async () => {
  const other = await aMembership(app, ada)
  await logIn(ada.email)
  await flushDenials(app)
  for (const orgId of [ada.actor.orgId, other.actor.orgId])
    expect((await refusalsOf({ actor: { ...ada.actor, orgId } })).map(({ action }) => action)).toEqual([
      'signin.failed',
    ])
})

test('limits: exceeding that of account and address, and the lock of the account', async () => {
  for (let n = 0; n < 7; n++) await logIn(ada.email)
  await flushDenials(app)
  expect(await refusalsOf(ada)).toMatchObject([
    { action: 'signin.failed', meta: { count: 5 } },
    { action: 'ratelimit.exceeded', outcome: 'denied', meta: { count: 2, limits: ['login'] } },
  ])
  const eve = await aPerson(app)
  // From many networks, as a botnet does.
  await app.db.query(`update attempt_counters set attempts = 50 where bucket = 'login-account'`)
  await app.db.query(`delete from attempt_counters where bucket = 'login'`)
  expect((await logIn(eve.email)).status).toBe(401)
  await app.db.query(`update attempt_counters set attempts = 50 where bucket = 'login-account'`)
  expect((await logIn(eve.email)).status).toBe(429)
  await flushDenials(app)
  expect((await refusalsOf(eve)).map(({ action, meta }) => [action, meta['limits']])).toEqual(
    expect.arrayContaining([
      ['signin.locked', undefined],
      ['ratelimit.exceeded', ['login-account']],
    ]),
  )
})

test('what a role may not do, and a call from another site, are one entry per actor', async () => {
  const bob = await aPerson(app, { role: 'member', org: { id: ada.actor.orgId, slug: ada.orgSlug } })
  for (let n = 0; n < 3; n++) expect((await quota(bob)).status).toBe(403)
  await flushDenials(app)
  const [entry, ...others] = await refusalsOf(ada)
  expect(others).toEqual([])
  expect(entry).toMatchObject({
    action: 'access.denied',
    actor: { type: 'user', id: bob.actor.userId, email: bob.email, role: 'member' },
    target: { type: 'route', id: null, label: 'PATCH /api/organization/quota' },
    session_id: bob.actor.sessionId,
    outcome: 'denied',
    meta: { count: 3, routes: ['PATCH /api/organization/quota'] },
  })
  expect((await quota(ada, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  await fetch(`${t.url}/api/audit-log`, { headers: { cookie: bob.cookie } })
  expect((await quota(bob)).status).toBe(403)
  await flushDenials(app)
  expect((await refusalsOf(ada)).slice(1)).toMatchObject([
    { actor: { email: ada.email }, target: { label: 'PATCH /api/organization/quota' } },
    {
      actor: { email: bob.email },
      target: { label: null },
      meta: { routes: ['GET /api/audit-log', 'PATCH /api/organization/quota'] },
    },
  ])
})

describe('an attack', () => {
  test('from many addresses on one account', async () => {
    for (let n = 0; n < 500; n++) {
      const caller = aCaller({ ip: `198.51.100.${n % 250}` })
      countDenial(app, 'signin.failed', { userId: ada.actor.userId, caller })
    }
    await flushDenials(app)
    const entries = await refusalsOf(ada)
    expect(entries).toHaveLength(ACCOUNT_SHARE + 1)
    expect(entries.reduce((sum, { meta }) => sum + Number(meta['count']), 0)).toBe(500)
    expect(entries.filter(({ meta }) => meta['shared'] !== undefined)).toMatchObject([
      { actor: { email: null }, target: { label: ada.email }, ip: null, meta: { shared: 'addresses', count: 460 } },
    ])
  })

  test('on many accounts of one organisation', async () => {
    const org = { id: ada.actor.orgId, slug: ada.orgSlug }
    const accounts = await Promise.all(Array.from({ length: SHARE + 5 }, () => aPerson(app, { role: 'viewer', org })))
    for (const { actor } of accounts) countDenial(app, 'signin.failed', { userId: actor.userId, caller: aCaller() })
    for (const { actor } of accounts) countDenial(app, 'access.denied', { actor }, { name: 'routes', value: 'GET /x' })
    await flushDenials(app)
    const entries = await refusalsOf(ada)
    expect(entries.length).toBeLessThanOrEqual(SHARE + 2)
    expect(entries.reduce((sum, { meta }) => sum + Number(meta['count']), 0)).toBe(2 * accounts.length)
    for (const entry of entries.filter(({ meta }) => meta['shared'] === 'actors'))
      expect(entry).toMatchObject({ actor: { id: null, email: null }, target: { id: null }, ip: null })
  })
})

test('what the database refuses is in the next entries', async () => {
  await app.db.query(`create function no() returns trigger language plpgsql as $$ begin raise 'away'; end $$`)
  await app.db.query('create trigger no before insert on audit_log for each row execute function no()')
  countDenial(app, 'access.denied', { actor: ada.actor }, { name: 'routes', value: 'GET /a' })
  await flushDenials(app)
  countDenial(app, 'access.denied', { actor: ada.actor }, { name: 'routes', value: 'GET /b' })
  await app.db.query('drop trigger no on audit_log')
  await flushDenials(app)
  expect(await refusalsOf(ada)).toMatchObject([{ meta: { count: 2, routes: ['GET /a', 'GET /b'] } }])
})

test('many organisations are written in transactions of few, and a part that fails keeps only itself', async () => {
  const orgIds = Array.from({ length: 120 }, () => newId())
  await app.db.query(`create function no_such() returns trigger language plpgsql as $$ begin raise 'away'; end $$`)
  await app.db.query(
    `create trigger no_such before insert on audit_log for each row when (new.org_id = '${orgIds[0]}') execute function no_such()`,
  )
  const written = async (): Promise<{ org_id: string; count: number; tx: string }[]> => {
    const { rows } = await app.db.query<{ org_id: string; count: number; tx: string }>(
      `select org_id, (meta::json ->> 'count')::int as count, xmin::text as tx from audit_log where org_id = any($1::uuid[])`,
      [orgIds],
    )
    return rows
  }
  for (const orgId of orgIds) countDenial(app, 'access.denied', { actor: { ...ada.actor, orgId } })
  await flushDenials(app)
  expect(await written()).toHaveLength(120 - MAX_ORGS_PER_TX)
  await app.db.query('drop trigger no_such on audit_log')
  await flushDenials(app)
  await flushDenials(app)
  const rows = await written()
  expect(rows.map(({ count }) => count)).toEqual(orgIds.map(() => 1))
  expect([...Map.groupBy(rows, ({ tx }) => tx).values()].map((part) => part.length).toSorted((a, b) => a - b)).toEqual([
    20, 50, 50,
  ])
})

test('an entry of an account that failed in one organisation is not repeated in the others', async () => {
  const eve = await aPerson(app)
  const orgIds = [eve.actor.orgId]
  for (let n = 0; n < MAX_ORGS_PER_TX; n++) orgIds.push((await aMembership(app, eve)).actor.orgId)
  await app.db.query(`create function no_more() returns trigger language plpgsql as $$ begin raise 'away'; end $$`)
  await app.db.query(
    `create trigger no_more before insert on audit_log for each row when (new.org_id = '${orgIds[0]}') execute function no_more()`,
  )
  const fail = (): void =>
    countDenial(app, 'signin.failed', { userId: eve.actor.userId, caller: aCaller({ ip: '192.0.2.7' }) })
  fail()
  await flushDenials(app)
  fail()
  await app.db.query('drop trigger no_more on audit_log')
  await flushDenials(app)
  const { rows } = await app.db.query<{ org_id: string; count: number }>(
    `select org_id, sum((meta::json ->> 'count')::int)::int as count from audit_log where org_id = any($1::uuid[]) group by org_id`,
    [orgIds],
  )
  expect(rows.map(({ count }) => count)).toEqual(orgIds.map(() => 2))
})
