import { expect, test } from 'vitest'
import { adminCommand } from '#test/kit/admin-command.ts'
import { aProject } from '#test/kit/founder.ts'
import { anEvent, envelopeOf } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { quarantineEntry } from '../../ingest/spool/read.ts'
import { spoolEntry } from '../../ingest/spool/entry.fixture.ts'

const t = await testServer({ realTime: true, digestion: 'inline' })

/** Beside the running service. */
const admin = async (...words: readonly string[]) => {
  const settings = {
    DATABASE_URL: t.connectionString,
    FAULTLINE_DATA_DIR: t.dataDir,
    PUBLIC_URL: 'http://localhost:8000',
  }
  const { code, lines } = await adminCommand(['quarantine', ...words], settings)
  return [code, lines.join('\n')] as const
}

test('lists requests in quarantine, digests them again beside the service, and deletes only on confirmation', async () => {
  const owner = await t.founder()
  const org = (await owner.get('/api/me')).as<{ org: { slug: string } }>().org.slug
  const { id, number, slug } = await aProject(owner)
  const { rows } = await t.app.db.query<{ id: string }>('select id from project_keys where project_id = $1', [id])
  const quarantined = (body: string) =>
    t.app.tx((tx) =>
      quarantineEntry(
        tx,
        spoolEntry({
          projectId: id,
          projectNumber: number,
          keyId: rows[0]?.id ?? '',
          receivedAtMs: Date.now(),
          encoding: body.startsWith('{') ? 'none' : 'gzip',
          body,
        }),
        'TypeError: cannot read a module.',
        1,
        new Date(),
        [['error', 1]],
      ),
    )
  expect(await admin('list')).toEqual([0, 'The quarantine is empty.'])
  await quarantined(envelopeOf(anEvent({ error: 'kept in quarantine' })))
  await quarantined('no gzip')

  const [code, listed] = await admin('list', '--org', org, '--project', slug)
  expect(code).toBe(0)
  expect(listed).toMatch(
    new RegExp(`^${org}/${slug}: 2 requests, .*, ids \\d+ to \\d+\n  TypeError: cannot read a module\\.$`),
  )
  for (const [words, sentence] of [
    [['retry'], 'Name ids, or --org and --project, or --all.'],
    [['retry', '7', '--all'], 'Name ids, or --org and --project, or --all.'],
    [['delete', '--project', slug], 'Name both --org and --project.'],
    [['retry', '--org', 'unknown', '--project', slug], 'Organisation unknown'],
    [['retry', '1;drop'], 'Name the number of a request'],
  ] as const) {
    const [refused, text] = await admin(...words)
    expect([refused, text]).toEqual([1, expect.stringContaining(sentence)])
  }

  expect(await admin('retry', '--all')).toEqual([
    0,
    '2 requests wait to be digested again. What fails again returns to quarantine.',
  ])
  const { items } = await waitFor('the issue', async () => {
    const found = (await owner.get('/api/issues')).as<{ items: { title: string }[] }>()
    return found.items.length > 0 && found
  })
  expect(items.map(({ title }) => title)).toEqual([expect.stringContaining('kept in quarantine')])
  await waitFor('the other', async () => (await admin('list'))[1].includes('1 request,'))
  expect(await admin('delete', '--all')).toEqual([
    0,
    'Nothing is deleted yet: 1 request would be. Add --yes to delete them.',
  ])
  expect(await admin('delete', '--all', '--yes')).toEqual([0, 'Deleted: 1 request.'])
  expect(await admin('list')).toEqual([0, 'The quarantine is empty.'])
})
