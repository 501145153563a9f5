import { beforeAll, expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { insertQuarantined } from '../../ingest/spool/spool.queries.ts'
import { purgeQuarantine } from './purge-quarantine.ts'

const { app, clock } = await testApp()
const [short, long, gone] = [newId(), newId(), newId()]

beforeAll(async () => {
  const org = newId()
  await app.db.query(
    `insert into orgs (id, slug, name, data_key_sealed, created_at) values ($1, 'o', 'O', 'x', now())`,
    [org],
  )
  for (const [index, [id, days]] of [[short, 7] as const, [long, 30] as const].entries())
    await app.db.query(
      `insert into projects (id, org_id, name, slug, platform, region, settings, created_at) values ($1, $2, 'P', $3, 'web', 'eu-central-1', $4, now())`,
      [id, org, `p${index}`, JSON.stringify({ retention_days: days })],
    )
})

test('quarantined requests are deleted after the retention of their project, and with their project', async () => {
  const now = clock.now()
  for (const projectId of [short, long, gone])
    for (const daysAgo of [1, 8, 31]) {
      const quarantinedAt = new Date(now.getTime() - daysAgo * 86_400_000)
      await app.tx((tx) =>
        insertQuarantined(tx, {
          projectId,
          receivedAt: quarantinedAt,
          quarantinedAt,
          reason: 'test',
          counted: [],
          attempts: 1,
          entry: Buffer.from('entry'),
          body: Buffer.from('body'),
        }),
      )
    }
  expect(await purgeQuarantine(app)).toBe(6)
  const { rows } = await app.db.query<{ project_id: string }>('select project_id from spool_quarantine')
  expect(rows.map(({ project_id }) => project_id).sort()).toEqual([short, long, long].sort())
  expect(await purgeQuarantine(app)).toBe(0)
})
