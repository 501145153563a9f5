import { expect, test } from 'vitest'
import type { Client } from '#test/kit/client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { newId } from '../kernel/ids.ts'
import { LiveMessage } from './live.api.ts'
import { MAX_IDS, publishLive } from './publish.ts'

const server = await testServer({ realTime: true })

type Live = { ended: () => boolean; heard: LiveMessage[]; close: () => void }

async function openLive(person: Client): Promise<Live> {
  const cookies = [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const leaving = new AbortController()
  const response = await fetch(`${server.url}/api/live`, { headers: { cookie: cookies }, signal: leaving.signal })
  expect(response.status).toBe(200)
  const live = { isEnded: false, heard: [] as LiveMessage[] }
  const read = async (): Promise<void> => {
    let text = ''
    for await (const bytes of response.body!.pipeThrough(new TextDecoderStream())) {
      text += bytes
      const frames = text.split('\n\n')
      text = frames.pop() ?? ''
      for (const data of frames.flatMap((frame) => /^data: (.*)$/m.exec(frame)?.[1] ?? []))
        live.heard.push(LiveMessage.parse(JSON.parse(data)))
    }
  }
  void read()
    .catch(() => undefined)
    .finally(() => {
      live.isEnded = true
    })
  return { ended: () => live.isEnded, heard: live.heard, close: () => leaving.abort() }
}

const aboutReleases = (live: Live) => live.heard.flatMap((one) => (one.kind === 'releases' ? [one] : []))
const releaseIds = (live: Live): string[] => [...new Set(aboutReleases(live).flatMap((one) => one.release_ids))]

async function digestFrom(project: TestProject, releases: readonly string[]): Promise<void> {
  await server.events(
    project,
    releases.map((release) => ({ release })),
  )
}

test('after messages may have been lost a stream ends, so that its reader connects and reads again', async () => {
  const live = await openLive(await aFounder(server.url))
  await server.app.db.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'faultline bus' and datname = current_database()`,
  )
  await waitFor('the stream to end', live.ended)
})

test('each thing people do to a release is told to their organisation, and to no other', async () => {
  const owner = await aFounder(server.url)
  const stranger = await aFounder(server.url)
  const project = await aProject(owner)
  const live = await openLive(owner)
  const elsewhere = await openLive(stranger)
  let told = 0
  const heardOf = async (what: string, id: string): Promise<void> => {
    await waitFor(what, () => aboutReleases(live).length > told)
    expect(aboutReleases(live).slice(told), what).toEqual([
      { kind: 'releases', project_id: project.id, release_ids: [id] },
    ])
    told = aboutReleases(live).length
  }
  const made = await owner.post('/api/releases', { projectId: project.id, version: '1.0.0' })
  const { id } = made.as<{ id: string }>()
  await heardOf('the new release', id)
  const changed = { released_at: new Date().toISOString() }
  expect((await owner.patch(`/api/releases/${id}`, changed)).status).toBe(200)
  await heardOf('its date', id)
  expect((await owner.post(`/api/releases/${id}/deploys`, { environment: 'production' })).status).toBe(201)
  await heardOf('the deploy', id)
  expect((await owner.post(`/api/releases/${id}/commits`, { commits: [{ id: 'abcdef1' }] })).status).toBeLessThan(300)
  await heardOf('the commits', id)
  // Refused, and told to nobody.
  expect((await owner.post('/api/releases', { projectId: project.id, version: '1.0.0' })).status).toBe(409)

  await digestFrom(project, ['1.0.0'])
  await heardOf('its first event', id)
  const { items } = (await owner.get('/api/issues')).as<{ items: { id: string }[] }>()
  const resolve = (version: string) =>
    owner.patch(`/api/issues/${items[0]?.id}`, { status: 'resolved', resolution: { in_release: version } })
  expect((await resolve('1.0.0')).status).toBe(200)
  expect((await resolve('2.0.0')).status).toBe(200)
  const listed = (await owner.get(`/api/releases?projectId=${project.id}`)).as<{
    items: { id: string; version: string }[]
  }>()
  await heardOf('the planned release', listed.items.find(({ version }) => version === '2.0.0')?.id ?? '')
  expect(elsewhere.heard).toEqual([])
  live.close()
  elsewhere.close()
})

test('releases that events make are told together, and are no news again', async () => {
  const owner = await aFounder(server.url)
  const project = await aProject(owner)
  const live = await openLive(owner)
  const versions = Array.from({ length: 12 }, (_, index) => `1.${index}.0`)
  const startedAt = performance.now()
  for (const version of versions) await digestFrom(project, [version, version])
  await waitFor('news of all of them', () => releaseIds(live).length === versions.length)
  const seconds = (performance.now() - startedAt) / 1000
  expect(aboutReleases(live).length).toBeLessThanOrEqual(Math.ceil(seconds))
  const told = aboutReleases(live).length
  // Also long after they were noted last: that they were seen again is not told.
  await digestFrom(project, ['1.0.0', '2.0.0'])
  await waitFor('the newest', () => releaseIds(live).length === versions.length + 1)
  expect(aboutReleases(live).slice(told)).toMatchObject([{ release_ids: [expect.any(String)] }])
  live.close()
})

test('more releases than a message can name are told as many', async () => {
  const owner = await aFounder(server.url)
  const { org } = (await owner.get('/api/me')).as<{ org: { id: string } }>()
  const live = await openLive(owner)
  const tell = (ids: number) =>
    publishLive(server.app.db, org.id, {
      kind: 'releases',
      project_id: 'p',
      release_ids: Array.from({ length: ids }, () => newId()),
    })
  await tell(MAX_IDS)
  await waitFor('all of them', () => releaseIds(live).length === MAX_IDS)
  await tell(MAX_IDS + 1)
  await waitFor('many', () => aboutReleases(live).length > 1)
  expect(aboutReleases(live)[1]?.release_ids).toEqual([])
  live.close()
})
