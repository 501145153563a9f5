import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { envelopeOf, anEvent } from '#test/kit/sdk.ts'
import { waitFor } from '#test/kit/wait.ts'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { spoolEntry } from '../spool/entry.fixture.ts'
import type { SpoolEntry } from '../spool/entry.ts'
import { createHandOver } from '../spool/hand-over.ts'
import { createSpool } from '../spool/write.ts'
import { createDigester } from './digester.ts'
import { prepareEntry } from './prepare-entry.ts'
import { someProject } from './project-facts.fixture.ts'

const { app } = await testApp({ realTime: true })
let numbers = 4_000

type Target = { projectId: string; projectNumber: number; keyId: string }

async function anOrg(): Promise<string> {
  const id = newId()
  await app.db.query(
    `insert into orgs (id, slug, name, data_key_sealed, created_at) values ($1, $2, 'O', 'x', now())`,
    [id, `o${id}`],
  )
  return id
}

/** All projects are of one part. */
async function aTarget(orgId: string): Promise<Target> {
  const target = { projectId: newId(), projectNumber: (numbers += 4), keyId: newId() }
  await app.db.query(
    `insert into projects (id, number, org_id, name, slug, platform, region, settings, created_at) values ($1, $2, $3, 'P', $4, 'web', 'eu-central-1', '{}', now())`,
    [target.projectId, target.projectNumber, orgId, `p${numbers}`],
  )
  return target
}

const entryOf = (target: Target, body: string): SpoolEntry => spoolEntry({ ...target, receivedAtMs: Date.now(), body })

/** Half a megabyte. */
const huge = (): string => envelopeOf(anEvent({ extra: { text: randomBytes(250_000).toString('hex') } }))

/** How many events of a project were committed before the event of another one. */
async function recordedBefore(flood: Target, quiet: Target): Promise<number> {
  const { rows } = await app.db.query<{ project_id: string; tx: number }>(
    'select project_id, xmin::text::bigint as tx from events where project_id = any($1)',
    [[flood.projectId, quiet.projectId]],
  )
  const own = rows.filter((row) => row.project_id === flood.projectId)
  const [other, ...more] = rows.filter((row) => row.project_id === quiet.projectId)
  if (other === undefined || more.length > 0 || own.length !== PER_PROJECT) throw new Error('events are missing')
  return own.filter(({ tx }) => tx < other.tx).length
}

const PER_PROJECT = 12

test.each(['handed over', 'read from the table'])(
  'an event is digested next, although megabytes of others wait in its part, %s',
  async (how) => {
    const handOver = how === 'handed over' ? createHandOver() : null
    const digester = await createDigester(app, handOver?.connect() ?? null)
    const spool = createSpool(app, {}, handOver)
    try {
      const [flooding, calm] = [await anOrg(), await anOrg()]
      const floods = [await aTarget(flooding), await aTarget(flooding)]
      const quiet = await aTarget(calm)
      for (let n = 0; n < PER_PROJECT; n++) for (const flood of floods) await spool.append(entryOf(flood, huge()))
      await spool.append(entryOf(quiet, envelopeOf(anEvent())))
      await digester.drain()
      const before = await Promise.all(floods.map((flood) => recordedBefore(flood, quiet)))
      // In the order of receipt it would be 20 of 24.
      expect(Math.max(...before)).toBeLessThanOrEqual(PER_PROJECT / 2)
    } finally {
      await spool.close()
      await digester.close()
    }
  },
)

/** Log entries in one item. */
const logs = (entries: number): string => {
  const items = JSON.stringify({ items: Array.from({ length: entries }, () => ({ body: 'b', level: 'info' })) })
  return `{}\n${JSON.stringify({ type: 'log', item_count: entries, length: items.length })}\n${items}\n`
}

const eventsOf = async ({ projectId }: Target): Promise<number> =>
  (await app.db.query<{ n: number }>('select count(*) as n from events where project_id = $1', [projectId])).rows[0]
    ?.n ?? 0

/** Waits until one statement of this database waits for a lock. @param like a pattern of its text */
const waitForLock = (what: string, like: string): Promise<unknown> =>
  waitFor(what, async () => {
    const { rows } = await app.db.query(
      `select from pg_stat_activity where wait_event_type = 'Lock' and query like $1 and datname = current_database()`,
      [like],
    )
    return rows.length === 1
  })

