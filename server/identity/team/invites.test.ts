import { describe, expect, test } from 'vitest'
import { everythingStored } from '#test/kit/everything-stored.ts'
import { anInvite } from '#test/kit/invites.ts'
import { aCaller, aMembership, aPerson, GOOD_PASSWORD, type Person } from '#test/kit/members.ts'
import { linkToken, queuedMails } from '#test/kit/queued-mails.ts'
import { secondApp } from '#test/kit/second-app.ts'
import { testApp } from '#test/kit/test-app.ts'
import { logIn } from '../accounts/log-in.ts'
import { listAuditLog } from '../../history/audit/list-audit-log.ts'
import { selectMemberships } from '../auth/auth.queries.ts'
import { readOnboarding } from '../../projects/registry/read-onboarding.ts'
import { acceptInvite, readInvite } from './accept-invite.ts'
import { resendInvite, revokeInvite } from './change-invite.ts'
import { changeMember } from './change-member.ts'
import { inviteMember, inviteMembers } from './invite-members.ts'
import { listInvites } from './list-invites.ts'
import { purgeInvitesTask } from './purge-invites.ts'
import { removeMember } from './remove-member.ts'

const t = await testApp({ env: { PUBLIC_URL: 'https://faults.example.com' } })
const { app, clock } = t
const second = await secondApp(t)

const WEEK_MS = 7 * 86_400_000
const page = { limit: 25, offset: 0, sort: 'created_at' } as const
const unusable = { code: 'invalid', message: expect.stringContaining('not valid') as unknown }

let n = 0
const anAddress = (): string => `new-${++n}@example.com`
const accept = (token: string, input: { password?: string; name?: string; accessToken?: string } = {}, where = app) =>
  acceptInvite(where, { token, accessToken: null, ...input }, aCaller())
const actions = async (of: Person) =>
  (await listAuditLog(app, of.actor, { limit: 50, offset: 0 })).items.map(({ action }) => action).toReversed()
const aMember = (of: Person, role: 'viewer' | 'member' | 'admin' | 'owner') =>
  aPerson(app, { role, org: { id: of.actor.orgId, slug: of.orgSlug } })

/** The token in the newest mail to an address. */
const mailedToken = (to: string): Promise<string> => linkToken(app, to)

