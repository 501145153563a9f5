import { expect, test } from 'vitest'
import type { Client } from '#test/kit/client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { aPerson } from '#test/kit/members.ts'
import { aMemberClient } from '#test/kit/member-client.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { createKey } from '../../identity/api-keys/create-key.ts'
import { deleteKey } from '../../identity/api-keys/delete-key.ts'
import { newId } from '../kernel/ids.ts'
import { LiveMessage, RecentMessages } from './live.api.ts'
import { MAX_IDS, publishLive } from './publish.ts'

const server = await testServer({ realTime: true })

type Live = {
  ended: () => boolean
  /** The first event. */
  recent: RecentMessages
  received: LiveMessage[]
  close: () => void
}

const openLive = (member: Client): Promise<Live> =>
  openLiveWith({ cookie: [...member.cookies].map(([name, value]) => `${name}=${value}`).join('; ') })

async function openLiveWith(headers: Record<string, string>): Promise<Live> {
  const leaving = new AbortController()
  const response = await fetch(`${server.url}/api/live`, { headers, signal: leaving.signal })
  expect(response.status).toBe(200)
  const live = { isEnded: false, recent: null as RecentMessages | null, received: [] as LiveMessage[] }
  const read = async (): Promise<void> => {
    let text = ''
    for await (const bytes of response.body!.pipeThrough(new TextDecoderStream())) {
      text += bytes
      const frames = text.split('\n\n')
      text = frames.pop() ?? ''
      for (const frame of frames) {
        const [, kind, data = ''] = /^event: (.*)\ndata: (.*)$/m.exec(frame) ?? []
        if (kind === 'recent') live.recent = RecentMessages.parse(JSON.parse(data))
        else if (kind !== undefined) live.received.push(LiveMessage.parse(JSON.parse(data)))
      }
    }
  }
  void read()
    .catch(() => undefined)
    .finally(() => {
      live.isEnded = true
    })
  const recent = await waitFor('the first event', () => live.recent)
  return { ended: () => live.isEnded, recent, received: live.received, close: () => leaving.abort() }
}

const aboutReleases = (live: Live) => live.received.flatMap((one) => (one.kind === 'releases' ? [one] : []))
const releaseIds = (live: Live): string[] => [...new Set(aboutReleases(live).flatMap((one) => one.release_ids))]

async function digestFrom(project: TestProject, releases: readonly string[]): Promise<void> {
  await server.events(
    project,
    releases.map((release) => ({ release })),
  )
}

