import { expect, test } from 'vitest'
import { aMembership, aPerson, type Person } from '#test/kit/members.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { changePassword } from '../../identity/accounts/change-password.ts'
import { systemActor, factContext } from '../../platform/context/actor.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { createEndpoint } from './create-endpoint.ts'
import { deleteEndpoint } from './delete-endpoint.ts'
import { recordWebhooks } from './record-webhooks.ts'
import { lockForSettling } from './settling.queries.ts'
import { listWebhookDeliveries } from './view-delivery.ts'
import { updateEndpoint } from './update-endpoint.ts'

const t = await testServer({ deliveries: true })
const { app } = t

/** Registered and paused: what it receives waits. */
async function anEndpoint(owner: Person, events: readonly string[] = []): Promise<string> {
  const { id } = await createEndpoint(app, owner.actor, {
    url: 'http://127.0.0.1:9/',
    events,
    description: '',
    ordering: 'none',
    max_per_second: null,
    auto_pause: false,
    standard_headers: false,
    headers: null,
  })
  await updateEndpoint(app, owner.actor, { endpointId: id, paused: true })
  return id
}

const typesAt = async (owner: Person, endpointId: string): Promise<string[]> => {
  const { items } = await listWebhookDeliveries(app, owner.actor, { endpointId, limit: 100, offset: 0 })
  return items.map(({ type }) => type)
}

const aLogIn = ({ actor }: Person): Fact => ({
  kind: 'signin.password.ok',
  orgId: actor.orgId,
  userId: actor.userId,
  sessionId: newId(),
  data: {},
})

const aPasswordChange = ({ actor }: Person): Fact => ({
  kind: 'user.password_changed',
  orgId: actor.orgId,
  userId: actor.userId,
  data: {},
})

const record = (owner: Person, facts: readonly Fact[]) =>
  app.tx((tx) => recordFacts(tx, factContext(app, owner.actor), facts))

test('facts that are no events cost nothing', async () => {
  const untouchable = new Proxy(
    {},
    {
      get() {
        throw new Error('the database was used')
      },
    },
  ) as never
  const at = app.clock.now()
  const facts = ['issue.events_received', 'issue.created', 'session.refreshed', 'signout.ok', 'no such kind'].map(
    (kind) => ({ id: newId(), kind, orgId: newId(), at, data: {} }),
  )
  await recordWebhooks(untouchable, factContext(app, systemActor('digestion')), facts)
})

test('events of several organisations in one transaction reach their own endpoints, by their filters', async () => {
  const [ada, bob, eve] = [await aPerson(app), await aPerson(app), await aPerson(app)]
  const [all, passwords, ofBob] = [
    await anEndpoint(ada),
    await anEndpoint(ada, ['password.changed']),
    await anEndpoint(bob, ['signin.password.ok', 'password.changed']),
  ]
  await record(ada, [aLogIn(ada), aPasswordChange(ada), aLogIn(bob), aLogIn(eve), aPasswordChange(eve)])
  expect((await typesAt(ada, all)).toSorted()).toEqual(['password.changed', 'signin.password.ok'])
  expect(await typesAt(ada, passwords)).toEqual(['password.changed'])
  expect(await typesAt(bob, ofBob)).toEqual(['signin.password.ok'])
  // The third organisation has no endpoint: its events are not even stored.
  const { rows } = await app.db.query('select id from outbox_messages where org_id = $1', [eve.actor.orgId])
  expect(rows).toEqual([])
})

test('the filter decides when the event happens', async () => {
  const owner = await aPerson(app)
  const endpointId = await anEndpoint(owner, ['password.changed'])
  await record(owner, [aLogIn(owner)])
  await updateEndpoint(app, owner.actor, { endpointId, events: ['signin.password.ok'] })
  expect(await typesAt(owner, endpointId)).toEqual([])
  await record(owner, [aLogIn(owner), aPasswordChange(owner)])
  await updateEndpoint(app, owner.actor, { endpointId, events: ['device.new'] })
  expect(await typesAt(owner, endpointId)).toEqual(['signin.password.ok'])
})

test('a change that is rolled back has no events', async () => {
  const owner = await aPerson(app)
  const endpointId = await anEndpoint(owner)
  const undone = app.tx(async (tx) => {
    await recordFacts(tx, factContext(app, owner.actor), [aLogIn(owner)])
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  expect(await typesAt(owner, endpointId)).toEqual([])
})

test('the fan-out waits neither for recorded attempts nor for claims nor for changes of the endpoint', async () => {
  const owner = await aPerson(app)
  const endpointId = await anEndpoint(owner)
  await app.tx(async (tx) => {
    await lockForSettling(tx, [endpointId])
    await tx.query('select from outbox_lanes where id = $1 for no key update', [endpointId])
    // In a transaction of its own: it would wait for ever.
    await record(owner, [aLogIn(owner)])
  })
  expect(await typesAt(owner, endpointId)).toEqual(['signin.password.ok'])
})

test('a delivery to an endpoint that is deleted meanwhile is ended by a worker', async () => {
  const owner = await aPerson(app)
  const endpointId = await anEndpoint(owner)
  await app.tx(async (tx) => {
    await recordFacts(tx, factContext(app, owner.actor), [aLogIn(owner)])
    await deleteEndpoint(app, owner.actor, endpointId)
  })
  const ended = await waitFor('the end of the delivery', async () => {
    const { rows } = await app.db.query<{ state: string; reason: string | null }>(
      'select state, reason from outbox_deliveries where lane_id = $1 and due_at is null',
      [endpointId],
    )
    return rows[0]
  })
  expect(ended).toEqual({ state: 'failed', reason: 'endpoint_deleted' })
})

test('what the service did by itself has no address and no client', async () => {
  const owner = await aPerson(app)
  const endpointId = await anEndpoint(owner)
  await app.tx((tx) =>
    recordFacts(tx, factContext(app, systemActor('purge')), [
      {
        kind: 'session.revoked',
        orgId: owner.actor.orgId,
        userId: owner.actor.userId,
        sessionId: newId(),
        data: { reason: 'expired' },
      },
    ]),
  )
  const { rows } = await app.db.query<{ body: Buffer }>(
    'select m.body from outbox_messages m join outbox_deliveries d on d.message_id = m.id where d.lane_id = $1',
    [endpointId],
  )
  expect(JSON.parse(rows[0]?.body.toString() ?? '')).toMatchObject({
    type: 'session.revoked',
    user_id: owner.actor.userId,
    occurred_at: t.clock.now().toISOString(),
    data: { email: owner.email, ip: null, user_agent: null, method: null, reason: 'expired' },
  })
})

test('a change of an account reaches every organisation of the user, without the session of another one', async () => {
  const ada = await aPerson(app)
  const there = await aPerson(app)
  const org = { id: there.actor.orgId, slug: there.orgSlug }
  await aMembership(app, ada, { org })
  const [own, other] = [await anEndpoint(ada, ['password.changed']), await anEndpoint(there, ['password.changed'])]
  await changePassword(app, ada.actor, { currentPassword: ada.password, newPassword: 'another horse battery' })
  expect([await typesAt(ada, own), await typesAt(there, other)]).toEqual([['password.changed'], ['password.changed']])
  const bodyAt = async (endpointId: string) =>
    (
      await app.db.query<{ body: Buffer }>(
        'select m.body from outbox_messages m join outbox_deliveries d on d.message_id = m.id where d.lane_id = $1',
        [endpointId],
      )
    ).rows[0]?.body.toString()
  expect(await bodyAt(own)).toContain(ada.actor.sessionId)
  expect(await bodyAt(other)).toContain('"session_id":null')
})