describe('inviting', () => {
  test('sends a link that makes a new account a member, once', async () => {
    const owner = await aPerson(app, { name: 'Ada' })
    const email = anAddress()
    const invite = await inviteMember(app, owner.actor, { email: ` ${email.toUpperCase()} `, role: 'admin' })
    expect(invite).toMatchObject({ email, role: 'admin', invited_by: { id: owner.actor.userId, name: 'Ada' } })
    expect(Date.parse(invite.expires_at) - clock.now().getTime()).toBe(WEEK_MS)
    const token = await mailedToken(email)
    expect(await readInvite(app, token, aCaller())).toMatchObject({
      email,
      org: { slug: owner.orgSlug },
      role: 'admin',
      invited_by: 'Ada',
      has_account: false,
    })
    expect(await accept(token, { password: GOOD_PASSWORD, name: 'Grace' })).toMatchObject({
      ok: true,
      org: owner.orgSlug,
      role: 'admin',
    })
    await expect(accept(token, { password: GOOD_PASSWORD })).rejects.toMatchObject(unusable)
    await expect(readInvite(app, token, aCaller())).rejects.toMatchObject(unusable)
    const loggedIn = await logIn(app, { email, password: GOOD_PASSWORD }, aCaller())
    expect(loggedIn).toMatchObject({ org: owner.orgSlug, role: 'admin' })
    expect((await actions(owner)).slice(0, 4)).toEqual([
      'invite.created',
      'signup.password.ok',
      'signup.invite.ok',
      'invite.accepted',
    ])
    expect((await listInvites(app, owner.actor, page)).items).toEqual([])
  })

  test('many: a result for each address, in order', async () => {
    const owner = await aPerson(app)
    const disabled = await aMember(owner, 'member')
    await changeMember(app, owner.actor, disabled.actor.userId, { disabled: true })
    const [a, b, open] = [anAddress(), anAddress(), anAddress()]
    await inviteMember(app, owner.actor, { email: open, role: 'viewer' })
    const emails = [a, owner.email.toUpperCase(), 'no address', a.toUpperCase(), disabled.email, open, '', b]
    const results = await inviteMembers(app, owner.actor, { emails, role: 'member' })
    expect(results.map(({ email, status }) => [email, status])).toEqual([
      [a, 'invited'],
      [owner.email.toUpperCase(), 'conflict'],
      ['no address', 'invalid'],
      [a.toUpperCase(), 'conflict'],
      [disabled.email, 'conflict'],
      [open, 'conflict'],
      ['', 'invalid'],
      [b, 'invited'],
    ])
    for (const { status, invite_id, error } of results)
      expect([invite_id !== undefined, error === undefined]).toEqual([status === 'invited', status === 'invited'])
    expect((await listInvites(app, owner.actor, page)).items.map(({ email }) => email)).toEqual([open, a, b])
  })

  test('many, all of them malformed: a result for each', async () => {
    const owner = await aPerson(app)
    const results = await inviteMembers(app, owner.actor, { emails: ['grace', 'a b@example.com'], role: 'member' })
    expect(results.map(({ status, error }) => [status, error])).toEqual(
      Array.from({ length: 2 }, () => ['invalid', 'This is not an email address such as name@example.com.']),
    )
  })

  test('the same address at the same time: one invitation, one mail', async () => {
    const owner = await aPerson(app)
    const email = anAddress()
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        inviteMember(index % 2 === 0 ? app : second, owner.actor, { email, role: 'member' }),
      ),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const one of results) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'conflict' })
    expect(await queuedMails(app, email)).toHaveLength(1)
    expect(await actions(owner)).toEqual(['invite.created'])
  })

  test('five mails an hour to one address, from all organisations and however they are asked for', async () => {
    const [owner, other] = [await aPerson(app), await aPerson(app)]
    const email = anAddress()
    const { id } = await inviteMember(app, owner.actor, { email, role: 'member' })
    for (let i = 0; i < 4; i += 1) await resendInvite(app, owner.actor, id)
    await expect(resendInvite(app, owner.actor, id)).rejects.toMatchObject({ code: 'rate_limited' })
    await expect(inviteMember(app, other.actor, { email, role: 'member' })).rejects.toMatchObject({
      code: 'rate_limited',
    })
    const both = [email, anAddress()]
    const results = await inviteMembers(app, other.actor, { emails: both, role: 'member' })
    expect(results.map(({ status }) => status)).toEqual(['limited', 'invited'])
    expect(await queuedMails(app, email)).toHaveLength(5)
    clock.advance(60 * 60_000)
    await expect(resendInvite(app, owner.actor, id)).resolves.toMatchObject({ email })
  })

  test('two organisations that invite the same addresses do not wait for each other', async () => {
    const emails = Array.from({ length: 40 }, anAddress)
    const owners = [await aPerson(app), await aPerson(app)]
    const answers = await Promise.all(
      owners.map((owner, index) => {
        const order = index === 0 ? emails : emails.toReversed()
        return inviteMembers(index === 0 ? app : second, owner.actor, { emails: order, role: 'member' })
      }),
    )
    for (const results of answers) expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['invited']))
  })

  test('an address may be invited to several organisations', async () => {
    const [owner, other] = [await aPerson(app), await aPerson(app)]
    const email = anAddress()
    for (const by of [owner, other]) await inviteMember(app, by.actor, { email, role: 'member' })
    expect((await listInvites(app, other.actor, page)).total).toBe(1)
  })

  test('an admin invites, sends again and revokes no owner', async () => {
    const owner = await aPerson(app)
    const admin = await aMember(owner, 'admin')
    const refused = { code: 'forbidden' }
    await expect(inviteMember(app, admin.actor, { email: anAddress(), role: 'owner' })).rejects.toMatchObject(refused)
    await expect(inviteMembers(app, admin.actor, { emails: [anAddress()], role: 'owner' })).rejects.toMatchObject(
      refused,
    )
    const { id } = await anInvite(app, owner, { role: 'owner' })
    await expect(resendInvite(app, admin.actor, id)).rejects.toMatchObject(refused)
    await expect(revokeInvite(app, admin.actor, id)).rejects.toMatchObject(refused)
  })

  test('counts for the setup, also after the invitation is gone', async () => {
    const owner = await aPerson(app)
    const invited = async () => (await readOnboarding(app, owner.actor)).steps.team_invited
    expect(await invited()).toBe(false)
    const { id } = await inviteMember(app, owner.actor, { email: anAddress(), role: 'member' })
    await revokeInvite(app, owner.actor, id)
    expect(await invited()).toBe(true)
    const other = await aPerson(app)
    await aMember(other, 'viewer')
    expect((await readOnboarding(app, other.actor)).steps.team_invited).toBe(true)
  })

  test('an organisation sends at most 500 in an hour', async () => {
    const owner = await aPerson(app)
    const limited: typeof app = { ...app, config: { ...app.config, rateLimitScale: 0.004 } }
    const emails = [anAddress(), anAddress(), anAddress()]
    const results = await inviteMembers(limited, owner.actor, { emails, role: 'viewer' })
    expect(results.map(({ status }) => status)).toEqual(['invited', 'invited', 'limited'])
    await expect(inviteMember(limited, owner.actor, { email: anAddress(), role: 'viewer' })).rejects.toMatchObject({
      code: 'rate_limited',
    })
  })
})

