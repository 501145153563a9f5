import { beforeAll, expect, test } from 'vitest'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { aPerson, type Person } from '#test/kit/members.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testServer } from '#test/kit/test-server.ts'
import { flushDenials } from '../../history/audit/denials.ts'
import { listAuditLog } from '../../history/audit/list-audit-log.ts'
import type { ApiKeyActor } from '../../platform/context/actor.ts'
import { newId } from '../../platform/kernel/ids.ts'

/** Endpoints called inside the service, as a chat button does and an assistant will. */

const server = await testServer()
const { app } = server

let bob: Person
let issueId = ''
beforeAll(async () => {
  const ada = await aFounder(server.url)
  const project = await aProject(ada, { name: 'Operations' })
  ;[issueId = ''] = await seedIssues(app, project.id, 1, {})
  const { rows } = await app.db.query<{ id: string; slug: string }>(
    'select o.id, o.slug from orgs o join projects p on p.org_id = o.id where p.id = $1',
    [project.id],
  )
  bob = await aPerson(app, { role: 'member', org: rows[0]! })
})

const call = (name: string, input: object, actor: Parameters<typeof app.operations.call>[0] = bob.actor) =>
  app.operations.call(actor, name, input)

test('does what the endpoint does, and answers in its shape', async () => {
  expect(await call('updateIssue', { params: { issueId }, body: { status: 'resolved' } })).toMatchObject({
    id: issueId,
    status: 'resolved',
  })
  expect(await call('listIssues', { query: { status: 'resolved' } })).toMatchObject({
    items: [{ id: issueId }],
    limit: 25,
  })
  expect(await call('listIssues', {})).toMatchObject({ total: 1 })
})

test('permission is that of the endpoint, for roles and scopes, and a refusal is in the audit log', async () => {
  await expect(call('deleteIssue', { params: { issueId } })).rejects.toMatchObject({ code: 'forbidden' })
  const { sessionId: _, ...member } = bob.actor
  const key: ApiKeyActor = { ...member, kind: 'api_key', keyId: newId(), scopes: ['issues:read'] }
  await expect(call('updateIssue', { params: { issueId }, body: { status: 'ignored' } }, key)).rejects.toMatchObject({
    code: 'forbidden',
  })
  await flushDenials(app)
  const { items } = await listAuditLog(app, bob.actor, { limit: 100, offset: 0 })
  const denied = items.filter(({ action }) => action === 'access.denied')
  expect(
    denied
      .flatMap(({ meta }) => meta['routes'])
      .map(String)
      .toSorted(),
  ).toEqual(['DELETE /api/issues/:issueId', 'PATCH /api/issues/:issueId'])
})

test('input is validated before anything is done', async () => {
  const body = { status: 'done' }
  await expect(call('updateIssue', { params: { issueId }, body })).rejects.toMatchObject({ code: 'invalid' })
  await expect(call('updateIssue', { params: { issueId: 'x' }, body: {} })).rejects.toMatchObject({
    code: 'not_found',
  })
  await expect(call('updateIssue', {})).rejects.toMatchObject({ code: 'not_found' })
})

test("another organisation's issue does not exist", async () => {
  const eve = await aPerson(app, { role: 'owner' })
  await expect(
    call('updateIssue', { params: { issueId }, body: { status: 'ignored' } }, eve.actor),
  ).rejects.toMatchObject({ code: 'not_found' })
})

test.each(['logIn', 'openLive', 'changePassword', 'noSuchOperation', 'constructor'])(
  '%s needs a request of its own, or is no operation',
  async (name) => {
    await expect(call(name, { body: {} })).rejects.toMatchObject({ code: 'not_found' })
  },
)

test('a stream is collected until it ends, and for no caller who may not open it', async () => {
  const ending = new AbortController()
  const collected = app.operations.collect(bob.actor, 'streamLive', {}, ending.signal)
  ending.abort()
  await expect(collected).rejects.toMatchObject({ code: 'unavailable' })
  await expect(app.operations.collect(bob.actor, 'listIssues', {}, ending.signal)).rejects.toMatchObject({
    code: 'not_found',
  })
  const { sessionId: _, ...member } = bob.actor
  const key: ApiKeyActor = { ...member, kind: 'api_key', keyId: newId(), scopes: ['issues:read'] }
  await expect(app.operations.collect(key, 'streamLive', {}, ending.signal)).rejects.toMatchObject({
    code: 'forbidden',
  })
})
