import { expect, test } from 'vitest'
import { aCaller, aMembership, aPerson, type Person } from '#test/kit/members.ts'
import { secondApp } from '#test/kit/second-app.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { Role } from '#shared/permissions.ts'
import { deleteAccount } from '../accounts/delete-account.ts'
import { actorOfKey } from '../api-keys/key-actor.ts'
import { createKey } from '../api-keys/create-key.ts'
import { listAuditLog } from '../../history/audit/list-audit-log.ts'
import { createAuthenticator } from '../auth/authenticate.ts'
import { liveSession } from '../auth/session-cache.ts'
import { readMe } from '../auth/read-me.ts'
import { refreshSession } from '../auth/refresh-session.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { anInvite } from '#test/kit/invites.ts'
import { acceptInvite } from './accept-invite.ts'
import { changeMember } from './change-member.ts'
import { listMembers } from './list-members.ts'
import { renameOrg } from './rename-org.ts'
import { removeMember } from './remove-member.ts'

// The clock stands still, so that no cache ends by itself.
const t = await testApp()
const { app } = t
const second = await secondApp(t)

const team = async (roles: readonly Role[]): Promise<Person[]> => {
  const owner = await aPerson(app)
  const org = { id: owner.actor.orgId, slug: owner.orgSlug }
  return [owner, ...(await Promise.all(roles.map((role) => aPerson(app, { role, org }))))]
}
const aTeam = async (role: Role): Promise<[Person, Person]> => {
  const [owner, member] = await team([role])
  if (owner === undefined || member === undefined) throw new Error('no team')
  return [owner, member]
}
const page = { limit: 25, offset: 0, sort: 'name', state: 'all' } as const
const activeOwners = async (of: Person) =>
  (await listMembers(app, of.actor, page)).items.filter((one) => one.role === 'owner' && one.disabled_at === null)
    .length
const idOf = ({ actor }: Person) => actor.userId
const actions = async (of: Person) =>
  (await listAuditLog(app, of.actor, { limit: 50, offset: 0 })).items.map(({ action }) => action).toReversed()

test('a new role ends the sessions of the member there, at once here and within a second elsewhere', async () => {
  const [owner, member] = await aTeam('admin')
  const elsewhere = await aMembership(app, member)
  for (const where of [app, second]) expect(await liveSession(where, member.actor.sessionId)).not.toBeNull()
  const { member: shown, tokens } = await changeMember(app, owner.actor, idOf(member), { role: 'viewer' })
  expect({ role: shown.role, tokens }).toEqual({ role: 'viewer', tokens: null })
  expect(await liveSession(app, member.actor.sessionId)).toBeNull()
  await waitFor('the other process', async () => (await liveSession(second, member.actor.sessionId)) === null)
  await expect(refreshSession(second, member.tokens.refreshToken, aCaller())).rejects.toMatchObject({
    code: 'unauthenticated',
  })
  expect(await liveSession(app, elsewhere.actor.sessionId)).toMatchObject({ role: 'member' })
  expect(await actions(owner)).toEqual(['member.role_changed', 'session.revoked'])
})

test('the same role changes nothing', async () => {
  const [owner, member] = await aTeam('admin')
  await changeMember(app, owner.actor, idOf(member), { role: 'admin', disabled: false })
  expect(await liveSession(app, member.actor.sessionId)).toMatchObject({ role: 'admin' })
  expect(await actions(owner)).toEqual([])
})

test('who changes their own role continues with a new session that ends no later', async () => {
  const [owner] = await team(['owner'])
  if (owner === undefined) throw new Error('no owner')
  const before = await liveSession(app, owner.actor.sessionId)
  const { tokens } = await changeMember(app, owner.actor, idOf(owner), { role: 'admin' })
  expect(await liveSession(app, owner.actor.sessionId)).toBeNull()
  const authenticator = createAuthenticator(app)
  const now = await authenticator.authenticate({ authorization: null, accessToken: tokens?.accessToken }, aCaller())
  authenticator.close()
  expect(now?.actor).toMatchObject({ userId: idOf(owner), role: 'admin' })
  const session = now?.viaCookie === true ? await liveSession(app, now.actor.sessionId) : null
  expect(session?.expiresAt).toEqual(before?.expiresAt)
})