describe('a link', () => {
  test('ends after 7 days, when it is revoked, and when it is sent again', async () => {
    const owner = await aPerson(app)
    const [expired, revoked] = [await anInvite(app, owner), await anInvite(app, owner)]
    const email = anAddress()
    const { id } = await inviteMember(app, owner.actor, { email, role: 'member' })
    const first = await mailedToken(email)
    await revokeInvite(app, owner.actor, revoked.id)
    clock.advance(1_000)
    const again = await resendInvite(app, owner.actor, id)
    expect(Date.parse(again.expires_at) - clock.now().getTime()).toBe(WEEK_MS)
    const newer = await mailedToken(email)
    clock.advance(WEEK_MS - 1_000)
    const errors = await Promise.all(
      [expired.token, revoked.token, first, 'x', newer.slice(1)].map((token) =>
        accept(token, { password: GOOD_PASSWORD }).catch((error: unknown) => String(error)),
      ),
    )
    expect(new Set(errors).size).toBe(1)
    expect(errors[0]).toContain('not valid')
    expect(await accept(newer, { password: GOOD_PASSWORD })).toMatchObject({ ok: true })
  })

  test('that expired can be sent again, or replaced; after 30 days it is deleted', async () => {
    const owner = await aPerson(app)
    const [one, other, forgotten] = [await anInvite(app, owner), await anInvite(app, owner), await anInvite(app, owner)]
    clock.advance(WEEK_MS)
    await resendInvite(app, owner.actor, one.id)
    const replaced = await inviteMember(app, owner.actor, { email: other.email, role: 'viewer' })
    expect(replaced.id).not.toBe(other.id)
    await purgeInvitesTask.run(app, {}, new AbortController().signal)
    expect((await listInvites(app, owner.actor, page)).total).toBe(3)
    clock.advance(30 * 86_400_000 + 1)
    await purgeInvitesTask.run(app, {}, new AbortController().signal)
    const left = (await listInvites(app, owner.actor, page)).items.map(({ id }) => id)
    expect(left).not.toContain(forgotten.id)
    expect(left).toContain(one.id)
  })

  test('stays valid when the inviter leaves', async () => {
    const owner = await aPerson(app)
    const admin = await aMember(owner, 'admin')
    const { token } = await anInvite(app, admin)
    await removeMember(app, owner.actor, admin.actor.userId)
    const gone = await anInvite(app, await aMember(owner, 'admin'))
    await app.db
      .deleteFrom('users')
      .where('id', '=', (await readInviter(gone.id)) ?? '')
      .execute()
    expect(await readInvite(app, gone.token, aCaller())).toMatchObject({ invited_by: null })
    for (const one of [token, gone.token])
      expect(await accept(one, { password: GOOD_PASSWORD })).toMatchObject({ ok: true })
  })

  test('opens one account of 20 parallel requests', async () => {
    const owner = await aPerson(app)
    const { token, email } = await anInvite(app, owner)
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        accept(token, { password: GOOD_PASSWORD }, index % 2 === 0 ? app : second),
      ),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const one of results) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'invalid' })
    const rows = await app.db.selectFrom('users').select('id').where('email', '=', email).execute()
    expect(rows).toHaveLength(1)
    expect(await selectMemberships(app.db, rows[0]?.id ?? '')).toHaveLength(1)
  })

  test('needs a password that is allowed', async () => {
    const owner = await aPerson(app)
    const { token } = await anInvite(app, owner)
    for (const password of [undefined, 'short', 'x'.repeat(257)])
      await expect(accept(token, password === undefined ? {} : { password })).rejects.toMatchObject({
        code: 'invalid',
        message: expect.stringContaining('password') as unknown,
      })
    expect(await accept(token, { password: GOOD_PASSWORD })).toMatchObject({ ok: true })
  })

  test('60 an hour from one address', async () => {
    const strict: typeof app = { ...app, config: { ...app.config, rateLimitScale: 0.05 } }
    const caller = aCaller({ ip: '198.51.100.77' })
    const codes: string[] = []
    for (let call = 0; call < 4; call++)
      await readInvite(strict, 'x', caller).catch((error: unknown) => codes.push((error as { code: string }).code))
    expect(codes).toEqual(['invalid', 'invalid', 'invalid', 'rate_limited'])
  })
})

const readInviter = async (id: string): Promise<string | null> =>
  (await app.db.selectFrom('invites').select('invited_by').where('id', '=', id).executeTakeFirstOrThrow()).invited_by

