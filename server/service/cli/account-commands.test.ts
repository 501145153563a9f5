import { expect, test } from 'vitest'
import { adminCommand } from '#test/kit/admin-command.ts'
import { client } from '#test/kit/client.ts'
import { testServer } from '#test/kit/test-server.ts'

const t = await testServer({ realTime: true })

/** Beside the running service. */
const admin = (words: readonly string[], input = '') =>
  adminCommand(
    words,
    { DATABASE_URL: t.connectionString, FAULTLINE_DATA_DIR: t.dataDir, PUBLIC_URL: 'http://localhost:8000' },
    input,
  )

const auditOf = async (email: string) => {
  const { rows } = await t.app.db.query<{ action: string; actor_type: string; actor_id: string }>(
    'select action, actor_type, actor_id from audit_log where target_label = $1 order by created_at, seq',
    [email],
  )
  return rows
}

test('an owner of a new organisation chooses the password with the printed link', async () => {
  const email = 'Ada@example.com'
  const { code, lines } = await admin(['owner', 'create', '--email', email, '--new-org', 'Analytical Engines'])
  expect({ code, first: lines[0] }).toEqual({ code: 0, first: `${email} is an owner of analytical-engines.` })
  const token = /\/reset\?token=([\w-]{43})$/.exec(lines[1] ?? '')?.[1]
  const ada = client(t.url)
  const password = 'a long and good password'
  expect((await ada.post('/api/auth/reset-password', { token, password })).status).toBe(200)
  expect((await ada.post('/api/auth/reset-password', { token, password })).status).toBe(400)
  expect((await ada.post('/api/auth/login', { email, password })).body).toMatchObject({ role: 'owner' })
  expect((await auditOf('ada@example.com'))[0]).toEqual({
    action: 'signup.password.ok',
    actor_type: 'system',
    actor_id: 'create-owner',
  })
  const again = await admin(['owner', 'create', '--email', email, '--org', 'analytical-engines'])
  expect(again).toEqual({
    code: 1,
    lines: ['faultline: ada@example.com is a member of analytical-engines already: an owner can change the role.'],
  })
})

test('a known user becomes an owner only with a proved address', async () => {
  const { email, password } = await t.founder()
  const founder = await t.founder()
  const { org } = (await founder.get('/api/me')).as<{ org: { slug: string } }>()
  const create = () => admin(['owner', 'create', '--email', email, '--org', org.slug])
  const refused = await create()
  expect(refused.code).toBe(1)
  expect(refused.lines[0]).toContain(`Run "user reset-password --email ${email}" first`)
  const { lines } = await admin(['user', 'reset-password', '--email', email])
  const token = /token=([\w-]{43})$/.exec(lines[0] ?? '')?.[1]
  expect((await client(t.url).post('/api/auth/reset-password', { token, password: `${password}8` })).status).toBe(200)
  expect(await create()).toEqual({
    code: 0,
    lines: [`${email} is an owner of ${org.slug}. The password stays as it is.`],
  })
  const { rows } = await t.app.db.query<{ action: string }>(
    "select action from audit_log where actor_id = 'create-owner' and target_label = $1",
    [email],
  )
  expect(rows).toEqual([{ action: 'member.added' }])
})

test('a password from standard input ends the sessions in the running service', async () => {
  const owner = await t.founder()
  const { code, lines } = await admin(
    ['user', 'reset-password', '--email', owner.email, '--stdin'],
    'another good one 7\n',
  )
  expect({ code, last: lines.at(-1) }).toEqual({
    code: 0,
    last: `The password of ${owner.email} is set; 1 session ended.`,
  })
  await expect.poll(async () => (await owner.get('/api/me')).status, { timeout: 1_000 }).toBe(401)
  const login = { email: owner.email, password: 'another good one 7' }
  expect((await client(t.url).post('/api/auth/login', login)).status).toBe(200)
  expect((await auditOf(owner.email)).map(({ action, actor_id }) => [action, actor_id])).toContainEqual([
    'password.reset.ok',
    'reset-password',
  ])
})