test('a disabled member has no session and no key, is listed as such, and comes back when enabled', async () => {
  const [owner, member] = await aTeam('member')
  const { key } = await createKey(app, member.actor, { name: 'CI', scopes: ['read'] })
  await changeMember(app, owner.actor, idOf(member), { disabled: true })
  expect(await liveSession(app, member.actor.sessionId)).toBeNull()
  await expect(actorOfKey(second, key, aCaller())).rejects.toMatchObject({ code: 'unauthenticated' })
  const states = await Promise.all(
    (['active', 'disabled', 'all'] as const).map(
      async (state) => (await listMembers(app, owner.actor, { ...page, state })).total,
    ),
  )
  expect(states).toEqual([1, 1, 2])
  await changeMember(app, owner.actor, idOf(member), { disabled: false })
  expect(await actorOfKey(app, key, aCaller())).toMatchObject({ actor: { role: 'member' } })
  expect(await actions(owner)).toEqual(['api_key.created', 'user.disabled', 'session.revoked', 'user.enabled'])
})

test('a removed member loses sessions and keys there only; issues and the list no longer offer them', async () => {
  const [owner, member] = await aTeam('member')
  const elsewhere = await aMembership(app, member)
  const { key } = await createKey(app, member.actor, { name: 'CI', scopes: ['read'] })
  const { key: other } = await createKey(app, elsewhere.actor, { name: 'CI', scopes: ['read'] })
  await removeMember(app, owner.actor, idOf(member))
  expect(await liveSession(app, member.actor.sessionId)).toBeNull()
  await waitFor('the other process', async () => (await liveSession(second, member.actor.sessionId)) === null)
  await expect(actorOfKey(second, key, aCaller())).rejects.toMatchObject({ code: 'unauthenticated' })
  expect(await actorOfKey(second, other, aCaller())).toMatchObject({ actor: { orgId: elsewhere.actor.orgId } })
  expect((await listMembers(app, owner.actor, page)).items.map(({ id }) => id)).toEqual([idOf(owner)])
  expect(await actions(owner)).toEqual(['api_key.created', 'member.removed', 'session.revoked', 'api_key.revoked'])
  await expect(removeMember(app, owner.actor, idOf(member))).rejects.toMatchObject({ code: 'not_found' })
  await expect(changeMember(app, owner.actor, idOf(member), { disabled: false })).rejects.toMatchObject({
    code: 'not_found',
  })
})

test('admins neither touch owners nor give a role above their own', async () => {
  const [owner, admin, member] = await team(['admin', 'member'])
  if (owner === undefined || admin === undefined || member === undefined) throw new Error('no team')
  const refused = { code: 'forbidden' }
  await expect(changeMember(app, admin.actor, idOf(owner), { role: 'member' })).rejects.toMatchObject(refused)
  await expect(changeMember(app, admin.actor, idOf(owner), { disabled: true })).rejects.toMatchObject(refused)
  await expect(removeMember(app, admin.actor, idOf(owner))).rejects.toMatchObject(refused)
  await expect(changeMember(app, admin.actor, idOf(member), { role: 'owner' })).rejects.toMatchObject(refused)
  await expect(changeMember(app, admin.actor, idOf(admin), { role: 'owner' })).rejects.toMatchObject(refused)
  await changeMember(app, admin.actor, idOf(member), { role: 'admin' })
})

test('the last owner keeps the role, is not disabled and not removed; an owner who is disabled does not count', async () => {
  const [owner, other] = await aTeam('owner')
  await changeMember(app, owner.actor, idOf(other), { disabled: true })
  const refused = { code: 'conflict' }
  await expect(changeMember(app, owner.actor, idOf(owner), { role: 'admin' })).rejects.toMatchObject(refused)
  await expect(changeMember(app, owner.actor, idOf(owner), { disabled: true })).rejects.toMatchObject(refused)
  await expect(removeMember(app, owner.actor, idOf(owner))).rejects.toMatchObject(refused)
  await removeMember(app, owner.actor, idOf(other))
  expect(await activeOwners(owner)).toBe(1)
})

test('of 20 owners who lower, disable or remove each other or themselves at the same time, one stays', async () => {
  const owners = await team(Array.from({ length: 7 }, () => 'owner' as const))
  const one = (index: number): Person => {
    const person = owners[index % owners.length]
    if (person === undefined) throw new Error('no owner')
    return person
  }
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, n) => {
      const where = n % 2 === 0 ? app : second
      const [by, who] = [one(n), one(n + (n % 3))]
      if (n % 4 === 0) return removeMember(where, by.actor, idOf(who))
      return changeMember(where, by.actor, idOf(who), n % 4 === 1 ? { disabled: true } : { role: 'viewer' })
    }),
  )
  expect(results.some(({ status }) => status === 'fulfilled')).toBe(true)
  const codes = results.flatMap((one) => (one.status === 'rejected' ? [(one.reason as { code?: string }).code] : []))
  expect(
    codes.filter((code) => !['conflict', 'forbidden', 'unauthenticated', 'not_found'].includes(code ?? '')),
  ).toEqual([])
  const left = await app.db
    .selectFrom('memberships')
    .select('user_id')
    .where('org_id', '=', one(0).actor.orgId)
    .where('role', '=', 'owner')
    .where('disabled_at', 'is', null)
    .execute()
  expect(left.length).toBeGreaterThanOrEqual(1)
})

