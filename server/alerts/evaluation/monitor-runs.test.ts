import { beforeEach, describe, expect, test } from 'vitest'
import type { TestProject } from '#test/kit/founder.ts'
import type { Founder } from '#test/kit/product.ts'
import { dsnParts } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import { evaluateRules } from './evaluate-rules.ts'

/** Check-ins by the intake, judged by rules, minute after minute of the fake clock. */

const t = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
const { app } = t
let owner: Founder
let project: TestProject
beforeEach(async () => {
  owner = await t.founder()
  project = await t.project(owner)
})

const MINUTE = 60_000
type Alert = { subject: string; title: string; explanation: string; state: string; severity: string; value: number }

async function checkIn(query = ''): Promise<void> {
  const { key, projectNumber } = dsnParts(project.dsn)
  const schedule = 'schedule=10+minute&checkin_margin=2&max_runtime=5'
  const answer = await fetch(`${t.url}/api/${projectNumber}/cron/sync/${key}/?${schedule}&${query}`)
  expect(answer.status).toBe(202)
  await answer.arrayBuffer()
  await t.service.drain()
}

async function aRule(conditions: Record<string, unknown> = {}): Promise<string> {
  const answer = await owner.post('/api/alerts', {
    projectId: project.id,
    name: 'Jobs',
    trigger_type: 'monitor',
    conditions,
    cooldown_minutes: 0,
    actions: [],
  })
  expect(answer.status, answer.text).toBe(201)
  return answer.as<{ id: string }>().id
}

async function after(minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) {
    t.clock.advance(MINUTE)
    await evaluateRules(app)
  }
}

/** The access token of a session expires while the clock moves. */
const refresh = () => owner.post('/api/auth/refresh')

async function alerts(): Promise<Alert[]> {
  await refresh()
  return (await owner.get('/api/alerts/fired')).as<{ items: Alert[] }>().items
}
const patch = async (body: Record<string, unknown>) => {
  const { items } = (await owner.get(`/api/monitors?projectId=${project.id}`)).as<{ items: { id: string }[] }>()
  return owner.request('PATCH', `/api/monitors/${items[0]?.id ?? ''}`, { body })
}

describe('a rule of monitors', () => {
  test('fires once for runs that are missed, says which, and ends when the job runs again', async () => {
    await checkIn()
    await aRule()
    await after(12)
    expect(await alerts()).toEqual([])
    await after(2)
    const [alert, ...others] = await alerts()
    expect(others).toEqual([])
    expect(alert).toMatchObject({ title: 'sync missed its run', state: 'firing', severity: 'high', value: 1 })
    expect(alert?.explanation).toMatch(
      /^No check-in of sync \(production\) came for the run planned for .* \(UTC\), with a grace of 2 minutes\. The last good run was at /,
    )
    await after(72)
    const [lasting, ...more] = await alerts()
    expect(more).toEqual([])
    // Not all of them are read again every minute.
    expect(lasting?.explanation).toMatch(/At least \d+ runs in a row are like this\. The last good run was at /)
    await checkIn()
    await after(6)
    expect((await alerts()).map(({ state }) => state)).toEqual(['resolved'])
  })

  test('fires for a job that reports an error, and for one that does not end', async () => {
    await aRule({ kinds: ['failed', 'long'] })
    await checkIn('status=error')
    await after(2)
    expect((await alerts()).map(({ title }) => title)).toEqual(['sync failed'])
    await checkIn('status=in_progress&environment=staging')
    await after(7)
    expect((await alerts()).map(({ title }) => title).toSorted()).toEqual(['sync failed', 'sync takes too long'])
  })

  test('only of its kinds, its monitor and its environment', async () => {
    await checkIn('status=error')
    await aRule({ kinds: ['missed'] })
    await aRule({ monitor: 'another' })
    await aRule({ environment: 'staging' })
    await after(5)
    expect(await alerts()).toEqual([])
    const refused = await owner.post('/api/alerts', {
      projectId: project.id,
      name: 'Jobs',
      trigger_type: 'monitor',
      conditions: { kinds: ['csp'] },
      actions: [],
    })
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining('must be of missed, failed, late, long'),
    ])
  })

  test.each(['paused', 'muted'])('is silent while the monitor is %s', async (state) => {
    await checkIn()
    await aRule()
    expect((await patch({ state })).status).toBe(200)
    await after(40)
    expect(await alerts()).toEqual([])
  })

  test('does not take check-ins for missed that wait for digestion', async () => {
    await checkIn()
    await aRule()
    t.clock.advance(9 * MINUTE)
    const { key, projectNumber } = dsnParts(project.dsn)
    const answer = await fetch(`${t.url}/api/${projectNumber}/cron/sync/${key}/?status=ok`)
    expect(answer.status).toBe(202)
    await answer.arrayBuffer()
    await after(6)
    expect(await alerts()).toEqual([])
    await t.service.drain()
    await after(2)
    expect(await alerts()).toEqual([])
  })

  test('says what it would have fired on', async () => {
    await checkIn()
    t.clock.advance(25 * MINUTE)
    await refresh()
    const answer = await owner.post('/api/alerts/dry-run', {
      projectId: project.id,
      trigger_type: 'monitor',
      conditions: {},
      cooldown_minutes: 0,
    })
    expect(answer.as<unknown>()).toMatchObject({ count: 1, unit: 'runs', has_data: true })
  })
})
