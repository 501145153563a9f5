import { gunzipSync } from 'node:zlib'
import { BUCKET_SECONDS } from '#server/telemetry/app-health/buckets.ts'
import { LEVEL_DIMENSIONS, LEVELS, COUNTS, type Counts } from '#server/telemetry/app-health/dimensions.ts'
import { foldHealth } from '#server/telemetry/app-health/fold-health.ts'
import type { ReceivedSession } from '#server/telemetry/app-health/record-sessions.ts'
import { countedOnce, sumCells } from '#server/telemetry/app-health/recount.fixture.ts'
import type { SessionStatus } from '#server/events/protocol/session.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { readEdgeCases, readIntakeSamples, SAMPLE_KEY, SAMPLE_PROJECT, type Sample } from '#test/kit/samples.ts'
import { testServer } from '#test/kit/test-server.ts'
import { readSessionTotals, type SessionTotalsQuery } from '#server/telemetry/app-health/session-totals.ts'

/** Sessions as SDKs send them, through the running service, up to the rates that members see. */

const server = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
const { app, clock } = server
const owner = await aFounder(server.url)
const { id: projectId } = await aProject(owner, { name: 'Recorded' })
await app.db.query('update projects set number = $2 where id = $1', [projectId, SAMPLE_PROJECT])
await app.db.query('update project_keys set public_key = $2 where project_id = $1', [projectId, SAMPLE_KEY])

const samples = new Map(
  readIntakeSamples().map((sample) => [sample.name.slice(0, sample.name.indexOf('/') + 4), sample]),
)
const NOON = '2026-11-20T05:00:00.000Z'

beforeEach(async () => {
  clock.set(NOON)
  for (const table of ['app_sessions', 'health_deltas', 'health_rollups', 'health_sketches', 'outcomes_hourly'])
    await app.db.query(`delete from ${table} where project_id = $1`, [projectId])
})

async function replay(...names: string[]): Promise<void> {
  for (const name of names) {
    const sample = samples.get(name)
    if (sample === undefined) throw new Error(`no recording ${name}`)
    expect(await post(sample), name).toBe(200)
    await server.service.drain()
  }
}

async function post({ url, headers, body }: Pick<Sample, 'url' | 'headers' | 'body'>): Promise<number> {
  const response = await fetch(server.url + url, { method: 'POST', headers, body: new Uint8Array(body) })
  await response.arrayBuffer()
  return response.status
}

/** One envelope with items of these types and payloads. */
async function send(items: readonly (readonly [type: string, payload: unknown])[], sentAt?: string): Promise<number> {
  const lines = [JSON.stringify(sentAt === undefined ? {} : { sent_at: sentAt })]
  for (const [type, payload] of items)
    lines.push(JSON.stringify({ type }), typeof payload === 'string' ? payload : JSON.stringify(payload))
  const status = await post({
    url: `/api/${SAMPLE_PROJECT}/envelope/?sentry_key=${SAMPLE_KEY}`,
    headers: {},
    body: Buffer.from(`${lines.join('\n')}\n`),
  })
  await server.service.drain()
  return status
}

const totals = (filter: Partial<SessionTotalsQuery> = {}) =>
  readSessionTotals(app.db, { projectId, from: new Date('2026-11-14'), to: new Date('2026-11-30'), ...filter })

const between = (from: string, to: string) => totals({ from: new Date(from), to: new Date(to) })

const outcomes = async (): Promise<string[]> =>
  (
    await app.db.query<{ line: string }>(
      `select outcome || ' ' || reason || ' ' || quantity as line from outcomes_hourly
       where project_id = $1 and category = 'session' order by 1`,
      [projectId],
    )
  ).rows.map((row) => row.line)

