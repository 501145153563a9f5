import { createHash, createPublicKey, verify } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { adminCommand } from '#test/kit/admin-command.ts'
import { aPerson, type Person } from '#test/kit/members.ts'
import { testServer } from '#test/kit/test-server.ts'
import { changeQuota } from '../../identity/team/change-quota.ts'
import type { AuditEntry } from './audit.api.ts'
import { canonicalJson } from './canonical-json.ts'
import { flushDenials } from './denials.ts'
import { signHeads } from './signed-heads.ts'
import type { VerifiedLog } from './verify-chain.ts'

const t = await testServer()
const { app } = t

let ada: Person
beforeAll(async () => {
  ada = await aPerson(app)
  for (let n = 0; n < 5; n++) await changeQuota(app, ada.actor, n)
})

const command = (...words: readonly string[]) =>
  adminCommand(['audit', 'verify', ...words], {
    DATABASE_URL: t.connectionString,
    FAULTLINE_DATA_DIR: t.dataDir,
    LOG_LEVEL: 'error',
  })

const get = (path: string, cookie = ada.cookie) => fetch(`${t.url}/api/audit-log${path}`, { headers: { cookie } })

/** The steps of docs/audit-log.md for a third party, with nothing but the file. */
function verifyExport(text: string): number {
  const lines = text.trimEnd().split('\n').toReversed()
  let before = '0'.repeat(64)
  for (const line of lines) {
    const { hash, prev_hash } = JSON.parse(line) as AuditEntry
    expect(prev_hash).toBe(before)
    const hashed = `${line.slice(0, line.lastIndexOf(',"hash":"'))}}`
    expect(createHash('sha256').update(Buffer.from(prev_hash, 'hex')).update(hashed).digest('hex')).toBe(hash)
    before = hash
  }
  return lines.length
}

test('the export holds the lines as hashed, and is an entry itself', async () => {
  const answer = await get('/export')
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="audit-log-2026-11-20.ndjson"/)
  const text = await answer.text()
  expect(verifyExport(text)).toBe(6)
  const [first, ...others] = text.split('\n')
  expect(JSON.parse(first ?? '')).toMatchObject({ seq: 6, action: 'audit.exported', meta: {} })
  expect(others).toHaveLength(6)
  const { items } = (await (await get('')).json()) as { items: AuditEntry[] }
  expect(text).toBe(
    items.map(({ hash, ...entry }) => `${canonicalJson(entry).slice(0, -1)},"hash":"${hash}"}\n`).join(''),
  )
})

test('no other site can make a browser export it, and write an entry', async () => {
  const count = async () => ((await (await get('?action=audit.exported')).json()) as { total: number }).total
  const before = await count()
  for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { referer: 'https://evil.example/' }])
    expect((await fetch(`${t.url}/api/audit-log/export`, { headers: { cookie: ada.cookie, ...headers } })).status).toBe(
      403,
    )
  expect(await count()).toBe(before)
  const own = { cookie: ada.cookie, 'sec-fetch-site': 'same-origin' }
  expect((await fetch(`${t.url}/api/audit-log/export`, { headers: own })).status).toBe(200)
})

test('a filtered export', async () => {
  const lines = (await (await get('/export?action=org.*')).text()).trimEnd().split('\n')
  expect(lines).toHaveLength(5)
  const { items } = (await (await get('?action=audit.exported&limit=1')).json()) as { items: AuditEntry[] }
  expect(items[0]?.meta).toEqual({ action: 'org.*' })
})

test('an export is in the order of the chain, also when clocks of processes differ', async () => {
  const eve = await aPerson(app)
  for (let n = 0; n < 6; n++) {
    await changeQuota(app, eve.actor, n)
    t.clock.advance(n % 2 === 0 ? 30_000 : -20_000)
  }
  const text = await (await get('/export', eve.cookie)).text()
  expect(verifyExport(text)).toBe(7)
  for (const filter of ['action=org.*', `actor=${eve.email}`, `target=${eve.actor.orgId}`]) {
    const lines = (await (await get(`/export?${filter}`, eve.cookie)).text()).trimEnd().split('\n')
    const seqs = lines.map((line) => (JSON.parse(line) as AuditEntry).seq)
    expect(seqs.slice(-6)).toEqual([6, 5, 4, 3, 2, 1])
    expect(seqs).toEqual(seqs.toSorted((a, b) => b - a))
  }
})

test('an export of thousands of entries is complete', async () => {
  const eve = await aPerson(app)
  await app.db.query(
    `with l as (select * from audit_log where org_id = $1 and seq = 1)
     insert into audit_log select (jsonb_populate_record(null::audit_log,
       to_jsonb(l) || jsonb_build_object('org_id', $2::text, 'seq', n))).* from l, generate_series(2, 2501) n`,
    [ada.actor.orgId, eve.actor.orgId],
  )
  const lines = (await (await get('/export', eve.cookie)).text()).trimEnd().split('\n')
  expect(new Set(lines.map((line) => (JSON.parse(line) as AuditEntry).seq)).size).toBe(2_501)
})

test('the owner verifies the log; its end is signed', async () => {
  await signHeads(app)
  const found = (await (await get('/verify')).json()) as VerifiedLog
  expect(found).toMatchObject({ ok: true, first_seq: 1, first_bad_seq: null, reason: null, checked_heads: 1 })
  expect(found.entries).toBe(found.head?.seq)
  const { head, key } = found
  if (head === null) throw new Error('no head')
  const { org_id, seq, hash, created_at } = head
  const text = canonicalJson({ purpose: 'faultline audit head', org_id, seq, hash, created_at })
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key.public_key }, format: 'jwk' })
  expect(verify(null, Buffer.from(text), publicKey, Buffer.from(head.signature, 'base64url'))).toBe(true)
  expect(createHash('sha256').update(Buffer.from(key.public_key, 'base64url')).digest('hex').slice(0, 32)).toBe(key.id)
})

test('a changed row is reported by API and command', async () => {
  const eve = await aPerson(app)
  for (let n = 0; n < 3; n++) await changeQuota(app, eve.actor, n)
  await flushDenials(app)
  const intact = await command('--org', ada.orgSlug)
  expect(intact.code).toBe(0)
  expect(intact.lines.join('\n')).toMatch(/: ok, \d+ entries/)
  await app.db.query('alter table audit_log disable trigger audit_log_unchanged')
  await app.db.query(`update audit_log set actor_email = 'x' where org_id = $1 and seq = 2`, [eve.actor.orgId])
  await app.db.query('alter table audit_log enable trigger audit_log_unchanged')
  expect(await (await get('/verify', eve.cookie)).json()).toMatchObject({ ok: false, first_bad_seq: 2, entries: 1 })
  const broken = await command('--org', eve.orgSlug)
  expect(broken.code).toBe(1)
  expect(broken.lines.join('\n')).toContain(
    `${eve.orgSlug}: BROKEN at seq 2. The entry was changed: its hash is wrong.`,
  )
  expect((await command('--org', 'nowhere')).code).toBe(1)
})
