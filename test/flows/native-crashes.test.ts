import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Issue } from '#server/issues/rules/issue.api.ts'
import type { IssueDetail } from '#server/issues/triage/issues.api.ts'
import type { Client } from '#test/kit/client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { readSamples, SAMPLE_KEY, type Sample } from '#test/kit/samples.ts'
import { newEventId } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'

/** Minidumps as crash handlers send them, through the running service, read back through the API. */

const server = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
server.clock.set('2026-11-20T05:00:00.000Z')

let ada: Client
let project: TestProject

beforeAll(async () => {
  ada = await aFounder(server.url)
  project = await aProject(ada, { name: 'Game' })
  // The recordings name project 4501 and its key.
  await server.app.db.query('update projects set number = 4501 where id = $1', [project.id])
  await server.app.db.query('update project_keys set public_key = $2 where project_id = $1', [project.id, SAMPLE_KEY])
})

const samples = readSamples(/^\/api\/4501\/minidump\//)
const [inForm, fromCrashpad, raw] = samples as [Sample, Sample, Sample]
const dump = gunzipSync(raw.body)

async function post(sample: Pick<Sample, 'url' | 'headers' | 'body'>): Promise<Response> {
  return fetch(server.url + sample.url, { method: 'POST', headers: sample.headers, body: new Uint8Array(sample.body) })
}

/** Sends, digests, and returns the event of the answered id. */
async function crash(sample: Pick<Sample, 'url' | 'headers' | 'body'>): Promise<IssueDetail> {
  const answer = await post(sample)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  const id = await answer.text()
  expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  await server.service.drain()
  return readEvent(id)
}

async function readEvent(eventId: string): Promise<IssueDetail> {
  const items = await server.issues(ada, 'limit=100')
  for (const { id } of items) {
    const detail = await ada.get(`/api/issues/${id}?event=${eventId}`)
    if (detail.status === 200) return detail.as<IssueDetail>()
  }
  throw new Error(`no issue has event ${eventId}`)
}

const outcomes = async (): Promise<string[]> =>
  (
    await server.app.db.query<{ line: string }>(
      `select category || ' ' || outcome || ' ' || reason || ' ' || quantity as line from outcomes_hourly where project_id = $1 order by 1`,
      [project.id],
    )
  ).rows.map((row) => row.line)

/** A form as crash uploaders write it. */
function form(parts: readonly { name: string; filename?: string; content: string | Buffer }[]) {
  const boundary = '----crash'
  const pieces = parts.flatMap(({ name, filename, content }) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"\r\nContent-Type: application/octet-stream`}\r\n\r\n`,
    content,
    '\r\n',
  ])
  return {
    url: `/api/4501/minidump?sentry_key=${SAMPLE_KEY}`,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece))),
  }
}

