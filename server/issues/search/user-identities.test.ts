import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { aPerson, type Person } from '#test/kit/members.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testApp } from '#test/kit/test-app.ts'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { hashUser } from '../../events/protocol/user.ts'
import type { Fact } from './facts.ts'
import { searchIssues } from './list-issues.ts'
import { forgetIdentities, purgeIdentities, writeIdentities } from './write-index-terms.ts'
import { selectUsersIdentified } from './user-identities.queries.ts'

const { app } = await testApp()
const { db } = app
const today = utcDay(app.clock.now())
let member: Person
let projectId: string
let issueIds: string[]

async function aProjectOf(owner: Person): Promise<string> {
  const id = newId()
  await db
    .insertInto('projects')
    .values({
      id,
      org_id: owner.actor.orgId,
      name: 'Shop',
      slug: `shop-${id.slice(-6)}`,
      platform: 'web',
      region: 'eu-central-1',
      created_at: app.clock.now(),
    })
    .execute()
  return id
}

beforeAll(async () => {
  member = await aPerson(app)
  projectId = await aProjectOf(member)
  issueIds = await seedIssues(app, projectId, 50)
})

const said = (user: string | null, ...facts: Fact[]) => ({
  facts,
  event: { projectId, userHash: user === null ? null : hashUser(projectId, user) },
})
const write = (...events: ReturnType<typeof said>[]) =>
  app.tx((tx) => Promise.resolve(writeIdentities(tx, app.clock.now(), events)))
const stored = async (user: string) =>
  (
    await db
      .selectFrom('user_identities')
      .select(['key', 'value', 'seen_day'])
      .where('user_hash', '=', hashUser(projectId, user))
      .orderBy('key')
      .orderBy('value')
      .execute()
  ).map(({ key, value, seen_day: day }) => `${key} ${value} ${day}`)
const affect = (issueId: string | undefined, ...users: string[]) =>
  db.query('insert into issue_users (group_id, user_hash) select $1, * from unnest($2::bigint[])', [
    issueId,
    users.map((user) => hashUser(projectId, user)),
  ])
const search = async (q: string, actor = member.actor) =>
  (await searchIssues(app, actor, { q, sort: '-last_seen', limit: 100, offset: 0 })).items.map(({ id }) => id)

describe('writing', () => {
  test('stores each value of a user once, folded, and nothing of other facts or without a user', async () => {
    const email: Fact = ['user.email', 'ADA@Example.com']
    await write(said('ada', email, ['user.ip', '10.0.0.1'], ['tenant', 'acme']), said('ada', email), said(null, email))
    await write(said('ada', ['user.email', 'ada@example.COM']), said('eve', email))
    expect(await stored('ada')).toEqual([`user.email ada@example.com ${today}`, `user.ip 10.0.0.1 ${today}`])
    expect(await stored('eve')).toHaveLength(1)
  })

  test('happens again after a rollback, and not without a reason', async () => {
    const event = said('bob', ['user.username', 'Bob'])
    const failed = app.tx((tx) => {
      writeIdentities(tx, app.clock.now(), [event])
      return Promise.reject(new Error('rolled back'))
    })
    await expect(failed).rejects.toThrow('rolled back')
    // Remembered, although it was not stored: the caller says that it was rolled back.
    await write(event)
    expect(await stored('bob')).toEqual([])
    forgetIdentities()
    await write(event)
    expect(await stored('bob')).toHaveLength(1)
  })

  test('renews the day of a value once a week', async () => {
    const event = said('cleo', ['user.username', 'cleo'])
    for (const [age, renewed] of [
      [7, false],
      [8, true],
    ] as const) {
      const before = dayPlus(today, -age)
      forgetIdentities()
      await write(event)
      await db.query('update user_identities set seen_day = $2 where user_hash = $1', [
        hashUser(projectId, 'cleo'),
        before,
      ])
      forgetIdentities()
      await write(event)
      expect(await stored('cleo')).toEqual([`user.username cleo ${renewed ? today : before}`])
    }
  })

  test('the same values in two transactions wait for each other and do not fail', async () => {
    const events = Array.from({ length: 40 }, (_, i) => said(`both${i}`, ['user.ip', `10.1.0.${i}`]))
    const other = (all: typeof events) =>
      app.tx((tx) => {
        forgetIdentities()
        return Promise.resolve(writeIdentities(tx, app.clock.now(), all))
      })
    await Promise.all([other(events), other(events.toReversed()), other(events)])
    expect(await stored('both39')).toHaveLength(1)
  })
})