test('a link by reset-password replaces the password once', async () => {
  const owner = await t.founder()
  const { code, lines } = await admin(['user', 'reset-password', '--email', owner.email])
  expect({ code, hint: lines[1] }).toEqual({ code: 0, hint: 'The link works once, for one hour.' })
  expect((await owner.get('/api/me')).status).toBe(200)
  const token = /token=([\w-]{43})$/.exec(lines[0] ?? '')?.[1]
  const answer = await client(t.url).post('/api/auth/reset-password', { token, password: 'a third good password' })
  expect(answer.status).toBe(200)
  expect((await owner.get('/api/me')).status).toBe(401)
})

test('sessions are listed and ended, one or all', async () => {
  const owner = await t.founder()
  const other = client(t.url)
  expect((await other.post('/api/auth/login', { email: owner.email, password: owner.password })).status).toBe(200)
  const list = await admin(['user', 'sessions', '--email', owner.email])
  expect(list.code).toBe(0)
  expect(list.lines.at(-1)).toBe(`${owner.email} has 2 sessions.`)
  // The one used last is the first.
  const [id = ''] = (list.lines[0] ?? '').split('  ')
  const one = await admin(['user', 'end-sessions', '--email', owner.email, '--session', id])
  expect(one).toEqual({ code: 0, lines: [`1 session of ${owner.email} ended.`] })
  expect(await admin(['user', 'end-sessions', '--email', owner.email, '--session', id])).toMatchObject({ code: 1 })
  expect((await admin(['user', 'end-sessions', '--email', owner.email])).lines).toEqual([
    `1 session of ${owner.email} ended.`,
  ])
  for (const one of [owner, other])
    await expect.poll(async () => (await one.get('/api/me')).status, { timeout: 1_000 }).toBe(401)
})

test('signing keys rotate: the next key signs, which was published before; the old one verifies', async () => {
  const owner = await t.founder()
  const kids = async () =>
    (await owner.get('/api/auth/jwks.json')).as<{ keys: { kid: string }[] }>().keys.map(({ kid }) => kid)
  const [before, next] = await kids()
  const early = await admin(['signing-keys', 'rotate'])
  expect({ code: early.code, kids: await kids() }).toEqual({ code: 1, kids: [before, next] })
  expect(early.lines).toEqual([
    expect.stringMatching(/^faultline: The next key was published less than ten minutes ago/),
  ])
  await t.app.db.query(`update signing_keys set created_at = created_at - interval '10 minutes' where state = 'next'`)
  const { code, lines } = await admin(['signing-keys', 'rotate'])
  expect(code).toBe(0)
  const kid = /signed with (\S+)\. /.exec(lines[0] ?? '')?.[1]
  expect(kid).toBe(next)
  await expect.poll(async () => (await kids()).toSpliced(1, 1), { timeout: 1_000 }).toEqual([next, before])
  expect((await owner.get('/api/me')).status).toBe(200)
  const { rows } = await t.app.db.query(
    `select count(*) > 0 as written from audit_log where action = 'encryption.key_rotated'`,
  )
  expect(rows).toEqual([{ written: true }])
})

test('what the operator can correct is one line', async () => {
  const email = 'unknown@example.com'
  expect(await admin(['user', 'disable-2fa', '--email', email])).toEqual({
    code: 1,
    lines: ['faultline: User not found.'],
  })
  const owner = await t.founder()
  expect(await admin(['user', 'disable-2fa', '--email', owner.email])).toEqual({
    code: 1,
    lines: ['faultline: Two-factor authentication of this user is off.'],
  })
  expect(await admin(['sso', 'verify-domain', '--org', 'nowhere', '--domain', 'example.com'])).toEqual({
    code: 1,
    lines: ['faultline: Organisation not found.'],
  })
  expect(await admin(['owner', 'create', '--email', email])).toEqual({
    code: 1,
    lines: ['faultline: Name either --org or --new-org.'],
  })
})
