import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { ensureDayPartitions } from '../../platform/storage/day-partitions.ts'
import { RECEIVED_DAY_TABLES } from './digest.ts'

const { app } = await testApp()

test('the statistics of events use a small sample, because a sample holds the bodies of its rows', async () => {
  await ensureDayPartitions(app.db, RECEIVED_DAY_TABLES, '2031-05-01')
  const { rows } = await app.db.query(
    `select attrelid::regclass::text as day, count(*)::int as columns, min(attstattarget) as least, max(attstattarget) as most
     from pg_attribute where attrelid = any('{events_20310501,events_20310502}'::regclass[]) and attnum > 0 and not attisdropped
     group by 1 order by 1`,
  )
  expect(rows).toMatchObject([
    { day: 'events_20310501', least: 25, most: 25 },
    { day: 'events_20310502', least: 25, most: 25 },
  ])
})