describe('recordings', () => {
  test('a crash in node 11, with event and session, is one session and 0 % crash-free', async () => {
    await replay('node-11.12.0/013', 'node-11.12.0/014')
    expect(await totals()).toMatchObject({ total: 1, crashed: 1, crash_free_sessions: 0 })
  })

  test("java's repeated updates count once", async () => {
    const all = ['001', '002', '003', '004', '008', '009', '013'].map((number) => `java-8.53.0/${number}`)
    await replay(...all)
    const expected = { total: 1, crashed: 1, errored: 0, healthy: 0 }
    expect(await totals()).toMatchObject(expected)
    // The same again, in reverse order.
    await replay(...all.toReversed())
    expect(await totals()).toMatchObject(expected)
    expect(await outcomes()).toEqual([`accepted  ${2 * all.length}`])
  })

  test("browser 10's second crash of a session counts once", async () => {
    await replay('browser-10.78.0/001', 'browser-10.78.0/003', 'browser-10.78.0/008')
    expect(await totals()).toMatchObject({ total: 1, crashed: 1, users: 1, crashed_users: 1, crash_free_users: 0 })
    await replay('browser-10.78.0/009')
    expect(await totals()).toMatchObject({ total: 2, crashed: 1, healthy: 1, users: 1, crash_rate: 0.5 })
    expect(await totals({ os: 'Linux' })).toMatchObject({ total: 2 })
    expect(await totals({ os: 'Windows' })).toMatchObject({ total: 0, crash_rate: null })
  })

  test('browser 11 sends unhandled where browser 10 sent crashed', async () => {
    await replay('browser-11.12.0/001', 'browser-11.12.0/003')
    expect(await totals()).toMatchObject({ total: 1, crashed: 0, crash_rate: 0, unhandled: 1, unhandled_rate: 1 })
  })

  test('an app that hangs is an ANR', async () => {
    await replay('java-8.53.0/014', 'java-8.53.0/015', 'node-11.12.0/022', 'node-11.12.0/023')
    expect(await totals()).toMatchObject({ total: 2, abnormal: 2, anr_foreground: 2, anr_rate: 1, crash_rate: 0 })
  })

  test('the figures of all recordings, per release', async () => {
    await replay(...samples.keys())
    const nothing = { errored: 0, unhandled: 0, abnormal: 0, crashed: 0, anr_foreground: 0, users: 0, crashed_users: 0 }
    const expected = {
      'shop-api@1.4.0+77': { total: 16, healthy: 6, errored: 4, abnormal: 1, anr_foreground: 1, crashed: 5, users: 1 },
      'shop-web@2.3.0': { total: 4, healthy: 2, unhandled: 1, crashed: 1, users: 1, crashed_users: 1 },
      'com.acme.shop@1.4.0+77': { total: 2, healthy: 0, abnormal: 1, anr_foreground: 1, crashed: 1 },
      'com.acme.game@3.1.0+9': { total: 4, healthy: 1, errored: 1, crashed: 2, users: 1, crashed_users: 1 },
      'py-worker@1.2.3': { total: 1, healthy: 1, users: 1 },
      'py-web@2.0.0': { total: 4, healthy: 2, errored: 1, crashed: 1 },
    }
    for (const [release, figures] of Object.entries(expected))
      expect(await totals({ release, environment: 'production' }), release).toMatchObject({ ...nothing, ...figures })
    expect(await totals()).toMatchObject({ total: 31 })
    expect(await outcomes()).toEqual(['accepted  32'])
    const { rows } = await app.db.query<{ text: string }>(
      'select s::text as text from app_sessions s union all select a::text from health_attributes a union all select d::text from health_deltas d',
    )
    for (const { text } of rows) expect(text).not.toMatch(/web-42|n-1|203\.0\.113/)
  })
})

test('every count of the recordings equals a recount of their items, at every level', async () => {
  await replay(...samples.keys())
  await foldHealth(app)
  const facts = [...samples.values()].flatMap(sessionsOf)
  expect(facts.length).toBe(32)
  const counted = countedOnce(facts, () => undefined)
  const { rows } = await app.db.query<{ level: number; values: (string | null)[]; seconds: number; at: Date } & Counts>(
    `select coalesce(a.level, 0) as level, array[a.release, a.environment] as values, r.bucket_seconds as seconds,
       r.bucket as at, ${COUNTS.map((name) => `sum(r.${name})::bigint as ${name}`).join(', ')}
     from health_rollups r left join health_attributes a on a.project_id = r.project_id and a.id = r.attributes_id
     where r.project_id = $1 and r.source = 0 group by 1, 2, 3, 4 having sum(r.total) <> 0`,
    [projectId],
  )
  expect(new Set(rows.map(({ level }) => level)).size).toBe(LEVELS.length)
  for (const [index, level] of LEVELS.entries()) {
    // Events of the recordings name the devices of some sessions, so of those only the sums are compared.
    const named = (['release', 'environment'] as const).filter((one) => LEVEL_DIMENSIONS[level].includes(one))
    for (const seconds of BUCKET_SECONDS) {
      const expected = sumCells(counted, ({ at, attributes }) => [
        JSON.stringify([named.map((one) => attributes[one]), Math.floor(at / (seconds * 1000)) * seconds]),
      ])
      const stored = new Map(
        rows
          .filter((row) => row.level === index && row.seconds === seconds)
          .map(({ values, at, ...row }) => [
            JSON.stringify([values.filter((value) => value !== null), at.getTime() / 1000]),
            COUNTS.map((name) => row[name]),
          ]),
      )
      expect(Object.fromEntries(stored)).toEqual(
        Object.fromEntries([...expected].map(([key, cell]) => [key, COUNTS.map((name) => cell.counts[name])])),
      )
    }
  }
})

