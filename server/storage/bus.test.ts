import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { publish } from './bus.ts'

const { app } = await testApp()

test('a message published in a transaction arrives once it commits, and not before', async () => {
  const heard: unknown[] = []
  const stop = app.bus.on('topic', (payload) => void heard.push(payload))
  const client = await app.pool.connect()
  await client.query('begin')
  await publish(client, 'topic', { n: 1 })
  await publish(app.pool, 'topic', { n: 0 })
  await waitFor('the first message', () => heard.length === 1)
  await client.query('commit')
  client.release()
  await waitFor('the second message', () => heard.length === 2)
  stop()
  expect(heard).toEqual([{ n: 0 }, { n: 1 }])
})

test('a cut connection is restored, and listeners are told of the gap', async () => {
  let gaps = 0
  const heard: unknown[] = []
  app.bus.onGap(() => void gaps++)
  app.bus.on('after', (payload) => void heard.push(payload))
  await app.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'faultline bus' and datname = current_database()`,
  )
  await waitFor('the gap', () => gaps === 1)
  await publish(app.pool, 'after', 'here')
  await waitFor('the message', () => heard.length === 1)
})

test('a payload PostgreSQL would refuse is refused with a clear message', async () => {
  await expect(publish(app.pool, 'topic', 'x'.repeat(9_000))).rejects.toThrow('too large')
})
