import { expect, test } from 'vitest'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { testServer } from '#test/kit/test-server.ts'

/** Seconds since 1970 no longer fit into 32 bits then. */
const t = await testServer()
t.clock.set('2039-03-01T10:20:00.000Z')

test('in 2039 issues have their counts and trends, by hours and by quarters of an hour', async () => {
  const founder = await aFounder(t.url)
  const project = await aProject(founder)
  const issue = await t.issue({ project, by: founder, times: 3 })
  const now = t.clock.now().getTime()
  const before = (minutes: number) => new Date(now - minutes * 60_000).toISOString()
  for (const query of [
    '',
    '?range=24h',
    `?from=${before(127)}&to=${before(-15)}`,
    '?range=7d&sort=-event_count_in_range',
    '?q=events:%3E1',
  ]) {
    const { status, body, text } = await founder.get(`/api/issues${query}`)
    expect(status, text).toBe(200)
    expect(body, query).toMatchObject({ total: 1, items: [{ id: issue.id, event_count: 3 }] })
  }
  for (const path of [`/api/issues/${issue.id}`, '/api/issues/volume?range=24h', `/api/issues/${issue.id}/tags`]) {
    const { status, text } = await founder.get(path)
    expect(status, text).toBe(200)
  }
})
