import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../kernel/ids.ts'
import type { Connection, Statement } from '../storage/database.ts'
import { countDeliveries, selectDeliveries, type Filter, type Status } from './deliveries.queries.ts'
import { claimDeliveries, selectDue } from './engine.queries.ts'
import { aLane, anOrg } from './outbox.fixture.ts'
import { endDeliveries } from './outbox.queries.ts'

const LANES = 20
const DELIVERIES = 60_000

const { app } = await testApp()

/** Deliveries of every status and type, most of them delivered, a tenth due now. */
async function fill(orgId: string, laneIds: readonly string[]): Promise<void> {
  const { db } = app
  await db.query(
    `insert into outbox_messages (id, org_id, type, body) select 'evt_' || i, $1, 'a', '' from generate_series(1, 100) i`,
    [orgId],
  )
  await db.query(
    `insert into outbox_deliveries
       (id, lane_id, org_id, message_id, type, state, next_attempt_at, due_at, attempts_made, created_at)
     select 'd_' || i, ($2::uuid[])[1 + i % cardinality($2::uuid[])], $1, 'evt_' || 1 + i % 100, 'type.' || i % 37,
       case i % 10 when 0 then 'pending' when 1 then 'failed' else 'delivered' end,
       case when i % 10 = 0 then now() when i % 30 = 1 then now() + interval '1 hour' end,
       case when i % 10 = 0 then now() when i % 30 = 1 then now() + interval '1 hour' end,
       case i % 10 when 0 then 0 else 1 end, now() - i * interval '1 second'
     from generate_series(1, $3::int) i`,
    [orgId, laneIds, DELIVERIES],
  )
  for (const table of ['outbox_deliveries', 'outbox_messages', 'outbox_lanes'])
    await db.query(`vacuum analyze ${table}`)
}

/** Runs statements as `explain analyze`. @returns pages read and the plan */
async function cost(work: (on: Connection) => Promise<unknown>): Promise<{ pages: number; plan: string }> {
  let plan = ''
  const explained = Object.assign(Object.create(app.db) as Connection, {
    async query(statement: string | Statement, values?: readonly unknown[]) {
      const text = typeof statement === 'string' ? statement : statement.text
      const given = typeof statement === 'string' ? values : statement.values
      const { rows } = await app.db.query<{ 'QUERY PLAN': string }>(`explain (analyze, buffers) ${text}`, given)
      plan = rows.map((row) => row['QUERY PLAN']).join('\n')
      return { rows: [], rowCount: 0 }
    },
  })
  await work(explained)
  const pages = /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(plan)
  return { pages: Number(pages?.[1] ?? 0) + Number(pages?.[2] ?? 0), plan }
}

test('no statement reads a share of all deliveries', async () => {
  const orgId = await anOrg(app)
  const laneIds: string[] = []
  for (let lane = 0; lane < LANES; lane++) laneIds.push(await aLane(app, orgId))
  await fill(orgId, laneIds)
  const [laneId = ''] = laneIds
  const filter = (statuses: Status[] | null, type: string | null = null): Filter => ({
    laneId,
    statuses,
    type,
    from: null,
    to: null,
  })
  const page = { limit: 26, offset: 0, after: null }
  const claim = (on: Connection) =>
    claimDeliveries(on, {
      token: newId(),
      leaseMs: 30_000,
      channels: ['test'],
      free: 1_000,
      freeWithReserve: 1_200,
      orgs: new Map(),
      maxPerOrg: 500,
      maxRows: 50,
      leasesEndedBy: Infinity,
    })
  /** All deliveries fill about 3,000 pages, their indexes another 3,000. */
  const bounds: [string, number, (on: Connection) => Promise<unknown>][] = [
    ['the look for due work', 400, (on) => selectDue(on, ['test'], Infinity)],
    // Most pages are those of the indexes that it writes: some forty for each delivery.
    ['a claim', 3_000, claim],
    ['a page', 60, (on) => selectDeliveries(on, filter(null), page)],
    ['a page of a state', 400, (on) => selectDeliveries(on, filter(['failed', 'retrying']), page)],
    ['a page of a rare state', 400, (on) => selectDeliveries(on, filter(['in_flight']), page)],
    ['a page of a type', 400, (on) => selectDeliveries(on, filter(null, 'type.3'), page)],
    ['a page of a state and type', 100, (on) => selectDeliveries(on, filter(['failed'], 'type.3'), page)],
    ['a count', 100, (on) => countDeliveries(on, filter(null), 100)],
    ['a count of a state', 150, (on) => countDeliveries(on, filter(['delivered']), 100)],
  ]
  const over: string[] = []
  for (const [what, maxPages, work] of bounds) {
    const { pages, plan } = await cost(work)
    if (pages > maxPages || /Seq Scan on outbox_deliveries/.test(plan)) over.push(`${what}: ${pages}\n${plan}`)
  }
  await app.db
    .updateTable('outbox_lanes')
    .set({ closed_at: new Date(), closed_reason: 'test' })
    .where('id', '=', laneId)
    .execute()
  const { pages, plan } = await cost((on) => endDeliveries(on, laneId, 50, Infinity))
  if (pages > 3_000 || plan.includes('Seq Scan on outbox_deliveries')) over.push(`ending: ${pages}\n${plan}`)
  expect(over).toEqual([])
}, 60_000)
