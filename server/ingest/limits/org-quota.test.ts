import { expect, test } from 'vitest'
import { secondApp } from '#test/kit/second-app.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { createOrgQuota, type OrgQuota } from './org-quota.ts'
import { readUsage } from './org-quota.queries.ts'

const t = await testApp()
const { app, clock } = t
const second = await secondApp(t)

const taken = (quota: OrgQuota, org: string, perDay: number | null, count: number): number =>
  Array.from({ length: count }, () => quota.take(org, perDay)).filter((wait) => wait === 0).length

const opened = (quota: OrgQuota): OrgQuota => {
  t.onClose(() => quota.close())
  return quota
}

test('limits a day, starts again the next day, and never announces a long wait', async () => {
  clock.set('2026-11-20T23:58:00Z')
  const quota = opened(createOrgQuota(app))
  const org = newId()
  expect(taken(quota, org, 5, 8)).toBe(5)
  expect(quota.take(org, 5)).toBe(120)
  expect(quota.take(org, 6)).toBe(0)
  await quota.flush()
  expect(await readUsage(app.db, org, '2026-11-20')).toBe(6)
  clock.set('2026-11-21T00:00:00Z')
  expect(taken(quota, org, 5, 8)).toBe(5)
  expect(quota.take(org, 5)).toBe(300)
})

test('without a quota nothing is counted; with quota 0 nothing is accepted', async () => {
  const quota = opened(createOrgQuota(app))
  const org = newId()
  expect(taken(quota, org, null, 1_000)).toBe(1_000)
  expect(taken(quota, org, 0, 3)).toBe(0)
  await quota.flush()
  const { rows } = await app.db.query('select from org_usage_daily where org_id = $1', [org])
  expect(rows).toHaveLength(0)
})

test('is shared by processes, and survives a restart', async () => {
  clock.set('2026-11-22T12:00:00Z')
  const org = newId()
  const [one, other] = [opened(createOrgQuota(app)), opened(createOrgQuota(second))]
  expect(taken(one, org, 100, 60)).toBe(60)
  await one.flush()
  // The other process reads the usage of the day when it first takes something.
  expect(taken(other, org, 100, 10)).toBe(10)
  await other.flush()
  expect(taken(other, org, 100, 100)).toBe(30)
  await other.flush()
  expect(taken(one, org, 100, 1)).toBe(1)
  await one.flush()
  expect(taken(one, org, 100, 1)).toBe(0)
  expect(await readUsage(app.db, org, '2026-11-22')).toBe(101)
  const restarted = opened(createOrgQuota(app))
  restarted.take(org, 1_000)
  await waitFor('the sum to be known', () => restarted.take(org, 100) > 0)
})

test('usage that could not be written is written later', async () => {
  clock.set('2026-11-23T12:00:00Z')
  const org = newId()
  const quota = opened(createOrgQuota(app))
  await app.db.query('alter table org_usage_daily rename to gone')
  taken(quota, org, 10, 4)
  await quota.flush()
  await app.db.query('alter table gone rename to org_usage_daily')
  expect(taken(quota, org, 10, 10)).toBe(6)
  await quota.flush()
  expect(await readUsage(app.db, org, '2026-11-23')).toBe(10)
})
