import { expect, onTestFinished, test } from 'vitest'
import { startDatabaseProxy } from '#test/kit/database-proxy.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { openBus, publish } from './bus.ts'

const { app, connectionString } = await testApp()

test('a message published in a transaction arrives once it commits, and not before', async () => {
  const received: unknown[] = []
  const stop = app.bus.on('topic', (payload) => void received.push(payload))
  const client = await app.db.reserve()
  await client.query('begin')
  await publish(client, 'topic', { n: 1 })
  await publish(app.db, 'topic', { n: 0 })
  await waitFor('the first message', () => received.length === 1)
  await client.query('commit')
  client.release()
  await waitFor('the second message', () => received.length === 2)
  stop()
  expect(received).toEqual([{ n: 0 }, { n: 1 }])
})

test('a cut connection is restored, and listeners are called because of the gap', async () => {
  let gaps = 0
  const received: unknown[] = []
  app.bus.onGap(() => void gaps++)
  app.bus.on('after', (payload) => void received.push(payload))
  await app.db.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'faultline bus' and datname = current_database()`,
  )
  await waitFor('the gap', () => gaps === 1)
  await publish(app.db, 'after', 'here')
  await waitFor('the message', () => received.length === 1)
})

test('a payload that PostgreSQL would refuse is refused with a clear error', async () => {
  await expect(publish(app.db, 'topic', 'x'.repeat(9_000))).rejects.toThrow('too large')
})

/** A bus that reaches the database through a simulated network, and the errors it reports. */
async function aBusBehindANetwork() {
  const network = await startDatabaseProxy(connectionString)
  onTestFinished(() => network.close())
  const errors: string[] = []
  const bus = await openBus(network.connectionString, (error) => void errors.push(error.message))
  return { network, bus, errors }
}

const closesSoon = async (close: Promise<void>): Promise<void> => {
  const startedAt = performance.now()
  await close
  expect(performance.now() - startedAt).toBeLessThan(4_000)
}

test('closing ends an attempt to connect again, without an error', async () => {
  const { network, bus, errors } = await aBusBehindANetwork()
  network.setFaults({ reset: true })
  network.setFaults({ silent: true })
  await waitFor('the next attempt, which gets no answer', () => network.connections() > 0)
  const before = errors.length
  await closesSoon(bus.close())
  network.setFaults({})
  expect(errors.slice(before)).toEqual([])
})

test('closing does not wait for an answer over a broken network', async () => {
  const { network, bus } = await aBusBehindANetwork()
  network.setFaults({ silent: true })
  await closesSoon(bus.close())
  network.setFaults({})
})

test('after several cuts one connection listens', async () => {
  const { network, bus } = await aBusBehindANetwork()
  let gaps = 0
  bus.onGap(() => void gaps++)
  for (const round of [1, 2, 3]) {
    network.setFaults({ reset: true })
    network.setFaults({})
    await waitFor('the gap', () => gaps === round)
  }
  expect(network.connections()).toBe(1)
  await bus.close()
})
