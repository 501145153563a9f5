import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { aPerson } from '#test/kit/members.ts'
import { client } from '#test/kit/client.ts'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { anEvent, sendEvent } from '#test/kit/sdk.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { listAuditLog } from '../../history/audit/list-audit-log.ts'
import { readSignedHeads } from '../../history/audit/signed-heads.ts'
import type { ProcessRole } from '../../config/environment.ts'
import type { App } from '../../platform/context/app.ts'
import { startService } from './service.ts'

const { app, connectionString } = await testApp({ realTime: true })

/** Statuses of one address of each role in a process with these roles. */
async function served(roles: readonly ProcessRole[]): Promise<Record<string, number>> {
  const service = await startService({ ...app, config: { ...app.config, roles } }, connectionString, {
    digestion: 'manual',
  })
  const someone = client(service.publicUrl)
  const statusOf = async (method: string, path: string) => (await someone.request(method, path)).status
  const statuses = {
    health: await statusOf('GET', '/healthz'),
    metrics: await statusOf('GET', '/-/metrics'),
    api: await statusOf('GET', '/api/me'),
    docs: await statusOf('GET', '/api/openapi.json'),
    intake: await statusOf('POST', '/api/1/envelope/'),
  }
  await service.close()
  return statuses
}

test.each([
  { roles: ['ingest'], api: 404, docs: 404, intake: 400 },
  { roles: ['api'], api: 401, docs: 200, intake: 404 },
  { roles: ['digest'], api: 404, docs: 404, intake: 404 },
  { roles: ['ingest', 'api', 'digest'], api: 401, docs: 200, intake: 400 },
] satisfies { roles: ProcessRole[]; api: number; docs: number; intake: number }[])(
  'a process with the roles $roles serves those and no other',
  async ({ roles, ...expected }) => {
    expect(await served(roles)).toEqual({ health: 200, metrics: 200, ...expected })
  },
)

test('SDKs do not wait for requests of the API', async () => {
  const config: App['config'] = { ...app.config, roles: ['ingest', 'api'] }
  const service = await startService({ ...app, config }, connectionString, { digestion: 'manual' })
  const project = await aProject(await aFounder(service.publicUrl))
  // Every connection of the API is taken, and neither the key nor the spool was used before.
  const taken = await Promise.all(Array.from({ length: 6 }, () => app.db.reserve()))
  expect(await sendEvent(service.publicUrl, project.dsn, anEvent())).toMatchObject({ status: 200 })
  for (const one of taken) one.release()
  await service.close()
})

test('a service that cannot listen leaves nothing running', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const config: App['config'] = { ...app.config, port }
  await expect(startService({ ...app, config }, connectionString, { digestion: 'thread' })).rejects.toThrow(
    'EADDRINUSE',
  )
  taken.close()
  await waitFor('the connections of its parts to end', async () => {
    const { rows } = await app.db.query<{ name: string }>(
      `select application_name as name from pg_stat_activity where datname = current_database()
       and application_name ~ '^faultline (intake|jobs|digest)'`,
    )
    return rows.length === 0
  })
})

test('a request that arrived before the stop and was not read yet is answered', async () => {
  const service = await startService({ ...app, config: { ...app.config, roles: ['api'] } }, connectionString, {
    digestion: 'manual',
  })
  const socket = connect(service.port, '127.0.0.1')
  let heard = ''
  socket.on('data', (chunk: Buffer) => (heard += chunk.toString()))
  const ended = once(socket, 'close')
  const answers = (): number => heard.split('HTTP/1.1 200').length - 1
  const request = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n'
  socket.write(request)
  await waitFor('the first answer', () => answers() === 1)
  // The kernel holds it when the stop begins: the connection looks idle.
  socket.write(request)
  await service.close()
  await ended
  expect(answers()).toBe(2)
})

test('a stop writes the refused requests of its minute and signs the ends of the audit logs', async () => {
  const owner = await aPerson(app)
  const viewer = await aPerson(app, { role: 'viewer', org: { id: owner.actor.orgId, slug: owner.orgSlug } })
  const service = await startService(
    { ...app, config: { ...app.config, roles: ['api', 'schedule'] } },
    connectionString,
    {
      digestion: 'manual',
    },
  )
  const answer = await fetch(`${service.publicUrl}/api/audit-log`, { headers: { cookie: viewer.cookie } })
  expect(answer.status).toBe(403)
  await service.close()
  const { items } = await listAuditLog(app, owner.actor, { limit: 10, offset: 0 })
  expect(items).toMatchObject([{ seq: 1, action: 'access.denied', actor: { email: viewer.email } }])
  const { ofOrgs } = await readSignedHeads(app, (id) => id === owner.actor.orgId)
  expect(ofOrgs.get(owner.actor.orgId)).toMatchObject([{ seq: 1, hash: items[0]?.hash }])
})
