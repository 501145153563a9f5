import { beforeAll, expect, test } from 'vitest'
import type { Client } from '#test/kit/client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { anEvent } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { IssueDetail } from './issues.api.ts'

/** Texts are cut to their maximum length. A cut through an emoji would leave half a character, which PostgreSQL refuses. */

const t = await testServer()
let owner: Client

beforeAll(async () => {
  owner = await aFounder(t.url)
})

async function issueOf(project: TestProject, event: Record<string, unknown>): Promise<IssueDetail> {
  await t.event({ project, ...event })
  const { items } = (await owner.get(`/api/issues?projectId=${project.id}`)).as<{ items: { id: string }[] }>()
  expect(items).toHaveLength(1)
  return (await owner.get(`/api/issues/${items[0]?.id}`)).as<IssueDetail>()
}

const errorOf = (value: string) => anEvent({ exception: { values: [{ type: 'OddError', value }] } })

test('grouping takes a text whose cut falls into an emoji', async () => {
  for (const event of [
    anEvent({ exception: undefined, message: `${'x'.repeat(1_023)}😀y` }),
    anEvent({ exception: undefined, message: `${'12345678 '.repeat(227)}abcd😀y` }),
    errorOf(`${'x'.repeat(1_023)}😀y`),
  ]) {
    const project = await aProject(owner)
    const { grouping } = await issueOf(project, event)
    expect(grouping.fingerprints).toHaveLength(1)
  }
})

test.each([198, 199, 200])('a grouping rule cuts a text with an emoji after %i characters', async (before) => {
  const project = await aProject(owner)
  const rule = {
    match: [{ key: 'type', glob: '*' }],
    fingerprint: ['{{ value }}', '{{ tag.shop }}'],
    title: '{{ value }}',
  }
  const set = { grouping_rules: { fingerprint: [rule], stack: [] } }
  expect((await owner.patch(`/api/projects/${project.id}/settings`, set)).status).toBe(200)
  const detail = await issueOf(project, { ...errorOf(`${'x'.repeat(before)}😀😀`), tags: { shop: 'Köln' } })
  const whole = `${'x'.repeat(before)}${before <= 198 ? '😀' : ''}`
  expect(detail.title).toBe(whole)
  expect(detail.grouping.parts[0]?.values.map(({ value }) => value)).toEqual([whole, 'Köln'])
})
