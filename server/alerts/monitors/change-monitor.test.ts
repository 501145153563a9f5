import { beforeEach, describe, expect, test } from 'vitest'
import { aPerson } from '#test/kit/members.ts'
import { testApp } from '#test/kit/test-app.ts'
import type { CheckIn } from '../../events/protocol/check-in.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { changeMonitor, deleteMonitor } from './change-monitor.ts'
import type { MonitorView } from '../../telemetry/monitors/monitors.api.ts'
import { listMonitors, readMonitor } from '../../telemetry/monitors/read-monitors.ts'
import { recordCheckIns } from '../../telemetry/monitors/record-check-ins.ts'

const { app, clock } = await testApp()
const ada = await aPerson(app)
const stranger = await aPerson(app)

let projectId = ''
beforeEach(async () => {
  projectId = newId()
  await app.db.query(
    `insert into projects (id, org_id, name, slug, platform, region, created_at) values ($1, $2, 'P', $3, 'web', 'eu-central-1', now())`,
    [projectId, ada.actor.orgId, projectId],
  )
})

const EVERY_TEN: CheckIn['config'] = {
  schedule: { type: 'interval', value: 10, unit: 'minute' },
  timezone: 'UTC',
  checkinMarginMinutes: 2,
  maxRuntimeMinutes: 5,
  failureIssueThreshold: null,
  recoveryThreshold: null,
  owner: null,
}

async function checkIn(fields: Partial<CheckIn> = {}): Promise<void> {
  const one = {
    id: null,
    slug: 'sync',
    status: 'ok' as const,
    durationMs: 1_000,
    environment: 'production',
    release: null,
    traceId: null,
    config: EVERY_TEN,
    notes: [],
    ...fields,
    projectId,
    receivedAt: clock.now(),
  }
  await app.tx((tx) => recordCheckIns(tx, clock.now(), [one]))
}

const list = async (): Promise<MonitorView[]> =>
  (await listMonitors(app, ada.actor, { projectId, limit: 100, offset: 0 })).items
async function one(): Promise<MonitorView> {
  const [monitor] = await list()
  if (monitor === undefined) throw new Error('no monitor')
  return monitor
}
const MINUTE = 60_000

describe('a monitor', () => {
  test('is judged when it is asked for, in each environment by itself', async () => {
    await checkIn()
    await checkIn({ environment: 'staging', status: 'error' })
    expect(await one()).toMatchObject({
      slug: 'sync',
      state: 'active',
      schedule: { type: 'interval', value: 10, unit: 'minute' },
      environments: [
        {
          name: 'production',
          status: 'ok',
          is_failing: false,
          in_a_row: 1,
          runs: [{ kind: 'ok', duration_ms: 1_000 }],
        },
        { name: 'staging', status: 'failed', is_failing: true, problem: 'failed' },
      ],
    })
    clock.advance(23 * MINUTE)
    const { environments } = await one()
    expect(environments[0]).toMatchObject({ status: 'missed', in_a_row: 2, is_failing: true, problem: 'missed' })
    expect(new Date(environments[0]?.next_at ?? 0).getTime()).toBeGreaterThan(clock.now().getTime())
    await checkIn()
    expect((await one()).environments[0]).toMatchObject({ status: 'late', in_a_row: 1 })
  })

  test('that is paused expects nothing, and nothing of the pause is missed afterwards', async () => {
    await checkIn()
    const { id } = await one()
    await changeMonitor(app, ada.actor, id, { state: 'paused' })
    clock.advance(60 * MINUTE)
    expect((await one()).environments[0]).toMatchObject({ is_failing: false, problem: null, next_at: null })
    await changeMonitor(app, ada.actor, id, { state: 'active' })
    clock.advance(5 * MINUTE)
    expect((await one()).environments[0]).toMatchObject({ status: 'ok', is_failing: false })
    clock.advance(10 * MINUTE)
    expect((await one()).environments[0]).toMatchObject({ status: 'missed', in_a_row: 1 })
  })

  test('gets a schedule in its time zone, which counts from now on', async () => {
    await checkIn({ config: null })
    clock.advance(3 * 1_440 * MINUTE)
    const { id } = await one()
    expect((await one()).environments[0]).toMatchObject({ status: 'ok', next_at: null })
    await expect(changeMonitor(app, ada.actor, id, { timezone: 'Europe/Berlin' })).rejects.toThrow('schedule')
    const changed = await changeMonitor(app, ada.actor, id, {
      schedule: { type: 'crontab', value: '0 3 * * *' },
      timezone: 'Europe/Berlin',
    })
    expect(changed.next_runs).toHaveLength(5)
    expect(changed.environments[0]).toMatchObject({ status: 'ok', is_failing: false })
    clock.advance(1_440 * MINUTE)
    expect((await readMonitor(app, ada.actor, id)).environments[0]).toMatchObject({ status: 'missed', in_a_row: 1 })
  })

  test('is deleted with its runs, and made again by the next check-in', async () => {
    await checkIn()
    const { id } = await one()
    await deleteMonitor(app, ada.actor, id)
    expect(await list()).toEqual([])
    await expect(readMonitor(app, ada.actor, id)).rejects.toMatchObject({ code: 'not_found' })
    await checkIn()
    expect((await one()).environments[0]?.runs).toHaveLength(1)
  })

  test('of another organisation is not found', async () => {
    await checkIn()
    const { id } = await one()
    const { actor } = stranger
    for (const call of [
      () => readMonitor(app, actor, id),
      () => changeMonitor(app, actor, id, { state: 'muted' }),
      () => deleteMonitor(app, actor, id),
      () => listMonitors(app, actor, { projectId, limit: 10, offset: 0 }),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'not_found' })
    expect((await one()).state).toBe('active')
  })

  test('with runs in many environments shows the newest of each', async () => {
    for (let n = 0; n < 40; n++) {
      await checkIn({ environment: n % 2 === 0 ? 'a' : 'b', config: null })
      clock.advance(MINUTE)
    }
    await checkIn({ environment: 'rare', config: null })
    const { environments } = await one()
    expect(environments.map(({ name, runs }) => [name, runs.length])).toEqual([
      ['a', 20],
      ['b', 20],
      ['rare', 1],
    ])
  })
})