/** The sessions of a recording, read in the simplest way: each item is a line of header and a line of payload. */
function sessionsOf({ body, headers }: Sample): ReceivedSession[] {
  const encoding = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-encoding')?.[1]
  const text = (encoding === 'gzip' ? gunzipSync(body) : body).toString()
  const lines = text.split('\n')
  return lines.flatMap((line, index): ReceivedSession[] => {
    const isUpdate = line.startsWith('{') && /"type":\s*"session"/.test(line)
    if (!isUpdate && !(line.startsWith('{') && /"type":\s*"sessions"/.test(line))) return []
    const raw = JSON.parse(lines[index + 1] ?? '') as RawSession
    const attributes = { ...raw.attrs, environment: raw.attrs.environment ?? 'production', os: null, device: null }
    const timeOf = (sent: string): number => Date.parse(sent)
    if (!isUpdate) {
      const counts = (raw.aggregates ?? []).map(({ started, ...one }) => ({
        ...ZERO,
        ...one,
        startedAt: timeOf(started),
      }))
      return [{ projectId, fact: { aggregates: { attributes, counts } } }]
    }
    const update = {
      sid: raw.sid.replaceAll('-', ''),
      did: raw.did ?? null,
      isInit: raw.init === true,
      status: raw.status ?? 'ok',
      errors: raw.errors ?? 0,
      startedAt: timeOf(raw.started),
      timestamp: 0,
      durationMs: null,
      mechanism: raw.abnormal_mechanism ?? null,
      attributes,
    }
    return [{ projectId, fact: { update } }]
  })
}

type RawSession = {
  readonly sid: string
  readonly did?: string
  readonly init?: boolean
  readonly status?: SessionStatus
  readonly errors?: number
  readonly started: string
  readonly abnormal_mechanism?: string
  readonly attrs: { readonly release: string; readonly environment?: string }
  readonly aggregates?: readonly { readonly started: string }[]
}
const ZERO = { did: null, exited: 0, errored: 0, crashed: 0, abnormal: 0, unhandled: 0 }

describe('time', () => {
  test('a capture with sent_at replayed a day later is shifted by that day', async () => {
    clock.set('2026-11-21T05:00:00.000Z')
    await replay('browser-10.78.0/001', 'node-11.12.0/013', 'node-11.12.0/019')
    expect(await between('2026-11-20', '2026-11-21')).toMatchObject({ total: 0 })
    expect(await between('2026-11-21T04:59:00Z', '2026-11-21T05:00:00Z')).toMatchObject({ total: 7 })
  })

  test('a capture without sent_at keeps its times', async () => {
    clock.set('2026-11-21T05:00:00.000Z')
    await replay('python-2.68.0/011', 'python-2.68.0/018')
    expect(await between('2026-11-20T04:41:00Z', '2026-11-20T04:42:00Z')).toMatchObject({ total: 5 })
  })

  test('sessions older than five days are dropped, with status 200', async () => {
    clock.set('2026-11-25T04:41:02.000Z')
    await replay('python-2.68.0/011', 'python-2.68.0/018')
    expect(await totals()).toMatchObject({ total: 0, crash_rate: null })
    expect(await outcomes()).toEqual(['discarded too_old 2'])
    await replay('node-11.12.0/013')
    expect(await totals()).toMatchObject({ total: 1 })
  })

  test('an end that arrives four days late updates the bucket of the start', async () => {
    const session = { sid: 'a'.repeat(32), started: '2026-11-20T04:00:10Z', attrs: { release: 'a' } }
    await send([['session', { ...session, init: true }]])
    clock.set('2026-11-24T12:00:00.000Z')
    expect(await send([['session', { ...session, status: 'crashed', timestamp: '2026-11-20T04:10:00Z' }]])).toBe(200)
    expect(await between('2026-11-20T04:00:00Z', '2026-11-20T04:01:00Z')).toMatchObject({ total: 1, crashed: 1 })
    expect(await totals()).toMatchObject({ total: 1 })
  })
})

