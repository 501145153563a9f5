import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aProject } from '#test/kit/founder.ts'
import { anEvent } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import { readProjectBySlug, type ProjectRow } from '../../projects/registry/projects.queries.ts'
import { type FileProgress, importFile } from './import-file.ts'

const t = await testServer({ realTime: true, digestion: 'inline' })

async function aTarget(): Promise<{
  row: ProjectRow
  issues: () => Promise<{ event_count: number; last_seen: string }[]>
}> {
  const owner = await t.founder()
  const { slug } = await aProject(owner)
  const { org } = (await owner.get('/api/me')).as<{ org: { id: string } }>()
  const row = await readProjectBySlug(t.app.db, org.id, slug)
  if (row === null) throw new Error('no project')
  return {
    row,
    issues: async () =>
      (await owner.get('/api/issues')).as<{ items: { event_count: number; last_seen: string }[] }>().items,
  }
}

const take = (row: ProjectRow, file: string, signal = new AbortController().signal): Promise<FileProgress> =>
  importFile(t.app, row, file, () => {}, signal)

const line = (at: string, more: Record<string, unknown> = {}): string =>
  JSON.stringify({ ...anEvent({ error: 'from a file' }), timestamp: at, ...more })

test('lines become events with their old times, and a longer file continues', async () => {
  const { row, issues } = await aTarget()
  const file = join(t.dataDir, 'events.ndjson')
  const old = '2026-01-05T10:00:00.000Z'
  // Longer than the beginning by which a file is recognised.
  const padding = { extra: { padding: 'x'.repeat(70_000) } }
  await writeFile(file, `${line(old, padding)}\n\nnot json\n[1]\n{"message":"no time"}\n${line(old)}`)
  const first = await take(row, file)
  expect([first.events, Object.fromEntries(first.skipped)]).toEqual([
    2,
    { 'not JSON': 1, 'not an event': 1, 'without a timestamp': 1 },
  ])
  expect(await issues()).toMatchObject([{ event_count: 2, last_seen: old }])
  expect((await take(row, file)).events).toBe(0)
  await appendFile(file, `\n${line(old)}\n`)
  expect((await take(row, file)).events).toBe(1)
  expect(await issues()).toMatchObject([{ event_count: 3 }])
})

test('an envelope brings its events', async () => {
  const { row, issues } = await aTarget()
  const file = join(t.dataDir, 'one.envelope')
  const event = line('2026-02-05T10:00:00.000Z')
  await writeFile(
    file,
    `{"event_id":"${'ab'.repeat(16)}"}\n{"type":"event","length":${Buffer.byteLength(event)}}\n${event}\n{"type":"session","length":2}\n{}\n`,
  )
  const done = await take(row, file)
  expect([done.events, Object.fromEntries(done.skipped)]).toEqual([1, { 'items of type session': 1 }])
  expect(await issues()).toHaveLength(1)
  expect((await take(row, file)).events).toBe(0)
})