test('many log entries are recorded beside the part: others do not wait, and their own project keeps its order', async () => {
  const digester = await createDigester(app)
  const spool = createSpool(app, {}, null)
  const [flood, quiet] = [await aTarget(await anOrg()), await aTarget(await anOrg())]
  const event = (): string => envelopeOf(anEvent())
  // The partitions of today exist before the table is locked.
  await spool.append(entryOf(flood, event()))
  await digester.drain()
  const stopping = new AbortController()
  const locked = await app.db.reserve()
  await locked.query('begin')
  await locked.query('lock table logs in exclusive mode')
  await spool.append(entryOf(flood, event()))
  await spool.append(entryOf(flood, `${logs(600)}${logs(600).slice(3)}`))
  await spool.append(entryOf(flood, event()))
  const running = digester.run(stopping.signal)
  try {
    await waitForLock('a commit of log entries', 'copy logs%')
    for (let n = 1; n <= 3; n++) {
      await spool.append(entryOf(quiet, event()))
      await waitFor('the event of another project', async () => (await eventsOf(quiet)) === n)
    }
    // The one before the log entries, and not the one after them.
    expect(await eventsOf(flood)).toBe(2)
    await locked.query('commit')
    await waitFor('the last event', async () => (await eventsOf(flood)) === 3)
  } finally {
    locked.release(true)
    stopping.abort()
    await running
    await spool.close()
    await digester.close()
  }
  const { rows } = await app.db.query(
    `select category, outcome, sum(quantity)::int as quantity from outcomes_hourly where project_id = $1 group by 1, 2 order by 1`,
    [flood.projectId],
  )
  expect(rows).toEqual([
    { category: 'error', outcome: 'accepted', quantity: 3 },
    { category: 'log_item', outcome: 'accepted', quantity: 1_200 },
  ])
  const issues = await app.db.query('select event_count from issues where project_id = $1', [flood.projectId])
  expect(issues.rows).toEqual([{ event_count: 3 }])
  expect((await app.db.query('select from spool')).rows).toHaveLength(0)
})

test('what was appended is counted within a second, also while a row of another project takes long to prepare', async () => {
  const digester = await createDigester(app)
  const spool = createSpool(app, {}, null)
  const [slow, quiet] = [await aTarget(await anOrg()), await aTarget(await anOrg())]
  const event = (): string => envelopeOf(anEvent())
  const count = async (): Promise<number> =>
    (
      await app.db.query<{ n: number }>('select event_count::int as n from issues where project_id = $1', [
        quiet.projectId,
      ])
    ).rows[0]?.n ?? 0
  await spool.append(entryOf(quiet, event()))
  await digester.drain()
  const stopping = new AbortController()
  const locked = await app.db.reserve()
  await locked.query('begin')
  // Preparing begins with the settings of a project, these among them.
  await locked.query('lock table discarded_fingerprints')
  await spool.append(entryOf(slow, event()))
  const running = digester.run(stopping.signal)
  try {
    await waitForLock('the row that is being prepared', '%discarded_fingerprints%')
    for (let n = 2; n <= 5; n++) {
      await spool.append(entryOf(quiet, event()))
      await waitFor('the event', async () => (await eventsOf(quiet)) === n)
    }
    await waitFor('its count', async () => (await count()) === 5)
    await locked.query('commit')
  } finally {
    locked.release(true)
    stopping.abort()
    await running
    await spool.close()
    await digester.close()
  }
})

test('of a request of many containers 10,000 entries are read, with pauses, and all have an outcome', async () => {
  const items = JSON.stringify({ items: Array.from({ length: 1_000 }, () => ({ body: 'b', level: 'info' })) })
  const item = `${JSON.stringify({ type: 'log', item_count: 1_000, length: items.length })}\n${items}\n`
  let pauses = 0
  const turn = { pause: () => (pauses++, null), outside: <T>(work: () => Promise<T>) => work() }
  const target = { projectId: newId(), projectNumber: 4, keyId: newId() }
  const parts = await prepareEntry(entryOf(target, `{}\n${item.repeat(13)}`), someProject(), turn)
  const sum = (isWanted: (part: (typeof parts)[number]) => boolean): number =>
    parts.filter(isWanted).reduce((total, { quantity }) => total + quantity, 0)
  expect(sum((part) => 'kind' in part && part.kind === 'logs')).toBe(10_000)
  expect(sum((part) => 'outcome' in part && part.outcome === 'invalid' && part.reason === 'too_many')).toBe(3_000)
  expect(pauses).toBeGreaterThanOrEqual(10_000)
})
