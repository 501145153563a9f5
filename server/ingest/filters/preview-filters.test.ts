import { beforeAll, describe, expect, test } from 'vitest'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { anEvent } from '#test/kit/sdk.ts'
import { aPerson } from '#test/kit/members.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { Client } from '#test/kit/client.ts'
import type { FiltersPreview } from './filters.api.ts'
import { previewFilters } from './preview-filters.ts'

const t = await testServer({ realTime: true })
let owner: Client
let project: TestProject

const withValue = (value: string, fields: Record<string, unknown> = {}) => anEvent({ error: { value }, ...fields })

async function send(target: TestProject, events: readonly Record<string, unknown>[]): Promise<void> {
  await t.events(target, events)
}

async function preview(inbound_filters: Record<string, unknown>, target = project): Promise<FiltersPreview> {
  const answer = await owner.post(`/api/projects/${target.id}/filters/preview`, { inbound_filters })
  expect(answer.status).toBe(200)
  return answer.as<FiltersPreview>()
}

beforeAll(async () => {
  owner = await aFounder(t.url)
  project = await aProject(owner)
  await send(project, [
    ...Array.from({ length: 7 }, () => withValue('card declined', { release: 'shop@1.0.0' })),
    ...Array.from({ length: 3 }, () => withValue('Ads SDK timeout', { release: 'shop@1.1.0-local' })),
    anEvent({ message: 'hello', exception: undefined, request: { url: 'http://localhost:3000/' } }),
  ])
})

describe('the preview', () => {
  test('counts the events that each line would drop, with examples, and a total', async () => {
    const result = await preview({
      releases: ['*-local', 'shop@9.*'],
      messages: ['*timeout*', '*declined*'],
      localhost: true,
    })
    expect(result).toMatchObject({ looked_at: 11, of: 11, would_drop: 11 })
    expect(result.filters.map(({ filter, pattern, would_drop }) => [filter, pattern, would_drop])).toEqual([
      ['localhost', null, 1],
      ['release', '*-local', 3],
      ['release', 'shop@9.*', 0],
      ['message', '*timeout*', 3],
      ['message', '*declined*', 7],
    ])
    const declined = result.filters.at(-1)
    expect(declined?.examples).toHaveLength(5)
    const [example] = declined?.examples ?? []
    expect(example?.title).toBe('PaymentError: card declined')
    const issue = await owner.get(`/api/issues/${example?.issue_id}?event=${example?.event_id}`)
    expect(issue.status).toBe(200)
  })

  test('uses saved filters for the rest, and changes nothing', async () => {
    const other = await aProject(owner)
    await owner.patch(`/api/projects/${other.id}/settings`, { inbound_filters: { releases: ['never@*'] } })
    await send(other, [withValue('card declined')])
    const result = await preview({ messages: ['*declined*'] }, other)
    expect(result.filters.map(({ filter, would_drop }) => [filter, would_drop])).toEqual([
      ['release', 0],
      ['message', 1],
    ])
    const settings = (await owner.get(`/api/projects/${other.id}/settings`)).as<{ inbound_filters: unknown }>()
    expect(settings.inbound_filters).toMatchObject({ releases: ['never@*'], messages: [], health_checks: true })
  })

  test('works without events and without filters', async () => {
    const empty = await aProject(owner)
    expect(await preview({ localhost: true }, empty)).toMatchObject({
      looked_at: 0,
      of: 0,
      would_drop: 0,
      oldest_at: null,
    })
    expect(await preview({})).toMatchObject({ looked_at: 11, would_drop: 0, filters: [] })
  })

  test('an unknown filter is refused by its name', async () => {
    const answer = await owner.post(`/api/projects/${project.id}/filters/preview`, { inbound_filters: { nonsense: 1 } })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('nonsense')
  })

  test('is limited in events and time, and reports how many it checked', async () => {
    const { org } = (await owner.get('/api/me')).as<{ org: { id: string; slug: string } }>()
    const { actor } = await aPerson(t.app, { org, role: 'admin' })
    const newest = await previewFilters(
      t.app,
      actor,
      project.id,
      { messages: ['*'.concat('declined*')] },
      { maxEvents: 4 },
    )
    expect(newest).toMatchObject({ looked_at: 4, of: 4 })
    const late = await previewFilters(t.app, actor, project.id, {}, { timeLimitMs: 0 })
    expect(late).toMatchObject({ looked_at: 0, of: 11, oldest_at: null })
  })
})

describe('a filtered event', () => {
  test('is counted and not stored until the filter is removed', async () => {
    const published: unknown[] = []
    const stop = t.app.bus.on('project', (message) => published.push(message))
    const other = await aProject(owner)
    const publishedOfOther = () => published.filter((message) => JSON.stringify(message).includes(other.id))
    const path = `/api/projects/${other.id}/settings`
    expect((await owner.patch(path, { inbound_filters: { messages: ['*declined*'] } })).status).toBe(200)
    await send(other, [withValue('card declined'), withValue('something else')])
    expect((await owner.patch(path, { inbound_filters: { messages: [] } })).status).toBe(200)
    // Digestion drops the cached filters when the message of the second change arrives.
    await waitFor('the messages of both changes', () => publishedOfOther().length >= 2)
    stop()
    await send(other, [withValue('card declined')])
    const { rows } = await t.app.db.query(
      `select outcome, reason, quantity from outcomes_hourly where project_id = $1 order by outcome`,
      [other.id],
    )
    expect(rows).toEqual([
      { outcome: 'accepted', reason: '', quantity: 2 },
      { outcome: 'filtered', reason: 'message', quantity: 1 },
    ])
    expect((await preview({}, other)).of).toBe(2)
  })

  test('by address: every item is filtered', async () => {
    const other = await aProject(owner)
    await owner.patch(`/api/projects/${other.id}/settings`, { inbound_filters: { ip_addresses: ['127.0.0.0/8'] } })
    await send(other, [withValue('card declined')])
    const { rows } = await t.app.db.query(
      `select category, outcome, reason, quantity from outcomes_hourly where project_id = $1`,
      [other.id],
    )
    expect(rows).toEqual([{ category: 'error', outcome: 'filtered', reason: 'ip_address', quantity: 1 }])
  })
})
