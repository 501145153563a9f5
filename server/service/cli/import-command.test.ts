import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { adminCommand } from '#test/kit/admin-command.ts'
import { fakeSentry, SOURCE_ORG } from '#test/kit/fake-sentry.ts'
import { aProject } from '#test/kit/founder.ts'
import { anEvent } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'

const t = await testServer({ realTime: true, digestion: 'inline', jobs: true })

/** Beside the running service. */
const admin = (words: readonly string[], settings: Readonly<Record<string, string>> = {}, input = '') =>
  adminCommand(
    words,
    {
      DATABASE_URL: t.connectionString,
      FAULTLINE_DATA_DIR: t.dataDir,
      PUBLIC_URL: 'http://localhost:8000',
      // The source of the test has an address of this machine.
      EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      EGRESS_ALLOW_HTTP: '1',
      ...settings,
    },
    input,
  )

const orgOf = async (owner: Awaited<ReturnType<typeof t.founder>>): Promise<string> =>
  (await owner.get('/api/me')).as<{ org: { slug: string } }>().org.slug

test('imports a source while the service runs, and says what did not map', async () => {
  const owner = await t.founder()
  const issues = [{ id: '1', title: 'cart is undefined', count: 9, userCount: 2, events: 0 }]
  const source = await fakeSentry(new Date(), [
    { id: '7', slug: 'shop', platform: 'javascript', publicKey: 'f'.repeat(32), issues },
  ])
  const words = ['import', 'sentry', '--url', source.url, '--org', await orgOf(owner), '--source-org', SOURCE_ORG]
  const refused = await admin(words, {}, 'wrong\n')
  expect([refused.code, refused.lines.join(' ')]).toEqual([1, expect.stringContaining('refused the token (401)')])
  const done = await admin(words, { IMPORT_TOKEN: source.token })
  await source.close()
  expect(done.code, done.lines.join('\n')).toBe(0)
  expect(done.lines[0]).toBe('shop → shop')
  expect(done.lines.join('\n')).toContain('issues: 1 × Its events are gone at the source.')
  expect(done.lines.at(-1)).toBe('Imported 1 issue from meadowlark. Nothing was sent to anyone.')
  const { items } = (await owner.get('/api/issues')).as<{ items: { event_count: number }[] }>()
  expect(items.map(({ event_count: count }) => count)).toEqual([9])
})

test('imports events from a file, and names what is missing', async () => {
  const owner = await t.founder()
  const org = await orgOf(owner)
  const { slug } = await aProject(owner)
  const file = join(t.dataDir, 'old.ndjson')
  await writeFile(file, `${JSON.stringify({ ...anEvent({ error: 'old' }), timestamp: '2026-01-02T03:04:05Z' })}\nno\n`)
  const done = await admin(['import', 'events', file, '--org', org, '--project', slug])
  expect([done.code, done.lines.slice(-2)]).toEqual([
    0,
    [`${file}: 1 line left out: not JSON.`, `Imported 1 event into ${slug}. Nothing was sent to anyone.`],
  ])
  const missing = await admin(['import', 'events', `${file}x`, '--org', org, '--project', slug])
  expect([missing.code, missing.lines.at(-1)]).toEqual([1, `faultline: File ${file}x not found.`])
  const other = await admin(['import', 'events', file, '--org', org, '--project', 'none'])
  expect([other.code, other.lines.at(-1)]).toEqual([1, 'faultline: Project none not found.'])
})
