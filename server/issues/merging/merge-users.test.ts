import { expect, test } from 'vitest'
import type { OrgActor } from '../../platform/context/actor.ts'
import { lockRelation } from '../rows/groups.queries.ts'
import { toSlot } from '../rules/count-window.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { aPerson } from '#test/kit/members.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { countUsers, MAX_COUNTED_AT_ONCE } from './count-users.ts'
import { mergeIssues } from './merge-issues.ts'
import { unmergeIssues } from './unmerge-issues.ts'

const { app } = await testApp()

async function twoIssues(): Promise<{ actor: OrgActor; projectId: string; targetId: string; otherId: string }> {
  const { actor } = await aPerson(app)
  const projectId = newId()
  await app.db.query(
    `insert into projects (id, org_id, name, slug, platform, region, settings, created_at)
     values ($1, $2, 'P', $3, 'web', 'eu-central-1', '{}', now())`,
    [projectId, actor.orgId, `p${projectId}`],
  )
  const [targetId = '', otherId = ''] = await seedIssues(app, projectId, 2)
  return { actor, projectId, targetId, otherId }
}

/** Users with the hashes `from` to `to`, as digestion counts them. */
async function put(groupId: string, from: number, to: number, day = '2026-11-01'): Promise<void> {
  await app.db.query(
    'insert into issue_users (group_id, user_hash, seen_slot) select $1, g, $4 from generate_series($2::int, $3::int) g',
    [groupId, from, to, toSlot(Date.parse(`${day}T10:00Z`))],
  )
  for (const [table, column] of [
    ['issue_groups', 'id'],
    ['issues', 'id'],
  ])
    await app.db.query(
      `update ${table} set user_count = (select count(*) from issue_users where group_id = $1) where ${column} = $1`,
      [groupId],
    )
}

async function usersOf(issueId: string): Promise<{ users: number; day: string | null; today: number } | undefined> {
  const { rows } = await app.db.query<{ users: number; day: string | null; today: number }>(
    'select user_count as users, users_day::text as day, users_today as today from issues where id = $1',
    [issueId],
  )
  return rows[0]
}

test('users who are added, seen again and erased while a merge waits for digestion are right afterwards', async () => {
  const { actor, projectId, targetId, otherId } = await twoIssues()
  await put(targetId, 1, 3)
  await put(otherId, 3, 3, '2026-11-02')
  await put(otherId, 9, 9, '2026-11-02')
  let merged: Promise<unknown> = Promise.resolve()
  await app.tx(async (tx) => {
    await lockRelation(tx, [projectId])
    merged = mergeIssues(app, actor, { issueId: targetId, issue_ids: [otherId] })
    await waitFor('the merge to wait for the relation', async () => {
      const { rowCount } = await app.db.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ~* 'issue_generations'`,
      )
      return rowCount === 1
    })
    await tx.query('delete from issue_users where group_id = $1 and user_hash = 1', [targetId])
    await tx.query(
      `update issue_users set seen_slot = ${toSlot(Date.parse('2026-11-03T08:00Z'))} where group_id = $1 and user_hash = 2`,
      [targetId],
    )
    await tx.query(`insert into issue_users values ($1, 4, ${toSlot(Date.parse('2026-11-03T09:00Z'))})`, [targetId])
  })
  await merged
  expect(await usersOf(targetId)).toEqual({ users: 4, day: '2026-11-03', today: 2 })
})

/** The planner has no statistics of rows written since the last ANALYZE. */
test('thousands of users without statistics are merged and unmerged immediately', async () => {
  const { actor, targetId, otherId } = await twoIssues()
  for (let others = 0; others < 10; others++) await put(newId(), 1, 2_000)
  await app.db.query('analyze issue_users')
  await put(targetId, 1, 15_000)
  await put(otherId, 10_001, 25_000)
  await mergeIssues(app, actor, { issueId: targetId, issue_ids: [otherId] })
  expect(await usersOf(targetId)).toMatchObject({ users: 25_000 })
  await unmergeIssues(app, actor, { issueId: targetId, issue_ids: [otherId] })
  expect([(await usersOf(targetId))?.users, (await usersOf(otherId))?.users]).toEqual([15_000, 15_000])
})

test('very many users are those of the largest issue until a job has counted them, however often it runs', async () => {
  const { actor, targetId, otherId } = await twoIssues()
  const half = MAX_COUNTED_AT_ONCE / 2
  await put(targetId, 1, half + 1_000)
  await put(otherId, half + 1, MAX_COUNTED_AT_ONCE, '2026-11-02')
  const jobs = async () =>
    (
      await app.db.query<{ key: string }>(
        `select key from graphile_worker.jobs where task_identifier = 'count-users' and key like $1`,
        [`%${targetId}`],
      )
    ).rows.length
  await mergeIssues(app, actor, { issueId: targetId, issue_ids: [otherId] })
  expect(await usersOf(targetId)).toMatchObject({ users: half + 1_000, today: 0 })
  expect(await jobs()).toBe(1)
  // Digestion adds a user meanwhile, under the lock of the issue.
  await app.tx(async (tx) => {
    await tx.query(`select from issues where id = $1 for no key update`, [targetId])
    await tx.query(`insert into issue_users values ($1, 900000, ${toSlot(Date.parse('2026-11-02T09:00Z'))})`, [otherId])
    await tx.query(`update issue_groups set user_count = user_count + 1 where id = $1`, [otherId])
    await tx.query(`update issues set user_count = user_count + 1 where id = $1`, [targetId])
  })
  const counted = { users: MAX_COUNTED_AT_ONCE + 1, day: '2026-11-02', today: half + 1 }
  for (let run = 0; run < 2; run++) {
    await countUsers(app, targetId)
    expect(await usersOf(targetId)).toEqual(counted)
  }
  await Promise.all([countUsers(app, targetId), countUsers(app, targetId)])
  expect(await usersOf(targetId)).toEqual(counted)

  await unmergeIssues(app, actor, { issueId: targetId, issue_ids: [otherId] })
  expect([(await usersOf(targetId))?.users, (await usersOf(otherId))?.users]).toEqual([half + 1_000, half + 1])
  await countUsers(app, targetId)
  expect(await usersOf(targetId)).toMatchObject({ users: half + 1_000, day: '2026-11-01', today: half + 1_000 })
  await mergeIssues(app, actor, { issueId: targetId, issue_ids: [otherId] })
  // A merged issue keeps what it had, and so does nothing that was deleted.
  const before = await usersOf(otherId)
  await countUsers(app, otherId)
  await countUsers(app, newId())
  expect(await usersOf(otherId)).toEqual(before)
})
