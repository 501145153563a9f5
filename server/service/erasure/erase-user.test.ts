import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { anEvent, dsnParts, newEventId } from '#test/kit/sdk.ts'
import { everythingStored } from '#test/kit/everything-stored.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { Client } from '#test/kit/client.ts'
import { ObjectStore } from '../../platform/objects/object-store.ts'
import { packBlock } from '../../events/store/blocks.ts'
import { followSegments, SegmentReader } from '../../events/store/segment-reader.ts'
import { packColdEvents } from '../../events/store/pack-task.ts'
import { readBacklog } from '../../ingest/spool/project-backlog.ts'
import { continueErasure } from './continue-erasure.ts'
import { erasureTask } from './erasure-task.ts'
import type { Erasure } from './privacy.api.ts'
import { spoolEntry } from '../../ingest/spool/entry.fixture.ts'

const t = await testServer({ realTime: true })
let owner: Client & { email: string }

beforeAll(async () => {
  owner = await aFounder(t.url)
})

async function erase(project: TestProject, userId: string): Promise<Erasure> {
  const answer = await owner.delete(`/api/projects/${project.id}/users/${encodeURIComponent(userId)}/data`)
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)])
  return answer.as<Erasure>()
}

/** Posts an envelope with items `[header, payload]`. */
async function post(
  project: TestProject,
  items: readonly [Record<string, unknown>, unknown][],
  header = {},
): Promise<void> {
  const { key, projectNumber } = dsnParts(project.dsn)
  const lines = items.map(([item, payload]) => {
    const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
    return `${JSON.stringify({ ...item, length: Buffer.byteLength(body) })}\n${body}\n`
  })
  const response = await fetch(`${t.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
    method: 'POST',
    body: `${JSON.stringify(header)}\n${lines.join('')}`,
  })
  expect(response.status).toBe(200)
}

async function send(project: TestProject, event: Record<string, unknown>): Promise<void> {
  await post(project, [[{ type: 'event' }, event]], { event_id: event['event_id'] })
}

const by = (id: string, fields: Record<string, unknown> = {}) => anEvent({ user: { id }, ...fields })
const count = async (sql: string, ...values: unknown[]): Promise<number> =>
  (await t.app.db.query<{ n: number }>(`select count(*)::int as n from ${sql}`, values)).rows[0]?.n ?? -1

const CANARY = 'zebracanary'
const SECRETS = ['person', 'mail', 'message', 'file', 'words', 'crumb', 'log', 'title'].map((one) => `${CANARY}-${one}`)

describe('erasing a user', () => {
  test('deletes user reports that name them only by e-mail address', async () => {
    const project = await aProject(owner)
    const report = (email: string) =>
      post(project, [[{ type: 'user_report' }, { event_id: newEventId(), email, comments: 'It broke.' }]])
    await report('Ada@Example.com')
    await report('grace@example.com')
    await t.service.drain()
    expect(await erase(project, 'ada@example.com')).toMatchObject({ state: 'done', erased: { feedback: 1 } })
    expect(await count('feedback where project_id = $1', project.id)).toBe(1)
  })

  test('keeps the same file of an event of another user', async () => {
    const project = await aProject(owner)
    const withFile = (eventId: string, user: string) =>
      post(
        project,
        [
          [{ type: 'event' }, by(user, { event_id: eventId })],
          [{ type: 'attachment', filename: 'a.log' }, 'the same lines'],
        ],
        { event_id: eventId },
      )
    const [theirs, others] = [newEventId(), newEventId()]
    await withFile(theirs, 'u1')
    await withFile(others, 'u2')
    await t.service.drain()
    const uses = () => count('blob_uses u join attachments a on a.id = u.holder_id where project_id = $1', project.id)
    expect(await uses()).toBe(2)
    expect(await erase(project, 'u1')).toMatchObject({ state: 'done', erased: { attachments: 1 } })
    expect(await uses()).toBe(1)
    const { rows } = await t.app.db.query<{ id: string }>('select id from attachments where event_id = $1', [others])
    const file = await owner.get(`/api/projects/${project.id}/attachments/${rows[0]?.id}`)
    expect([file.status, file.text]).toEqual([200, 'the same lines'])
  })

  test('deletes whole replays and the profiles that name them, and no others', async () => {
    const project = await aProject(owner)
    await owner.patch(`/api/projects/${project.id}/settings`, { store_replays: true, store_profiles: true })
    const segment = (replayId: string, segmentId: number, user: Record<string, unknown> | undefined) =>
      post(
        project,
        [
          [{ type: 'replay_event' }, { type: 'replay_event', replay_id: replayId, segment_id: segmentId, user }],
          [{ type: 'replay_recording' }, `{"segment_id":${segmentId}}\nrrweb of ${replayId}`],
        ],
        { event_id: replayId },
      )
    const [theirs, others] = [newEventId(), newEventId()]
    await segment(theirs, 0, undefined)
    await segment(theirs, 1, { id: 'u1' })
    await segment(others, 0, { id: 'u2', note: 'u1 was here' })
    const profileText = (text: string) => post(project, [[{ type: 'profile' }, text]], { event_id: newEventId() })
    const profile = (user: string) =>
      profileText(JSON.stringify({ version: '1', transaction: { name: '/', user: { id: user } } }))
    await profile('u1')
    await profile('u2')
    // With an escape, and too large to be parsed.
    await profileText(String.raw`{"transaction":{"user":{"id":"\u00751"}}}`)
    await profileText(String.raw`{"stack":"\u00e9","frames":"${'x'.repeat(3 << 20)}","user":{"id":"u1"}}`)
    await profileText(String.raw`{"stack":"\u00e9","frames":"${'x'.repeat(3 << 20)}","user":{"id":"u2"}}`)
    await t.service.drain()
    expect(await count('attachments where project_id = $1', project.id)).toBe(11)
    expect(await erase(project, 'u1')).toMatchObject({ state: 'done', erased: { recordings: 7 } })
    expect(await count('attachments where project_id = $1', project.id)).toBe(4)
    expect(await count('attachments where event_id = $1', theirs)).toBe(0)
    expect(await erase(project, 'u1')).toMatchObject({ state: 'done', erased: {} })
  })

  test('deletes all their data and no data of others', async () => {
    const project = await aProject(owner)
    const eventId = newEventId()
    const did = `${CANARY}-person`
    await post(
      project,
      [
        [
          { type: 'event' },
          anEvent({
            event_id: eventId,
            user: { id: did, email: `${CANARY}-mail@example.com` },
            error: { value: `${CANARY}-message failed` },
            transaction: `/users/${CANARY}-title`,
            breadcrumbs: [{ message: `${CANARY}-crumb` }],
          }),
        ],
        [{ type: 'attachment', filename: `${CANARY}-file.txt`, content_type: 'text/plain' }, `${CANARY}-file content`],
      ],
      { event_id: eventId },
    )
    await post(project, [
      [
        { type: 'user_report' },
        { event_id: eventId, name: `${CANARY}-person`, email: 'x@example.com', comments: `${CANARY}-words` },
      ],
    ])
    await post(project, [
      [
        { type: 'session' },
        {
          sid: newEventId(),
          did,
          init: true,
          started: new Date().toISOString(),
          status: 'ok',
          attrs: { release: 'a@1' },
        },
      ],
    ])
    await post(project, [
      [
        { type: 'log', item_count: 2, content_type: 'application/vnd.sentry.items.log+json' },
        {
          items: [
            {
              timestamp: Date.now() / 1000,
              trace_id: newEventId(),
              level: 'info',
              body: `${CANARY}-log`,
              attributes: { 'user.id': { value: did, type: 'string' } },
            },
            {
              timestamp: Date.now() / 1000,
              trace_id: newEventId(),
              level: 'info',
              body: 'of another user',
              attributes: { 'user.id': { value: 'other', type: 'string' } },
            },
          ],
        },
      ],
    ])
    await send(project, by('other', { error: { value: 'card declined' } }))
    await t.service.drain()
    const stored = await everythingStored(t.app.db)
    for (const secret of SECRETS) expect(stored.includes(secret), secret).toBe(true)
    const issuesBefore = await count('issues where project_id = $1', project.id)

    const erasure = await erase(project, did)
    expect(erasure).toMatchObject({
      state: 'done',
      erased: { events: 1, attachments: 1, feedback: 1, sessions: 1, logs: 1 },
    })
    const left = await everythingStored(t.app.db)
    for (const secret of SECRETS) expect(left.includes(secret), secret).toBe(false)
    expect(left.includes(CANARY)).toBe(false)
    expect(JSON.stringify(t.logLines)).not.toContain(CANARY)

    expect(await count('issues where project_id = $1', project.id)).toBe(issuesBefore)
    expect(await count('events where project_id = $1', project.id)).toBe(1)
    expect(await count(`logs where project_id = $1 and body = 'of another user'`, project.id)).toBe(1)
    // Counts stay: they identify no user.
    const { rows } = await t.app.db.query<{ n: number }>(
      'select sum(event_count)::int as n from issues where project_id = $1',
      [project.id],
    )
    expect(rows[0]?.n).toBe(2)
    expect((await owner.get(`/api/projects/${project.id}/issues`)).status).toBe(200)

    expect(await erase(project, did)).toMatchObject({ state: 'done', erased: {} })
  })

  test('ends only when events that were recorded before are folded', async () => {
    const project = await aProject(owner)
    await send(project, by('u1'))
    await t.service.drain()
    // A row of a shard that nothing folds.
    const row = await t.app.db.query<{ id: string }>(
      `insert into issue_journal (shard, body) values (99, '[]') returning id::text`,
    )
    const erasing = erase(project, 'u1')
    await waitFor('the erasure', async () => (await count('erasures where project_id = $1', project.id)) === 1)
    await delay(300)
    expect(await count(`erasures where project_id = $1 and state = 'running'`, project.id)).toBe(1)
    await t.app.db.query('delete from issue_journal where id = $1', [row.rows[0]?.id])
    expect(await erasing).toMatchObject({ state: 'done', erased: { events: 1, issues: 1 } })
  })

  test('an issue with events of others takes its title from theirs', async () => {
    const project = await aProject(owner)
    const of = (id: string, value: string) => by(id, { fingerprint: ['one'], error: { value } })
    await send(project, of('other', 'of another'))
    await send(project, of('u1', 'of the one'))
    await t.service.drain()
    const title = async () =>
      (await owner.get(`/api/projects/${project.id}/issues`)).as<{
        items: { id: string; title: string; user_count: number }[]
      }>().items[0]
    expect((await title())?.title).toBe('PaymentError: of the one')
    await erase(project, 'u1')
    expect(await title()).toMatchObject({ title: 'PaymentError: of another' })
    const issue = await owner.get(`/api/issues/${(await title())?.id}`)
    expect(issue.status).toBe(200)
    expect(issue.text).not.toContain('of the one')
    expect(await count('events where project_id = $1', project.id)).toBe(1)
  })

  test.each([
    ['slashes', 'tenants/7/users/ada'],
    ['spaces and signs', ' a b?c=d&e#f%20+"\'<>'],
    ['emoji', '👩‍🚀'.repeat(40)],
    ['200 and more characters', 'x'.repeat(250)],
    ['more than events keep', 'ü'.repeat(400)],
    ['a number', '4711'],
    ['an address', '203.0.113.99'],
  ])('works for an id with %s', async (_, id) => {
    const project = await aProject(owner)
    await send(project, by(id))
    await send(project, by('other'))
    await t.service.drain()
    expect(await erase(project, id)).toMatchObject({ state: 'done', erased: { events: 1, issues: 1 } })
    expect(await count('events where project_id = $1', project.id)).toBe(1)
  })

  test('also deletes from blocks of a packed day, and only their events', async () => {
    const project = await aProject(owner)
    const secret = `${CANARY}-packed`
    for (let n = 0; n < 6; n++)
      await send(
        project,
        by(n % 2 === 0 ? 'u1' : 'other', { extra: { text: `${n % 2 === 0 ? secret : 'kept'} ${n}` } }),
      )
    await t.service.drain()
    const tomorrow = new Date(Date.now() + 2 * 86_400_000)
    expect(await packColdEvents(t.app, { readBacklog, now: tomorrow, minBytes: 0 })).toBeGreaterThan(5)
    expect(await everythingStored(t.app.db)).toContain(secret)
    expect((await erase(project, 'u1')).erased).toMatchObject({ events: 3 })
    const left = await everythingStored(t.app.db)
    expect(left.includes(secret)).toBe(false)
    for (const n of [1, 3, 5]) expect(left).toContain(`kept ${n}`)
    const issues = (await owner.get(`/api/projects/${project.id}/issues`)).as<{ items: { id: string }[] }>()
    expect((await owner.get(`/api/issues/${issues.items[0]?.id}`)).text).toContain('kept 5')
  })

  test('leaves an issue the title of an event whose body is in object storage', async () => {
    const project = await aProject(owner)
    const now = Date.now() / 1000
    const kept = by('other', { error: 'Kept', timestamp: now - 60 })
    await send(project, kept)
    await send(project, by('u1', { error: 'Kept', timestamp: now }))
    await t.service.drain()
    const title = async () =>
      (await owner.get(`/api/projects/${project.id}/issues`)).as<{ items: { title: string }[] }>().items[0]?.title
    const before = await title()
    const json = Buffer.from(JSON.stringify(kept))
    const block = await packBlock(json)
    const key = { accessKeyId: 'a', secretAccessKey: 'b' }
    const place = { endpoint: 'http://127.0.0.1:1', region: 'eu-test-1', pathStyle: true }
    const there = new ObjectStore('s3://bucket', { ...place, ...key }, t.app)
    there.get = () => Promise.resolve(block)
    followSegments(t.app.db, new SegmentReader(there, () => 0))
    await t.app.db.query(
      `with e as (update events set body = null, body_encoding = 0, body_start = 0, body_end = $2, block_id = 900000
         where event_id = $1 returning received_day)
       insert into event_blocks (received_day, block_id, segment_id, segment_start, segment_end)
       select received_day, 900000, gen_random_uuid(), 0, $3 from e`,
      [kept.event_id, json.length, block.length],
    )
    expect((await erase(project, 'u1')).erased).toMatchObject({ events: 1, issues: 1 })
    expect(await title()).toBe(before)
    expect(before).toContain(':')
  })

  test('finds them by name, by e-mail address, or by the hash that a rule makes of the id', async () => {
    const project = await aProject(owner)
    await send(project, anEvent({ user: { username: 'ada' } }))
    await send(project, anEvent({ user: { email: 'ada@example.com' } }))
    await t.service.drain()
    expect((await erase(project, 'ada')).erased).toMatchObject({ events: 1 })
    expect((await erase(project, 'ada@example.com')).erased).toMatchObject({ events: 1 })

    await send(project, by('u1'))
    await t.service.drain()
    const rule = { path: 'user.id', pattern: 'anything', action: 'hash' }
    await owner.patch(`/api/projects/${project.id}/settings`, { scrub_rules: [rule] })
    await send(project, by('u1'))
    await t.service.drain()
    expect((await erase(project, 'u1')).erased).toMatchObject({ events: 2 })
    expect(await count('events where project_id = $1', project.id)).toBe(0)
  })

  test('deletes what events said about them; a user who returns is found again', async () => {
    const project = await aProject(owner)
    const found = async () => {
      const answer = await owner.get(`/api/projects/${project.id}/issues?q=user.email:ada@example.com`)
      return answer.as<{ total: number }>().total
    }
    const ada = () => send(project, anEvent({ user: { id: 'ada', email: 'ada@example.com' } }))
    await ada()
    await send(project, anEvent({ user: { id: 'eve', email: 'eve@example.com' } }))
    await t.service.drain()
    expect(await found()).toBe(1)
    expect(await erase(project, 'ada')).toMatchObject({ state: 'done' })
    expect(await found()).toBe(0)
    expect(await count(`user_identities where project_id = $1 and value like 'ada%'`, project.id)).toBe(0)
    expect(await count(`user_identities where project_id = $1 and value like 'eve%'`, project.id)).toBe(1)
    await waitFor('the digester to write the address again', async () => {
      await ada()
      await t.service.drain()
      return (await found()) === 1
    })
  })

  test('deletes nothing for users of another project or unknown users', async () => {
    const [project, other] = [await aProject(owner), await aProject(owner)]
    await send(other, by('u1'))
    await t.service.drain()
    expect(await erase(project, 'u1')).toMatchObject({ state: 'done', erased: {} })
    expect(await count('events where project_id = $1', other.id)).toBe(1)
  })
})

describe('data that is not digested yet', () => {
  test('keeps an erasure running, and so does the packing of a day', async () => {
    const project = await aProject(owner)
    await send(project, by('u1'))
    await t.service.drain()
    await t.app.db.query(
      `insert into event_packings (received_day, stage, started_at) values ('2020-01-01', 'copying', now())`,
    )
    expect(await erase(project, 'u1')).toMatchObject({ state: 'running', erased: { events: 1 } })
    await t.app.db.query(`delete from event_packings where received_day = '2020-01-01'`)
    await erasureTask.run(t.app, {}, new AbortController().signal)
    expect(await count(`erasures where project_id = $1 and state = 'done'`, project.id)).toBe(1)
  })

  test('keeps an erasure running that leaves work for object storage itself', async () => {
    const project = await aProject(owner)
    await send(project, by('u1'))
    await t.service.drain()
    // As if the body of the event were in an object.
    await t.app.db.query(`
      create function test_leave_removal() returns trigger language plpgsql as $$ begin
        insert into event_segment_removals values (gen_random_uuid(), current_date, 1, 0, 1);
        return null;
      end $$;
      create trigger test_leave_removal after delete on events for each row execute function test_leave_removal()`)
    expect(await erase(project, 'u1')).toMatchObject({ state: 'running', erased: { events: 1 } })
    await t.app.db.query('drop function test_leave_removal cascade; delete from event_segment_removals')
    await erasureTask.run(t.app, {}, new AbortController().signal)
    expect(await count(`erasures where project_id = $1 and state = 'done'`, project.id)).toBe(1)
  })

  test('is not stored when received before the request; later data is', async () => {
    const project = await aProject(owner)
    await send(project, by('u1'))
    await t.service.drain()
    await send(project, by('u1'))
    await send(project, by('other'))
    const running = await erase(project, 'u1')
    expect(running).toMatchObject({ state: 'running', finished_at: null, erased: { events: 1 } })
    await t.service.drain()
    expect(await count('events where project_id = $1', project.id)).toBe(1)
    expect(
      await count(`outcomes_hourly where project_id = $1 and outcome = 'discarded' and reason = 'erased'`, project.id),
    ).toBe(1)
    await erasureTask.run(t.app, {}, new AbortController().signal)
    const { rows } = await t.app.db.query('select state, user_key_sealed from erasures where project_id = $1', [
      project.id,
    ])
    expect(rows).toEqual([{ state: 'done', user_key_sealed: null }])
    await send(project, by('u1'))
    await t.service.drain()
    expect(await count('events where project_id = $1', project.id)).toBe(2)
  })

  test('an interrupted erasure continues', async () => {
    const project = await aProject(owner)
    for (let n = 0; n < 3; n++) await send(project, by('u1', { fingerprint: [`f${n}`] }))
    const { rows } = await t.app.db.query<{ id: string }>(
      `insert into erasures (id, project_id, org_id, user_hash, user_key_sealed, state, requested_at)
       select gen_random_uuid(), id, org_id, 1, null, 'done', now() from projects where id = $1 returning id`,
      [project.id],
    )
    expect(rows).toHaveLength(1)
    const first = await erase(project, 'u1')
    expect(first.state).toBe('running')
    await t.service.drain()
    // Interrupted at the first opportunity, repeatedly.
    const id =
      (
        await t.app.db.query<{ id: string }>(`select id from erasures where project_id = $1 and state = 'running'`, [
          project.id,
        ])
      ).rows[0]?.id ?? ''
    for (let n = 0; n < 10; n++) await continueErasure(t.app, id, AbortSignal.abort())
    await continueErasure(t.app, id, new AbortController().signal)
    expect(await count(`erasures where id = $1 and state = 'done'`, id)).toBe(1)
    expect(await count('events where project_id = $1', project.id)).toBe(0)
  })

  test('two parallel erasures have the same result as one', async () => {
    const project = await aProject(owner)
    for (let n = 0; n < 20; n++) await send(project, by('u1', { fingerprint: [`f${n % 4}`] }))
    await t.service.drain()
    const both = await Promise.all([erase(project, 'u1'), erase(project, 'u1')])
    expect(both.map(({ state }) => state)).toEqual(['done', 'done'])
    expect(await count('events where project_id = $1', project.id)).toBe(0)
  })

  test('deletes quarantined requests that may hold their data, and no others', async () => {
    const project = await aProject(owner)
    const { insertQuarantined } = await import('../../ingest/spool/spool.queries.ts')
    const { packEntries } = await import('../../ingest/spool/entry.ts')
    const bodies = [
      `{}\n{"type":"event"}\n${JSON.stringify(by('u\u00fc1'))}\n`,
      `{}\n{"type":"event"}\n${JSON.stringify(by('other', { extra: { n: 1 } }))}\n`,
      '{"broken": "uü1',
      'neither grammar nor name',
      '{"trace":{"user_id":1152921504606846977}}\n{"type":"event"}\n{"message":"x"}\n',
      '{}\n{"type":"event"}\n{"user":{"id":1152921504606846977}}\n',
      '{}\n{"type":"event"}\n{"user":{"id":1152921504606846978}}\n',
    ]
    for (const text of bodies) {
      const body = Buffer.from(text)
      const entry = spoolEntry({
        projectId: project.id,
        projectNumber: project.number,
        keyId: project.id,
        receivedAtMs: Date.now(),
        body,
      })
      await t.app.tx(async (tx) => {
        await insertQuarantined(tx, {
          projectId: project.id,
          receivedAt: new Date(),
          quarantinedAt: new Date(),
          reason: 'x',
          counted: [],
          attempts: 1,
          entry: packEntries([entry]),
          body,
        })
      })
    }
    expect((await erase(project, 'uü1')).erased).toEqual({ quarantined_requests: 2 })
    expect((await erase(project, '1152921504606847000')).erased).toEqual({})
    expect((await erase(project, '1152921504606846977')).erased).toEqual({ quarantined_requests: 2 })
    expect(await count('spool_quarantine where project_id = $1', project.id)).toBe(3)
  })
})