test('an erased user stays in counts but not in hashes, also when data arrives later', async () => {
  const of = (sid: string) => ({ sid: sid.repeat(32), did: 'ada', started: NOON, attrs: { release: 'a' } })
  const hashes = async (): Promise<unknown[]> =>
    (
      await app.db.query<{ user_hash: number | null }>('select user_hash from app_sessions where project_id = $1', [
        projectId,
      ])
    ).rows
  await send([['session', of('1')]])
  expect(await hashes()).toEqual([{ user_hash: expect.any(Number) as number }])
  const spooled = await post({
    url: `/api/${SAMPLE_PROJECT}/envelope/?sentry_key=${SAMPLE_KEY}`,
    headers: {},
    body: Buffer.from(
      `{}\n{"type":"session"}\n${JSON.stringify(of('2'))}\n{"type":"sessions"}\n{"attrs":{"release":"a"},"aggregates":[{"started":"${NOON}","did":"ada","exited":1}]}\n`,
    ),
  })
  expect(spooled).toBe(200)
  // The clock was moved both ways.
  await owner.post('/api/auth/login', { email: owner.email, password: owner.password })
  expect((await owner.delete(`/api/projects/${projectId}/users/ada/data`)).status).toBe(200)
  await server.service.drain()
  expect(await hashes()).toEqual([{ user_hash: null }, { user_hash: null }])
  expect(await totals()).toMatchObject({ total: 3 })
  clock.advance(1_000)
  await send([['session', of('3')]])
  expect(await hashes()).toContainEqual({ user_hash: expect.any(Number) as number })
})

describe('what an SDK should not send', () => {
  const edgeCases = new Map(readEdgeCases().map((one) => [one.file.slice(0, 2), one]))
  const replayEdge = async (number: string): Promise<void> => {
    const edge = edgeCases.get(number)
    if (edge === undefined) throw new Error(`no edge case ${number}`)
    expect(await post(edge)).toBe(200)
    await server.service.drain()
  }

  test('three sessions in items without lengths are three', async () => {
    await replayEdge('14')
    expect(await totals()).toMatchObject({ total: 3, healthy: 3 })
  })

  test('sessions with an unknown status or without a release are invalid', async () => {
    await replayEdge('15')
    await replayEdge('16')
    expect(await totals()).toMatchObject({ total: 0 })
    expect(await outcomes()).toEqual(['invalid no_release 1', 'invalid unknown_status 1'])
  })

  test('each item has one outcome, and does not affect others of its envelope', async () => {
    const sound = { sid: 'b'.repeat(32), started: NOON, attrs: { release: 'a' } }
    const status = await send([
      ['session', 'not json'],
      ['session', '[]'],
      ['session', `{"attrs":${'['.repeat(70)}${']'.repeat(70)}}`],
      ['sessions', `{"aggregates":[${'1,'.repeat(100_001)}1]}`],
      ['session', sound],
      ['session', { ...sound, sid: 'c'.repeat(32), started: '2026-11-20T05:02:00Z' }],
      ['session', { ...sound, sid: 'd'.repeat(32), __proto__: { status: 'crashed' } }],
      ['sessions', { attrs: { release: 'a' }, aggregates: [{ started: NOON, exited: -1, crashed: 'NaN' }] }],
    ])
    expect(status).toBe(200)
    expect(await outcomes()).toEqual([
      'accepted  2',
      'discarded in_future 1',
      'invalid no_counts 1',
      'invalid not_an_object 1',
      'invalid not_json 1',
      'invalid too_deep 1',
      'invalid too_many_values 1',
    ])
    expect(await totals()).toMatchObject({ total: 2, healthy: 2 })
  })

  test('a list of 20,000 aggregates is one item, and all of them count', async () => {
    const aggregates = Array.from({ length: 20_000 }, (_, index) => ({
      started: new Date(Date.parse(NOON) - (index % 600) * 60_000).toISOString(),
      exited: 2,
      did: `user ${index}`,
    }))
    expect(await send([['sessions', { attrs: { release: 'a' }, aggregates }]])).toBe(200)
    const figures = await totals()
    expect(figures.total).toBe(40_000)
    // Four standard errors of the sketch.
    expect(Math.abs(figures.users / 20_000 - 1)).toBeLessThan(0.065)
    expect(await outcomes()).toEqual(['accepted  1'])
  })

  test('names are stored without NUL and lone surrogates', async () => {
    const attrs = {
      release: 'a\0b\ud800',
      environment: 'x\0',
      user_agent: 'Mozilla/5.0 \0 (Linux; Android 14; \ud800)',
    }
    const session = { sid: 'e'.repeat(32), started: NOON, did: '\0\ud800', status: 'abnormal', attrs }
    expect(await send([['session', { ...session, abnormal_mechanism: 'm\0' }]])).toBe(200)
    expect(await totals()).toMatchObject({ total: 1, abnormal: 1 })
    expect(await outcomes()).toEqual(['accepted  1'])
  })
})
