import { createHook } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { anEvent, sendEvent } from '#test/kit/sdk.ts'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { Issue } from '../../issues/rules/issue.api.ts'
import { MAX_ATTEMPTS } from '../spool/read.ts'
import { createDigester } from './digester.ts'

const server = await testServer({ realTime: true })

test('a row that ended too many workers goes to quarantine with an outcome; later rows are digested', async () => {
  const ada = await aFounder(server.url)
  const project = await aProject(ada)
  await sendEvent(server.url, project.dsn, anEvent())
  await server.app.db.query('update spool set attempts = $1', [MAX_ATTEMPTS + 1])
  await server.event({ project, level: 'fatal' })

  const { items } = (await ada.get('/api/issues')).as<{ items: Issue[] }>()
  expect(items).toMatchObject([{ event_count: 1, level: 'fatal' }])
  const { rows } = await server.app.db.query('select project_id, reason from spool_quarantine')
  expect(rows).toEqual([{ project_id: project.id, reason: 'Workers ended while they processed it.' }])
  const outcomes = await server.app.db.query('select outcome, reason, quantity from outcomes_hourly order by outcome')
  expect(outcomes.rows).toEqual([
    { outcome: 'accepted', reason: '', quantity: 1 },
    { outcome: 'dropped', reason: 'quarantine', quantity: 1 },
  ])
  expect((await server.app.db.query('select 1 from spool')).rows).toEqual([])
})

test('a flood in one project does not hold up another', async () => {
  const ada = await aFounder(server.url)
  const [busy, quiet] = [await aProject(ada), await aProject(ada)]
  await Promise.all(Array.from({ length: 200 }, () => sendEvent(server.url, busy.dsn, anEvent())))
  await server.event({ project: quiet })
  const { items } = (await ada.get('/api/issues')).as<{ items: Issue[] }>()
  expect(Object.fromEntries(items.map((issue) => [issue.project_id, issue.event_count]))).toEqual({
    [busy.id]: 200,
    [quiet.id]: 1,
  })
})

test('records each row of many batches once, although reading is ahead of committing', async () => {
  const ada = await aFounder(server.url)
  const project = await aProject(ada)
  await sendEvent(server.url, project.dsn, anEvent())
  const outcomes = async () =>
    (
      await server.app.db.query<{ outcome: string; quantity: number }>(
        'select outcome, sum(quantity)::int as quantity from outcomes_hourly where project_id = $1 group by 1 order by 1',
        [project.id],
      )
    ).rows
  // A row with a lower id than all others becomes visible only after they were digested.
  const late = await server.app.db.reserve()
  const copies = `insert into spool (shard, project_number, received_at, entry_count, byte_count, entries, body)
                  select shard, project_number, received_at, entry_count, byte_count, entries, body from spool limit 1`
  await late.query('begin')
  await late.query(copies)
  await server.app.db
    .query(`insert into spool (shard, project_number, received_at, entry_count, byte_count, entries, body)
    select shard, project_number, received_at, entry_count, byte_count, entries, body from spool, generate_series(1, 900)`)
  await server.service.drain()
  expect(await outcomes()).toEqual([
    { outcome: 'accepted', quantity: 1 },
    { outcome: 'duplicate', quantity: 900 },
  ])
  await late.query('commit')
  late.release()
  await server.service.drain()
  expect(await outcomes()).toEqual([
    { outcome: 'accepted', quantity: 1 },
    { outcome: 'duplicate', quantity: 901 },
  ])
  expect((await server.app.db.query('select 1 from spool')).rows).toEqual([])
})

/**
 * Counts promises that are made from now on and stay on the heap. `queryObjects` looks at the objects of all files that
 * ran before in this process, which takes a minute of processor time.
 */
function watchPromises(): { kept(): Promise<number>; stop(): void } {
  const kept = new Set<number>()
  const hook = createHook({
    init: (id, type) => void (type === 'PROMISE' && kept.add(id)),
    destroy: (id) => void kept.delete(id),
  }).enable()
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  return {
    async kept() {
      collectGarbage()
      await setImmediate()
      return kept.size
    },
    stop: () => void hook.disable(),
  }
}

test('waiting for rows does not leak memory', async () => {
  // The service holds the shards, so this digester only waits, like an idle one.
  const digester = await createDigester(server.app)
  const stopping = new AbortController()
  const running = digester.run(stopping.signal)
  const notifyOften = async (times: number) => {
    for (let sent = 0; sent < times; sent++) await server.app.db.query(`select pg_notify('faultline_spool', '0')`)
  }
  try {
    await notifyOften(20)
    const promises = watchPromises()
    await notifyOften(300)
    expect(await promises.kept()).toBeLessThan(100)
    promises.stop()
  } finally {
    stopping.abort()
    await running
    await digester.close()
  }
})
