import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { purgeRows } from '../../platform/jobs/purge.ts'
import { AGING_COUNTS } from './purge-outcomes.ts'

const { app, clock } = await testApp()

test('deletes counts older than 400 days and no others', async () => {
  clock.set('2026-11-20T12:00:00Z')
  const [project, key] = [newId(), newId()]
  const times = ['2025-10-15T23:00:00Z', '2025-10-16T00:00:00Z', '2026-11-20T11:00:00Z']
  for (const hour of times) {
    await app.db.query(`insert into outcomes_hourly values ($1, $2, $3, 'error', 'accepted', '', 1)`, [
      project,
      key,
      hour,
    ])
    await app.db.query(`insert into client_losses_hourly values ($1, $2, 'discarded', 'x', 'error', 1)`, [
      project,
      hour,
    ])
    await app.db.query('insert into flood_sampling_hourly values ($1, $2, $3, 1, 1, $3, $3)', [project, key, hour])
    await app.db.query("insert into costly_rules_hourly values ($1, $2, '**', 'a', 1, 1, $2)", [project, hour])
    await app.db.query('insert into org_usage_daily values ($1, $2, 1)', [project, hour.slice(0, 10)])
  }
  const deleted = (each: number) => ({
    outcomes_hourly: each,
    client_losses_hourly: each,
    flood_sampling_hourly: each,
    costly_rules_hourly: each,
    org_usage_daily: each,
  })
  expect(await purgeRows(app, AGING_COUNTS)).toEqual(deleted(1))
  expect(await purgeRows(app, AGING_COUNTS)).toEqual(deleted(0))
  const { rows } = await app.db.query<{ hour: Date }>('select hour from outcomes_hourly order by hour')
  expect(rows.map(({ hour }) => hour.toISOString())).toEqual(['2025-10-16T00:00:00.000Z', '2026-11-20T11:00:00.000Z'])
})
