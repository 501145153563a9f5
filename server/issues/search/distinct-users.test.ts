import { expect, test } from 'vitest'
import { aPerson } from '#test/kit/members.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { toSlot, windowOfRange } from '../rules/count-window.ts'
import { countUsersSince } from './range-counts.queries.ts'

const { app } = await testApp()
const USERS = 40_000

test('users of many issues count once; a share of them gives the number within 2 %', async () => {
  const { actor } = await aPerson(app)
  const projectId = newId()
  await app.db.query(
    `insert into projects (id, org_id, name, slug, platform, region, settings, created_at)
     values ($1, $2, 'P', $3, 'web', 'eu-central-1', '{}', now())`,
    [projectId, actor.orgId, `p${projectId}`],
  )
  const ids = await seedIssues(app, projectId, 40)
  const now = app.clock.now()
  // Each user has met three issues, and half of the users were seen in the window.
  await app.db.query(
    `insert into issue_users (group_id, user_hash, seen_slot)
     select ($1::uuid[])[1 + (n + k * 13) % 40], ('x' || substr(md5(n::text), 1, 13))::bit(52)::bigint, $2::int - 200 * (n % 2)
     from generate_series(1, $3::int) n, generate_series(0, 2) k`,
    [ids, toSlot(now.getTime()), USERS],
  )
  await app.db.query('update issue_groups set user_count = $2 where id = any($1::uuid[])', [ids, (USERS * 3) / 40])
  const count = (maxRead: number) =>
    countUsersSince(app.db, actor, { projectIds: [projectId] }, windowOfRange('24h', now), { maxRead })
  expect(await count(USERS * 3)).toBe(USERS / 2)
  for (const maxRead of [100_000, 30_000, 5_000]) {
    const estimated = await count(maxRead)
    expect(Math.abs(estimated / (USERS / 2) - 1), `${maxRead} rows: ${estimated}`).toBeLessThan(0.02)
  }
  // The events of the window are exact where they are few; otherwise they have no answer.
  const withEvents = (maxRead: number, users: number | null) =>
    countUsersSince(app.db, actor, { projectIds: [projectId] }, windowOfRange('24h', now), {
      maxRead,
      ofEvents: () => Promise.resolve(users),
    })
  expect(await withEvents(5_000, 17)).toBe(17)
  expect(await withEvents(USERS * 3, 17)).toBe(USERS / 2)
  expect(await withEvents(30_000, null)).toBe(await count(30_000))
})
