import { expect, test } from 'vitest'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { newEventId } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'

const server = await testServer({ realTime: true, digestion: 'inline' })
const { app } = server

test('a row committed after one with a higher id is digested while traffic goes on', async () => {
  await aProject(await aFounder(server.url))
  const { rows } = await app.pool.query<{ project_id: string; key_id: string; number: number }>(
    'select p.id as project_id, k.id as key_id, p.number from projects p join project_keys k on k.project_id = p.id',
  )
  const { project_id, key_id, number } = rows[0]!
  /** A row as the intake makes it, with one event so many times. */
  const rowOf = (eventId: string, times: number): { entries: Buffer; body: Buffer } => {
    const body = Buffer.from(`{"event_id":"${eventId}"}\n{"type":"event"}\n{"message":"one"}\n`)
    const entry = [project_id, number, key_id, Date.now(), 0, 0, null, null, null, null, eventId, [], body.length]
    return {
      body: Buffer.concat(Array.from({ length: times }, () => body)),
      entries: Buffer.from(JSON.stringify(Array.from({ length: times }, () => entry))),
    }
  }
  const isStored = async (eventId: string): Promise<boolean> => {
    const stored = await app.pool.query(`select 1 from events where event_id = $1::uuid`, [eventId])
    return stored.rowCount === 1
  }

  // Its id is taken now, it becomes visible below.
  const late = newEventId()
  const writer = await app.pool.connect()
  await writer.query('begin')
  const { entries, body } = rowOf(late, 1)
  await writer.query(
    'insert into spool (shard, received_at, entry_count, byte_count, entries, body) values ($1, now(), 1, $2, $3, $4)',
    [number % 4, body.length, entries, body],
  )

  // A row every few milliseconds that takes longer to digest: for seconds, whenever the digester looks, there is something new.
  const feeder = await app.pool.connect()
  const first = newEventId()
  const one = rowOf(first, 100)
  const feed = feeder.query(
    `do $$ begin for i in 1..600 loop
         insert into spool (shard, received_at, entry_count, byte_count, entries, body)
         values (${number % 4}, now(), 1, ${one.body.length}, '\\x${one.entries.toString('hex')}', '\\x${one.body.toString('hex')}');
         commit; perform pg_sleep(0.004);
       end loop; end $$`,
  )
  try {
    await waitFor('the traffic to be digested', () => isStored(first))
    await writer.query('commit')
    await waitFor('the late event', () => isStored(late))
    const { rows: left } = await app.pool.query<{ n: number }>('select count(*) as n from spool')
    expect(left[0]?.n).toBeGreaterThan(0)
  } finally {
    await feed
    feeder.release()
    writer.release()
  }
})