describe('recorded uploads', () => {
  test('a form with JSON, a nested field and further files', async () => {
    const { event, attachments, ...issue } = await crash(inForm)
    expect(issue).toMatchObject({ level: 'fatal', platform: 'native', is_unhandled: true, severity: 'high' })
    expect(event).toMatchObject({
      title: 'SIGSEGV: Segmentation fault, address not mapped (SEGV_MAPERR) at 0x10',
      release: 'com.acme.game@3.1.0+9',
      dist: '9',
      environment: 'production',
      tags: expect.arrayContaining([{ key: 'gpu', value: 'adreno' }]) as unknown,
      exceptions: [
        {
          type: 'SIGSEGV',
          thread_id: '20626',
          mechanism: { type: 'minidump', handled: false, synthetic: true, meta: { signal: { number: 11 } } },
          stacktrace: { frames: [{ package: '/srv/app/native/libgame.so' }] },
        },
      ],
      contexts: {
        os: { name: 'Linux', version: '6.18.44' },
        device: { arch: 'x86_64' },
        minidump: { crash_reason: 'SIGSEGV', crash_address: '0x10', crashed_thread: 20626, threads: 5, modules: 5 },
      },
    })
    expect(event?.threads.map(({ name, crashed }) => ({ name, crashed }))).toEqual([
      { name: 'gameapp2n', crashed: true },
      { name: 'sentry-tele-0', crashed: false },
      { name: 'sentry-tele-1', crashed: false },
      { name: 'sentry-logs', crashed: false },
      { name: 'sentry-metrics', crashed: false },
    ])
    const game = event?.debug_images.find(({ code_file }) => code_file === '/srv/app/native/libgame.so')
    expect(game).toMatchObject({
      type: 'elf',
      debug_id: '47e097d5-0c96-92d5-cd45-1f9874e73dd7',
      code_id: 'd597e047960cd592cd451f9874e73dd76c1ea3ae',
    })
    expect(attachments.map(({ filename, attachment_type }) => [filename, attachment_type])).toEqual([
      ['mini.dmp', 'event.minidump'],
      ['game.log', 'event.attachment'],
    ])
  })

  test('a form of Crashpad with event and breadcrumbs in files', async () => {
    const { event, attachments } = await crash(fromCrashpad)
    expect(event).toMatchObject({
      event_id: 'eb4d57dea1d8498859d931393f6fd0a2',
      release: 'com.acme.game@3.1.0+9',
      user: { id: 'n-1' },
      // The SDK's values stay: the dump knows only the kernel.
      contexts: { os: { name: 'Linux', distribution_name: 'debian' } },
      breadcrumbs: [{ message: 'level loaded', category: 'game' }],
      extra: { guid: '6c80f852-bb1d-453d-6207-21b9595effb8' },
      exceptions: [{ type: 'SIGSEGV' }],
    })
    expect(attachments.map(({ filename }) => filename)).toEqual(['mini.dmp'])
  })

  test('a bare dump, compressed', async () => {
    const { event, attachments } = await crash(raw)
    expect(event).toMatchObject({ exceptions: [{ type: 'SIGSEGV' }], occurred_at: '2026-11-20T04:57:42.000Z' })
    const [file] = attachments
    expect(file).toMatchObject({ filename: 'minidump.dmp', size_bytes: dump.length })
    const download = await fetch(`${server.url}/api/projects/${project.id}/attachments/${file?.id}`, {
      headers: { cookie: [...ada.cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    })
    expect(Buffer.from(await download.arrayBuffer()).equals(dump)).toBe(true)
    expect(download.headers.get('content-disposition')).toBe(
      `attachment; filename="minidump.dmp"; filename*=UTF-8''minidump.dmp`,
    )
    expect(download.headers.get('content-type')).toBe('application/octet-stream')
    expect(download.headers.get('x-content-type-options')).toBe('nosniff')
    expect(download.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
  })

  test('all three are one issue, and every item has one outcome', async () => {
    const { items } = (await ada.get('/api/issues')).as<{ items: Issue[] }>()
    expect(items.map(({ event_count }) => event_count)).toEqual([3])
    expect(await outcomes()).toEqual([
      'attachment accepted  4',
      'attachment discarded part_of_event 3',
      'error accepted  3',
    ])
  })

  test('the same upload again adds nothing', async () => {
    await post(fromCrashpad)
    await server.service.drain()
    expect(await outcomes()).toContain('error duplicate  1')
    expect(await outcomes()).toContain('attachment duplicate  1')
  })
})

describe('other forms', () => {
  test('event data in numbered chunks and nested names; a later name overrides an earlier one', async () => {
    const json = JSON.stringify({ release: 'game@1', tags: { a: '1', b: '2' }, user: { id: 'u-1' } })
    const { event } = await crash(
      form([
        { name: 'sentry__2', content: json.slice(10) },
        { name: 'sentry__1', content: json.slice(0, 10) },
        { name: 'sentry[release]', content: 'game@2' },
        { name: 'sentry[tags][a]', content: 'nested' },
        { name: 'sentry[__proto__][polluted]', content: 'yes' },
        { name: 'password', content: 'hunter2hunter2' },
        { name: 'upload_file_minidump', filename: 'C:\\dumps\\..\\x.dmp', content: dump },
      ]),
    )
    expect(event).toMatchObject({ release: 'game@2', user: { id: 'u-1' }, extra: { password: '[Filtered]' } })
    expect(event?.tags).toEqual(
      expect.arrayContaining([
        { key: 'a', value: 'nested' },
        { key: 'b', value: '2' },
      ]),
    )
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('an unreadable dump is stored, with an event that says so', async () => {
    for (const content of ['MDMP', Buffer.concat([dump.subarray(0, 200)]), 'no minidump at all', Buffer.alloc(100)]) {
      const { event, attachments } = await crash(form([{ name: 'upload_file_minidump', filename: 'x.dmp', content }]))
      expect(event).toMatchObject({
        platform: 'native',
        level: 'fatal',
        exceptions: [{ mechanism: { type: 'minidump' } }],
      })
      expect(attachments).toMatchObject([{ filename: 'x.dmp', size_bytes: Buffer.from(content).length }])
    }
  })

  test('an envelope with a minidump and an event, and one with a minidump alone', async () => {
    const eventId = newEventId()
    const item = (headers: object, payload: string | Buffer) =>
      Buffer.concat([
        Buffer.from(`${JSON.stringify({ ...headers, length: Buffer.from(payload).length })}\n`),
        Buffer.from(payload),
        Buffer.from('\n'),
      ])
    const attachment = { type: 'attachment', attachment_type: 'event.minidump', filename: 'a.dmp' }
    const send = async (items: Buffer[], id: string) => {
      const body = Buffer.concat([Buffer.from(`${JSON.stringify({ event_id: id })}\n`), ...items])
      const answer = await fetch(`${server.url}/api/4501/envelope/?sentry_key=${SAMPLE_KEY}`, { method: 'POST', body })
      expect(answer.status).toBe(200)
      await server.service.drain()
      return readEvent(id)
    }
    const beside = await send(
      [item({ type: 'event' }, JSON.stringify({ event_id: eventId, release: 'e@1' })), item(attachment, dump)],
      eventId,
    )
    expect(beside.event).toMatchObject({ release: 'e@1', exceptions: [{ type: 'SIGSEGV' }] })
    expect(beside.event?.threads).toHaveLength(5)
    expect(beside.attachments).toMatchObject([{ attachment_type: 'event.minidump' }])
    const alone = await send([item(attachment, dump)], newEventId())
    expect(alone.event).toMatchObject({ platform: 'native', exceptions: [{ type: 'SIGSEGV' }] })
  })

  test('an invalid upload is refused with a reason', async () => {
    const url = `/api/4501/minidump/?sentry_key=${SAMPLE_KEY}`
    const cut = form([{ name: 'upload_file_minidump', filename: 'x.dmp', content: dump }])
    const bad = [
      { url, headers: {}, body: Buffer.alloc(0) },
      form([{ name: 'sentry', content: '{}' }]),
      { ...cut, body: cut.body.subarray(0, cut.body.length - 100) },
      { ...cut, headers: { 'content-type': 'multipart/form-data' } },
    ]
    for (const one of bad) {
      const answer = await post(one)
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ error: expect.stringMatching(/\.$/) as unknown })
    }
    expect((await post({ ...raw, url: '/api/4501/minidump/' })).status).toBe(401)
  })
})

describe('files added later', () => {
  const upload = (eventId: string, content: string) => {
    const one = form([{ name: 'log', filename: '../../etc/late.log', content }])
    return post({ ...one, url: `/api/4501/events/${eventId}/attachments/?sentry_key=${SAMPLE_KEY}` })
  }

  test('belong to the event they name, before and after it arrives', async () => {
    const eventId = newEventId()
    const early = await upload(eventId, 'before')
    expect([early.status, await early.json()]).toEqual([200, { id: eventId }])
    await server.service.drain()
    const sent = await fetch(`${server.url}/api/4501/store/?sentry_key=${SAMPLE_KEY}`, {
      method: 'POST',
      body: JSON.stringify({ event_id: eventId, message: 'late files' }),
    })
    expect(sent.status).toBe(200)
    await upload(eventId, 'after!')
    await upload(eventId, 'after!')
    await server.service.drain()
    const { attachments, id } = await readEvent(eventId)
    expect(attachments.map(({ filename, size_bytes }) => [filename, size_bytes])).toEqual([
      ['late.log', 6],
      ['late.log', 6],
    ])
    // They are deleted with the issue; files of other issues stay.
    const count = async () =>
      (await server.app.db.query<{ n: number }>('select count(*)::int as n from attachments')).rows[0]?.n ?? 0
    const before = await count()
    expect((await ada.delete(`/api/issues/${id}`)).status).toBe(204)
    expect(await count()).toBe(before - 2)
    const orphans = await server.app.db.query(
      `select 1 from blobs b where not exists (
         select from blob_uses u join attachments a on a.id = u.holder_id where u.blob_id = b.id)`,
    )
    expect(orphans.rowCount).toBe(0)
  })

  test('of several pieces are returned byte for byte, and never as a page', async () => {
    const eventId = newEventId()
    const big = Buffer.concat([Buffer.from('<!doctype html><script>alert(1)</script>'), randomBytes(2_500_000)])
    const parts = [
      { name: 'a', filename: 'page.html', content: big },
      { name: 'b', filename: 'empty file.txt', content: '' },
    ]
    await post({ ...form(parts), url: `/api/4501/events/${eventId}/attachments/?sentry_key=${SAMPLE_KEY}` })
    await server.service.drain()
    const { rows } = await server.app.db.query<{ id: string }>(
      'select id from attachments where event_id = $1 order by size_bytes desc',
      [eventId],
    )
    const cookie = [...ada.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const read = async (id = '') =>
      fetch(`${server.url}/api/projects/${project.id}/attachments/${id}`, { headers: { cookie } })
    const page = await read(rows[0]?.id)
    expect(page.headers.get('content-type')).toBe('application/octet-stream')
    expect(page.headers.get('content-length')).toBe(String(big.length))
    expect(Buffer.from(await page.arrayBuffer()).equals(big)).toBe(true)
    const empty = await read(rows[1]?.id)
    expect(empty.headers.get('content-disposition')).toBe(
      `attachment; filename="empty file.txt"; filename*=UTF-8''empty%20file.txt`,
    )
    expect(await empty.text()).toBe('')
  })

  test('need a valid event id and a file', async () => {
    expect((await upload('0'.repeat(32), 'x')).status).toBe(404)
    expect((await upload('xyz', 'x')).status).toBe(404)
    const empty = form([{ name: 'a', content: 'b' }])
    expect(
      (await post({ ...empty, url: `/api/4501/events/${newEventId()}/attachments/?sentry_key=${SAMPLE_KEY}` })).status,
    ).toBe(400)
  })
})
