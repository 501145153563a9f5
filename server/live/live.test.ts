import { expect, test } from 'vitest'
import { aFounder } from '#test/kit/founder.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'

const server = await testServer({ realTime: true })

async function openLive(): Promise<{ ended: () => boolean }> {
  const person = await aFounder(server.url)
  const cookies = [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const response = await fetch(`${server.url}/api/live`, { headers: { cookie: cookies } })
  expect(response.status).toBe(200)
  let ended = false
  const reader = response.body!.getReader()
  const read = async (): Promise<void> => {
    while (!(await reader.read()).done);
    ended = true
  }
  void read().catch(() => {
    ended = true
  })
  return { ended: () => ended }
}

test('after messages may have been lost a stream ends, so that its reader connects and reads again', async () => {
  const live = await openLive()
  await server.app.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'faultline bus' and datname = current_database()`,
  )
  await waitFor('the stream to end', live.ended)
})