test('a stream ends after messages may have been lost, so that the dashboard connects and reads again', async () => {
  const live = await openLive(await aFounder(server.url))
  await server.app.db.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'faultline bus' and datname = current_database()`,
  )
  await waitFor('the stream to end', live.ended)
})

test('the first event has what was published before, of the own organisation and merged, with its age', async () => {
  const owner = await aFounder(server.url)
  const { org } = (await owner.get('/api/me')).as<{ org: { id: string } }>()
  const member = await aMemberClient(server.app, server.url, owner, { name: 'Bob', role: 'member' })
  const stranger = await aFounder(server.url)
  const watching = await openLive(owner)
  expect(watching.recent.messages).toEqual([])
  const message = (id: string) => ({ kind: 'releases' as const, project_id: 'p', release_ids: [id] })
  const publishedMs = performance.now()
  await publishLive(server.app.db, [
    { orgId: org.id, message: message('a') },
    { orgId: org.id, message: message('b') },
    { orgId: org.id, message: { kind: 'webhooks', endpoint_ids: ['e'] } },
  ])
  await waitFor('the messages', () => aboutReleases(watching).length > 0)
  const [ofOwner, ofMember, ofStranger] = [await openLive(owner), await openLive(member), await openLive(stranger)]
  const agoMs = performance.now() - publishedMs
  const releases = { kind: 'releases', project_id: 'p', release_ids: ['a', 'b'] }
  const webhooks = { kind: 'webhooks', endpoint_ids: ['e'] }
  expect(ofOwner.recent.messages.map(({ message }) => message)).toEqual([releases, webhooks])
  expect(ofMember.recent.messages.map(({ message }) => message)).toEqual([releases])
  expect(ofStranger.recent.messages).toEqual([])
  const { reach_ms, messages } = ofOwner.recent
  for (const { age_ms } of messages) expect(age_ms).toBeLessThanOrEqual(agoMs)
  expect(reach_ms).toBeGreaterThanOrEqual(messages[0]?.age_ms ?? 0)
  // A stream that opened before has no part of it twice.
  expect(releaseIds(ofOwner)).toEqual([])
  for (const live of [watching, ofOwner, ofMember, ofStranger]) live.close()
})

test('each change of a release is published to its organisation only', async () => {
  const owner = await aFounder(server.url)
  const stranger = await aFounder(server.url)
  const project = await aProject(owner)
  const live = await openLive(owner)
  const elsewhere = await openLive(stranger)
  let count = 0
  const receivedOne = async (what: string, id: string): Promise<void> => {
    await waitFor(what, () => aboutReleases(live).length > count)
    expect(aboutReleases(live).slice(count), what).toEqual([
      { kind: 'releases', project_id: project.id, release_ids: [id] },
    ])
    count = aboutReleases(live).length
  }
  const made = await owner.post('/api/releases', { projectId: project.id, version: '1.0.0' })
  const { id } = made.as<{ id: string }>()
  await receivedOne('the new release', id)
  const changed = { released_at: new Date().toISOString() }
  expect((await owner.patch(`/api/releases/${id}`, changed)).status).toBe(200)
  await receivedOne('its date', id)
  expect((await owner.post(`/api/releases/${id}/deploys`, { environment: 'production' })).status).toBe(201)
  await receivedOne('the deploy', id)
  expect((await owner.post(`/api/releases/${id}/commits`, { commits: [{ id: 'abcdef1' }] })).status).toBeLessThan(300)
  await receivedOne('the commits', id)
  // A refused request publishes nothing.
  expect((await owner.post('/api/releases', { projectId: project.id, version: '1.0.0' })).status).toBe(409)

  await digestFrom(project, ['1.0.0'])
  await receivedOne('its first event', id)
  const { items } = (await owner.get('/api/issues')).as<{ items: { id: string }[] }>()
  const resolve = (version: string) =>
    owner.patch(`/api/issues/${items[0]?.id}`, { status: 'resolved', resolution: { in_release: version } })
  expect((await resolve('1.0.0')).status).toBe(200)
  expect((await resolve('2.0.0')).status).toBe(200)
  const listed = (await owner.get(`/api/releases?projectId=${project.id}`)).as<{
    items: { id: string; version: string }[]
  }>()
  await receivedOne('the planned release', listed.items.find(({ version }) => version === '2.0.0')?.id ?? '')
  expect(elsewhere.received).toEqual([])
  live.close()
  elsewhere.close()
})

test('releases that events create are published together, and only once', async () => {
  const owner = await aFounder(server.url)
  const project = await aProject(owner)
  const live = await openLive(owner)
  const versions = Array.from({ length: 12 }, (_, index) => `1.${index}.0`)
  const startedAt = performance.now()
  for (const version of versions) await digestFrom(project, [version, version])
  await waitFor('messages about all of them', () => releaseIds(live).length === versions.length)
  const seconds = (performance.now() - startedAt) / 1000
  expect(aboutReleases(live).length).toBeLessThanOrEqual(Math.ceil(seconds))
  const before = aboutReleases(live).length
  // Further events of a known release publish nothing.
  await digestFrom(project, ['1.0.0', '2.0.0'])
  await waitFor('the newest', () => releaseIds(live).length === versions.length + 1)
  expect(aboutReleases(live).slice(before)).toMatchObject([{ release_ids: [expect.any(String)] }])
  live.close()
})

test('a message about more releases than it can name has an empty list', async () => {
  const owner = await aFounder(server.url)
  const { org } = (await owner.get('/api/me')).as<{ org: { id: string } }>()
  const live = await openLive(owner)
  const publish = (ids: number) =>
    publishLive(server.app.db, [
      {
        orgId: org.id,
        message: { kind: 'releases', project_id: 'p', release_ids: Array.from({ length: ids }, () => newId()) },
      },
    ])
  await publish(MAX_IDS)
  await waitFor('all of them', () => releaseIds(live).length === MAX_IDS)
  await publish(MAX_IDS + 1)
  await waitFor('the empty list', () => aboutReleases(live).length > 1)
  expect(aboutReleases(live)[1]?.release_ids).toEqual([])
  live.close()
})

test('deliveries of endpoints are published to members who may read webhooks, merged within a second', async () => {
  const owner = await aFounder(server.url)
  const { org } = (await owner.get('/api/me')).as<{ org: { id: string } }>()
  const member = await aMemberClient(server.app, server.url, owner, { name: 'Bob', role: 'member' })
  const lives = [await openLive(owner), await openLive(member)]
  const publish = (...endpointIds: string[]) =>
    publishLive(server.app.db, [{ orgId: org.id, message: { kind: 'webhooks', endpoint_ids: endpointIds } }])
  await publish('a')
  await publish('b', 'a')
  await waitFor('the message', () => lives[0]?.received.some(({ kind }) => kind === 'webhooks'))
  // Both receive this one.
  await publishLive(server.app.db, [{ orgId: org.id, message: { kind: 'project', project_id: 'p' } }])
  await waitFor('the other message', () =>
    lives.every(({ received }) => received.some(({ kind }) => kind === 'project')),
  )
  const webhooks = lives.map(({ received }) => received.filter(({ kind }) => kind === 'webhooks'))
  expect(webhooks).toEqual([[{ kind: 'webhooks', endpoint_ids: ['a', 'b'] }], []])
  for (const live of lives) live.close()
})

test('a stream of an API key has what its scopes may read, and ends when the key is deleted', async () => {
  const owner = await aPerson(server.app)
  const { id, key } = await createKey(server.app, owner.actor, { name: 'CI', scopes: ['projects:read', 'issues:read'] })
  const live = await openLiveWith({ authorization: `Bearer ${key}` })
  const about = { project_id: newId(), issue_ids: [], new_issue_ids: [], event_count: 1 }
  await publishLive(server.app.db, [
    // Only sessions receive this message. It would be sent first.
    { orgId: owner.actor.orgId, message: { kind: 'inbox', user_ids: [owner.actor.userId] } },
    { orgId: owner.actor.orgId, message: { kind: 'issues', ...about } },
  ])
  await waitFor('the message', () => live.received.length > 0)
  await deleteKey(server.app, owner.actor, id)
  await waitFor('the stream to end', live.ended)
  expect(live.received).toEqual([{ kind: 'issues', ...about }])
})