describe('an existing account', () => {
  test('joins with its password, and keeps its other memberships', async () => {
    const [owner, other] = [await aPerson(app), await aPerson(app)]
    const { token } = await anInvite(app, owner, { email: other.email, role: 'viewer' })
    expect(await readInvite(app, token, aCaller())).toMatchObject({ has_account: true })
    for (const password of [undefined, 'a wrong password'])
      await expect(accept(token, password === undefined ? {} : { password })).rejects.toMatchObject({ code: 'invalid' })
    expect(await accept(token, { password: other.password })).toMatchObject({ org: owner.orgSlug, role: 'viewer' })
    expect((await selectMemberships(app.db, other.actor.userId)).map(({ org_slug, role }) => [org_slug, role])).toEqual(
      [
        [other.orgSlug, 'owner'],
        [owner.orgSlug, 'viewer'],
      ],
    )
    expect(await actions(owner)).toEqual(['invite.accepted'])
  })

  test('joins while it is logged in, and not with the session of another account', async () => {
    const [owner, other, stranger] = [await aPerson(app), await aPerson(app), await aPerson(app)]
    const { token } = await anInvite(app, owner, { email: other.email })
    for (const accessToken of [stranger.tokens.accessToken, 'forged'])
      await expect(accept(token, { accessToken })).rejects.toMatchObject({ code: 'invalid' })
    await expect(
      accept(token, { accessToken: stranger.tokens.accessToken, password: stranger.password + 'x' }),
    ).rejects.toMatchObject({ code: 'invalid' })
    expect(await accept(token, { accessToken: other.tokens.accessToken })).toMatchObject({ ok: true })
  })

  test('wrong passwords count against the account', async () => {
    const [owner, other] = [await aPerson(app), await aPerson(app)]
    const { token } = await anInvite(app, owner, { email: other.email })
    const codes: unknown[] = []
    for (let attempt = 0; attempt < 6; attempt++)
      await accept(token, { password: 'a wrong password' }).catch((error: unknown) =>
        codes.push((error as { code: string }).code),
      )
    expect(codes).toEqual([...Array.from({ length: 5 }, () => 'invalid'), 'rate_limited'])
  })

  test('that was removed is a member again, with the role of the invitation', async () => {
    const owner = await aPerson(app)
    const member = await aMember(owner, 'admin')
    await removeMember(app, owner.actor, member.actor.userId)
    const { id } = await inviteMember(app, owner.actor, { email: member.email, role: 'viewer' })
    expect(id).toBeDefined()
    const token = await mailedToken(member.email)
    expect(await accept(token, { password: member.password })).toMatchObject({ role: 'viewer' })
    expect((await selectMemberships(app.db, member.actor.userId)).map(({ role }) => role)).toEqual(['viewer'])
  })

  test('that became a member in another way meanwhile is a conflict', async () => {
    const [owner, other] = [await aPerson(app), await aPerson(app)]
    const { token, id } = await anInvite(app, owner, { email: other.email, role: 'owner' })
    await aMembership(app, other, { org: { id: owner.actor.orgId, slug: owner.orgSlug }, role: 'viewer' })
    await expect(accept(token, { password: other.password })).rejects.toMatchObject({ code: 'conflict' })
    await expect(resendInvite(app, owner.actor, id)).rejects.toMatchObject({ code: 'conflict' })
    expect((await selectMemberships(app.db, other.actor.userId)).map(({ role }) => role).toSorted()).toEqual([
      'owner',
      'viewer',
    ])
  })

  test('that is disabled stays out', async () => {
    const [owner, other] = [await aPerson(app), await aPerson(app)]
    const { token } = await anInvite(app, owner, { email: other.email })
    await app.db.updateTable('users').set({ disabled_at: clock.now() }).where('id', '=', other.actor.userId).execute()
    await expect(
      accept(token, { password: other.password, accessToken: other.tokens.accessToken }),
    ).rejects.toMatchObject({ code: 'invalid' })
  })
})

test('no token of an invitation is stored or logged', async () => {
  const owner = await aPerson(app)
  const email = anAddress()
  await inviteMember(app, owner.actor, { email, role: 'member' })
  const token = await mailedToken(email)
  await accept(token, { password: GOOD_PASSWORD })
  expect(token).toHaveLength(43)
  const [mail] = await queuedMails(app, email)
  expect(mail?.action?.url).toBe(`https://faults.example.com/invite?token=${token}`)
  expect(JSON.stringify(t.logLines)).not.toContain(token)
  const stored = await everythingStored(app.db)
  expect(stored).toContain(email)
  expect(stored).not.toContain(token)
})
