import { expect, test } from 'vitest'
import { logInWithPassword as logIn } from '#test/kit/log-in.ts'
import { aCaller, aMembership, aPerson, anOrg } from '#test/kit/members.ts'
import { queuedMails } from '#test/kit/queued-mails.ts'
import { testApp } from '#test/kit/test-app.ts'
import { createKey } from '../api-keys/create-key.ts'
import { actorOfKey } from '../api-keys/key-actor.ts'
import { refreshSession } from '../auth/refresh-session.ts'
import { deleteAccount } from './delete-account.ts'

const t = await testApp()
const { app } = t

test('a deleted account can do nothing any more, and its organisations keep an entry', async () => {
  const owner = await aPerson(app)
  const org = { id: owner.actor.orgId, slug: owner.orgSlug }
  const person = await aPerson(app, { role: 'member', org })
  await expect(deleteAccount(app, person.actor, {})).rejects.toMatchObject({ code: 'invalid' })
  await expect(deleteAccount(app, person.actor, { password: 'wrong' })).rejects.toMatchObject({ code: 'invalid' })
  const { key } = await createKey(app, person.actor, { name: 'CI', scopes: ['read'] })
  await deleteAccount(app, person.actor, { password: person.password })
  await expect(actorOfKey(app, key, aCaller())).rejects.toMatchObject({ code: 'unauthenticated' })
  await expect(refreshSession(app, person.tokens.refreshToken, aCaller())).rejects.toMatchObject({
    code: 'unauthenticated',
  })
  await expect(logIn(app, { email: person.email, password: person.password }, aCaller())).rejects.toMatchObject({
    code: 'unauthenticated',
  })
  const { rows } = await app.db.query<{ table_name: string; n: string }>(
    `select 'users' as table_name, count(*) as n from users where id = $1
     union all select 'memberships', count(*) from memberships where user_id = $1
     union all select 'sessions', count(*) from sessions where user_id = $1`,
    [person.actor.userId],
  )
  expect(rows.map(({ n }) => Number(n))).toEqual([0, 0, 0])
  const entries = await app.db.query<{ action: string }>(
    'select action from audit_log where org_id = $1 order by seq',
    [org.id],
  )
  expect(entries.rows.map(({ action }) => action)).toEqual([
    'api_key.created',
    'session.revoked',
    'api_key.revoked',
    'user.deleted',
  ])
  expect((await queuedMails(app, person.email)).map(({ subject }) => subject)).toEqual([
    'Your Faultline account was deleted',
  ])
  // The address is free again.
  await expect(aPerson(app, { email: person.email })).resolves.toBeDefined()
})

test('the only owner of an organisation stays until there is another one', async () => {
  const person = await aPerson(app, { role: 'member', org: await anOrg(app) })
  const owned = await aMembership(app, person, { role: 'owner' })
  await expect(deleteAccount(app, person.actor, { password: person.password })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('the only member of') as string,
  })
  const other = await aPerson(app, { role: 'owner', org: { id: owned.actor.orgId, slug: owned.orgSlug } })
  await deleteAccount(app, person.actor, { password: person.password })
  await expect(deleteAccount(app, other.actor, { password: other.password })).rejects.toMatchObject({
    code: 'conflict',
  })
})

test('of two owners who leave at the same moment one stays', async () => {
  for (let round = 0; round < 5; round++) {
    const first = await aPerson(app)
    const second = await aPerson(app, { role: 'owner', org: { id: first.actor.orgId, slug: first.orgSlug } })
    const results = await Promise.allSettled(
      [first, second].map((person) => deleteAccount(app, person.actor, { password: person.password })),
    )
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  }
})
