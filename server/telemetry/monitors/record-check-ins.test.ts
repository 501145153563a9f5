import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { aPerson } from '#test/kit/members.ts'
import { newId } from '../../platform/kernel/ids.ts'
import type { CheckIn } from '../../events/protocol/check-in.ts'
import { listCheckIns } from './list-check-ins.ts'
import { MAX_MONITORS, recordCheckIns } from './record-check-ins.ts'

const { app, clock } = await testApp()
const ada = await aPerson(app)

async function aProject(): Promise<string> {
  const id = newId()
  await app.db.query(
    `insert into projects (id, org_id, name, slug, platform, region, created_at) values ($1, $2, 'P', $3, 'web', 'eu-central-1', now())`,
    [id, ada.actor.orgId, id],
  )
  return id
}

const aCheckIn = (fields: Partial<CheckIn> = {}): CheckIn => ({
  id: null,
  slug: 'nightly',
  status: 'ok',
  durationMs: null,
  environment: 'production',
  release: null,
  traceId: null,
  config: null,
  notes: [],
  ...fields,
})

const record = (projectId: string, ...checkIns: readonly CheckIn[]): Promise<readonly boolean[]> =>
  app.tx((tx) =>
    recordCheckIns(
      tx,
      clock.now(),
      checkIns.map((one) => ({ ...one, projectId, receivedAt: clock.now() })),
    ),
  )

const runs = async (projectId: string) =>
  (await listCheckIns(app, ada.actor, { projectId, limit: 100, offset: 0 })).items

test('an end without an id closes the newest open run of its monitor and environment', async () => {
  const projectId = await aProject()
  await record(projectId, aCheckIn({ status: 'in_progress', environment: 'dev' }))
  clock.advance(1_000)
  await record(projectId, aCheckIn({ status: 'in_progress', id: 'a'.repeat(32) }))
  clock.advance(1_000)
  await record(projectId, aCheckIn({ status: 'in_progress', id: 'b'.repeat(32) }))
  clock.advance(5_000)
  await record(projectId, aCheckIn())
  expect((await runs(projectId)).map(({ id, status, duration_ms }) => [id, status, duration_ms])).toEqual([
    ['b'.repeat(32), 'ok', 5_000],
    ['a'.repeat(32), 'in_progress', null],
    [expect.any(String), 'in_progress', null],
  ])
  // The next one closes the run before; the third finds no open run and is a new one.
  clock.advance(1_000)
  await record(projectId, aCheckIn({ status: 'error' }), aCheckIn())
  expect((await runs(projectId)).map(({ status, environment }) => [status, environment])).toEqual([
    ['ok', 'production'],
    ['ok', 'production'],
    ['error', 'production'],
    ['in_progress', 'dev'],
  ])
})

test('start and end in one batch are one run', async () => {
  const projectId = await aProject()
  await record(projectId, aCheckIn({ status: 'in_progress' }), aCheckIn({ durationMs: 250 }))
  expect(await runs(projectId)).toMatchObject([{ status: 'ok', duration_ms: 250 }])
})

test('the same id in two monitors is two runs', async () => {
  const projectId = await aProject()
  const id = 'c'.repeat(32)
  await record(projectId, aCheckIn({ id, slug: 'one' }), aCheckIn({ id, slug: 'two', status: 'error' }))
  expect((await runs(projectId)).map(({ monitor, status }) => `${monitor.slug} ${status}`).sort()).toEqual([
    'one ok',
    'two error',
  ])
})

test('a configuration replaces the previous one; a check-in without one keeps it', async () => {
  const projectId = await aProject()
  const config = {
    schedule: { type: 'crontab', value: '0 3 * * *' },
    timezone: 'UTC',
    checkinMarginMinutes: 5,
    maxRuntimeMinutes: 30,
    failureIssueThreshold: 2,
    recoveryThreshold: null,
    owner: 'ops',
  } as const
  const interval = { type: 'interval', value: 2, unit: 'hour' } as const
  await record(projectId, aCheckIn({ config }))
  await record(projectId, aCheckIn())
  expect((await runs(projectId))[0]?.monitor).toMatchObject({ schedule: { value: '0 3 * * *' }, owner: 'ops' })
  await record(projectId, aCheckIn({ config: { ...config, schedule: interval, maxRuntimeMinutes: null } }))
  expect((await runs(projectId))[0]?.monitor).toMatchObject({
    schedule: interval,
    max_runtime_minutes: null,
    failure_issue_threshold: 2,
  })
})

test('parallel check-ins create one monitor and one run', async () => {
  const projectId = await aProject()
  const id = 'd'.repeat(32)
  for (let round = 0; round < 10; round++) {
    const statuses = ['ok', 'in_progress', 'error', 'in_progress'] as const
    await Promise.all(statuses.map((status) => record(projectId, aCheckIn({ id, slug: `job-${round}`, status }))))
  }
  expect((await runs(projectId)).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 'error'))
})

test('the number of monitors is limited', async () => {
  const projectId = await aProject()
  const many = Array.from({ length: MAX_MONITORS + 5 }, (_, n) => aCheckIn({ slug: `job-${n}` }))
  const recorded = await record(projectId, ...many)
  expect(recorded.filter((one) => one)).toHaveLength(MAX_MONITORS)
  expect(await record(projectId, aCheckIn({ slug: 'one-more' }), aCheckIn({ slug: 'job-0' }))).toEqual([false, true])
})

test('a batch of ten thousand check-ins is recorded in time', async () => {
  const projectId = await aProject()
  const many = Array.from({ length: 10_000 }, (_, n) =>
    aCheckIn({
      id: n % 3 === 0 ? n.toString(16).padStart(32, 'f') : null,
      slug: `job-${n % 7}`,
      status: n % 2 === 0 ? 'in_progress' : 'ok',
      environment: `env-${n % 1_000}`,
    }),
  )
  const startedMs = performance.now()
  await record(projectId, ...many)
  await record(projectId, ...many)
  // Measured on two busy cores: 4.7 s; a step with quadratic cost takes minutes.
  expect(performance.now() - startedMs).toBeLessThan(60_000)
})
