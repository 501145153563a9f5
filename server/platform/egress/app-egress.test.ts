import { expect, test } from 'vitest'
import { startReceiver } from '#test/kit/receiver.ts'
import { testServer } from '#test/kit/test-server.ts'

const server = await testServer()
const get = (url: string) => server.app.egress.request({ url, method: 'GET', headers: {} })

test('the egress of a running service reaches a local receiver in relaxed mode, and never the service itself', async () => {
  const receiver = await startReceiver()
  try {
    expect(await get(receiver.url)).toMatchObject({ status: 200 })
  } finally {
    await receiver.close()
  }
  for (const host of ['127.0.0.1', 'localhost', '127.0.0.2'])
    await expect(get(`http://${host}:${server.service.port}/healthz`), host).rejects.toMatchObject({
      kind: 'refused',
      code: 'EGRESS_ADDRESS',
    })
})