describe('searching', () => {
  const MANY = 10_001
  const [common, network] = ['192.0.2.1', '198.51.100']

  beforeAll(async () => {
    await write(
      said('fay', ['user.email', 'fay@example.com'], ['user.ip', common]),
      said('gus', ['user.email', 'gus@example.com'], ['user.username', '50%_off']),
    )
    await affect(issueIds[0], 'fay')
    await affect(issueIds[1], 'fay', 'gus')
    // Users that share an address, and users of a network.
    await db.query(
      `insert into user_identities (project_id, user_hash, seen_day, key, value)
       select $1::uuid, g, $2::date, 'user.ip', v from generate_series(1, $3::int) g, unnest(array[$4, $5 || '.' || g]) v`,
      [projectId, today, MANY, common, network],
    )
    await db.query('insert into issue_users (group_id, user_hash) values ($1, 77)', [issueIds[2]])
    await db.query('analyze user_identities')
  })

  test.each<[string, number[]]>([
    ['user.email:fay@example.com', [0, 1]],
    ['user.email:[FAY@example.com, gus@example.com]', [0, 1]],
    ['user.email:gus* -user.email:zoe', [1]],
    ['user.email:f*@example.com', [0, 1]],
    ['user.email:*', []],
    ['user.name:50%_*', [1]],
    ['user.username:50*off', [1]],
    ['user.username:5_%*', []],
    ['user.email:fay@example.com -user.email:gus@example.com', [0]],
    ['user.email:gus@example.com OR user.ip:198.51.100.77', [1, 2]],
    ['gus@example.com', [1]],
    ['198.51.100.77', [2]],
    ['gus@example.com is:resolved', []],
    // More users than are read: each issue's users are compared.
    [`user.ip:${common}`, [0, 1, 2]],
    [`user.ip:${common} -user.email:gus@example.com`, [0, 2]],
    // Too many users for a text.
    [common, []],
  ])('%s', async (q, expected) => {
    expect(new Set(await search(q))).toEqual(new Set(expected.map((at) => issueIds[at])))
  })

  test('finds nothing of another organisation', async () => {
    const stranger = await aPerson(app)
    const theirs = await seedIssues(app, await aProjectOf(stranger), 1)
    await affect(theirs[0], 'gus')
    for (const q of ['user.email:gus@example.com', 'user.email:gus*', 'gus@example.com', `user.ip:${common}`])
      expect(await search(q, stranger.actor), q).toEqual([])
  })

  test.each([
    [`user.ip:${network}.*`, 1],
    [`is:resolved user.ip:[${network}.*, 10.0.0.1]`, 13],
    [`user.ip:${network}.*7`, 1],
    [`user.ip:${network}.1* user.ip:${network}.2* user.ip:${network}.*`, 45],
  ])('refuses patterns of too many users: %s', async (q, place) => {
    await expect(search(q)).rejects.toThrow(
      new RegExp(`would search more than 10,000 users; write more before the \\* \\(character ${place}\\)`),
    )
  })

  test('reads the index of values, and writes too', async () => {
    const statements: string[] = []
    const explain = async (statement: string) => {
      const { rows } = await sql<{ 'QUERY PLAN': string }>`${sql.raw(`explain ${statement}`)}`.execute(db)
      statements.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
    }
    await explain(
      `select user_hash from user_identities where project_id = any('{${projectId}}') and key = any('{user.ip}') and value like '198.51.100.7%'`,
    )
    expect(statements.join('\n')).toMatch(
      /Index (Only )?Scan using user_identities_pkey|Bitmap Index Scan on user_identities_pkey/,
    )
    const filter = {
      projectIds: [projectId],
      keys: ['user.ip'] as const,
      values: [{ text: '198.51.100.77*', glob: true }],
    }
    // .77, .770 to .779, .7700 to .7799
    expect(await selectUsersIdentified(db, filter, 1_000)).toMatchObject({ read: 111 })
    expect(await selectUsersIdentified(db, filter, 110)).toBeNull()
  })
})

test('the purge deletes identities of users that no issue has any more, and of deleted projects', async () => {
  await write(
    said('hal', ['user.username', 'hal']),
    said('ivy', ['user.username', 'ivy']),
    said('jim', ['user.ip', '::1']),
  )
  await affect(issueIds[3], 'ivy')
  const age = (user: string, days: number) =>
    db.query('update user_identities set seen_day = $2 where user_hash = $1', [
      hashUser(projectId, user),
      dayPlus(today, -days),
    ])
  // Another process may remember that it was written.
  await age('hal', 9)
  await age('ivy', 100)
  await age('jim', 10)
  expect(await purgeIdentities(app)).toBe(1)
  expect([await stored('hal'), await stored('ivy'), await stored('jim')].map((rows) => rows.length)).toEqual([1, 1, 0])
  await db.query(`update user_identities set project_id = $1 where user_hash = $2`, [
    newId(),
    hashUser(projectId, 'ivy'),
  ])
  expect(await purgeIdentities(app)).toBe(1)
})