test('two owners who remove each other: one stays', async () => {
  const [a, b] = await aTeam('owner')
  const results = await Promise.allSettled([
    removeMember(app, a.actor, idOf(b)),
    removeMember(second, b.actor, idOf(a)),
  ])
  expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
})

test('an owner who deletes the account while the other gives up the role: one stays', async () => {
  for (let round = 0; round < 5; round++) {
    const [a, b] = await aTeam('owner')
    const results = await Promise.allSettled([
      deleteAccount(app, a.actor, { password: a.password }),
      changeMember(second, b.actor, idOf(b), { role: 'viewer' }),
    ])
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    for (const one of results) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'conflict' })
  }
})

test('a role that was lowered during the request refuses it', async () => {
  const [owner, admin, member] = await team(['admin', 'member'])
  if (owner === undefined || admin === undefined || member === undefined) throw new Error('no team')
  await changeMember(app, owner.actor, idOf(admin), { role: 'member' })
  // The actor was made before the change, as a request that was admitted before.
  await expect(removeMember(app, admin.actor, idOf(member))).rejects.toMatchObject({ code: 'forbidden' })
  await removeMember(app, owner.actor, idOf(admin))
  await expect(removeMember(app, admin.actor, idOf(member))).rejects.toMatchObject({ code: 'unauthenticated' })
})

test('members who refresh while they are removed keep no session, and nothing waits for the other', async () => {
  const owner = await aPerson(app)
  const org = { id: owner.actor.orgId, slug: owner.orgSlug }
  const members = await Promise.all(Array.from({ length: 6 }, () => aPerson(app, { role: 'member', org })))
  await Promise.all(
    members.flatMap((member, n) => [
      refreshSession(second, member.tokens.refreshToken, aCaller()).catch(() => null),
      n % 2 === 0
        ? removeMember(app, owner.actor, idOf(member))
        : changeMember(app, owner.actor, idOf(member), { role: 'viewer' }),
    ]),
  )
  const left = await app.db
    .selectFrom('sessions')
    .select('id')
    .where('org_id', '=', org.id)
    .where('user_id', '<>', idOf(owner))
    .where('ended_at', 'is', null)
    .execute()
  expect(left).toEqual([])
})

test('a member of another organisation, or an unknown id, is not found', async () => {
  const [owner] = await aTeam('member')
  const stranger = await aPerson(app)
  for (const id of [idOf(stranger), newId()]) {
    await expect(removeMember(app, owner.actor, id)).rejects.toMatchObject({ code: 'not_found' })
    await expect(changeMember(app, owner.actor, id, { role: 'viewer' })).rejects.toMatchObject({ code: 'not_found' })
  }
})

test('an invitation that was never accepted does not bring a removed member back', async () => {
  const owner = await aPerson(app)
  const member = await aPerson(app, { role: 'member', org: { id: owner.actor.orgId, slug: owner.orgSlug } })
  const { token } = await anInvite(app, owner, { email: member.email, role: 'admin' })
  await removeMember(app, owner.actor, member.actor.userId)
  await expect(
    acceptInvite(app, { token, accessToken: null, password: member.password }, aCaller()),
  ).rejects.toMatchObject({
    code: 'invalid',
  })
})

test('a new name is shown and audited; the present one leaves no trace, and members cannot change it', async () => {
  const [owner, admin, member] = await team(['admin', 'member'])
  if (owner === undefined || admin === undefined || member === undefined) throw new Error('no team')
  const renamed = await renameOrg(app, admin.actor, 'Ada’s apps')
  expect(renamed).toEqual({ id: owner.actor.orgId, slug: owner.orgSlug, name: 'Ada’s apps' })
  await renameOrg(app, owner.actor, 'Ada’s apps')
  await expect(renameOrg(app, member.actor, 'Mine')).rejects.toMatchObject({ code: 'forbidden' })
  const stranger = await aPerson(app)
  await renameOrg(app, stranger.actor, 'Another')
  expect((await readMe(app, owner.actor)).org.name).toBe('Ada’s apps')
  expect(await actions(owner)).toEqual(['org.updated'])
})
