import { expect, test } from 'vitest'
import type { OrgActor } from '../context/actor.ts'
import { newId } from '../kernel/ids.ts'
import { aPerson } from '#test/kit/members.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { mergeIssues } from './merge-issues.ts'
import { unmergeIssues } from './unmerge-issues.ts'

const { app } = await testApp()

async function twoIssues(): Promise<{ actor: OrgActor; targetId: string; otherId: string }> {
  const { actor } = await aPerson(app)
  const projectId = newId()
  await app.db.query(
    `insert into projects (id, org_id, name, slug, platform, region, settings, created_at)
     values ($1, $2, 'P', $3, 'web', 'eu-central-1', '{}', now())`,
    [projectId, actor.orgId, `p${projectId}`],
  )
  const [targetId = '', otherId = ''] = await seedIssues(app, projectId, 2)
  return { actor, targetId, otherId }
}

/** Merging copies an issue's users before it locks the row: changes by digestion and erasure meanwhile must not be lost. */
test('users who are added, seen again and erased while a merge waits for the lock are right afterwards', async () => {
  const { actor, targetId, otherId } = await twoIssues()
  const put = (issueId: string, users: readonly (readonly [hash: number, day: string])[]) =>
    app.db.query(
      'insert into issue_users (issue_id, user_hash, seen_day) select $1, * from unnest($2::bigint[], $3::date[])',
      [issueId, users.map(([hash]) => hash), users.map(([, day]) => day)],
    )
  await put(targetId, [
    [1, '2026-11-01'],
    [2, '2026-11-01'],
    [3, '2026-11-01'],
  ])
  await put(otherId, [
    [3, '2026-11-02'],
    [9, '2026-11-02'],
  ])
  const digester = await app.db.reserve()
  try {
    await digester.query('begin')
    await digester.query('select from issues where id = $1 for update', [targetId])
    const merged = mergeIssues(app, actor, { issueId: targetId, issue_ids: [otherId] })
    await waitFor('the merge to wait for the row', async () => {
      const { rowCount } = await app.db.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ~* 'for update'`,
      )
      return rowCount === 1
    })
    await digester.query('delete from issue_users where issue_id = $1 and user_hash = 1', [targetId])
    await digester.query(`update issue_users set seen_day = '2026-11-03' where issue_id = $1 and user_hash = 2`, [
      targetId,
    ])
    await digester.query(`insert into issue_users values ($1, 4, '2026-11-03')`, [targetId])
    await digester.query('commit')
    await merged
  } finally {
    digester.release()
  }
  const usersOf = async (id: string) =>
    (
      await app.db.query<{ user_hash: number; day: string }>(
        'select user_hash::float8 as user_hash, seen_day::text as day from issue_users where issue_id = $1 order by user_hash',
        [id],
      )
    ).rows.map(({ user_hash, day }) => [user_hash, day])
  const { rows } = await app.db.query<{ own_id: string }>('select own_id from merged_issues where issue_id = $1', [
    targetId,
  ])
  expect(await usersOf(rows[0]?.own_id ?? '')).toEqual([
    [2, '2026-11-03'],
    [3, '2026-11-01'],
    [4, '2026-11-03'],
  ])
  expect(await usersOf(targetId)).toEqual([
    [2, '2026-11-03'],
    [3, '2026-11-02'],
    [4, '2026-11-03'],
    [9, '2026-11-02'],
  ])
})

/**
 * The planner has no statistics of rows written since the last ANALYZE. With a nested loop these users exceed the
 * statement timeout; this happened when an issue was unmerged right after it had been merged.
 */
test('thousands of users without statistics are merged and unmerged immediately', async () => {
  const { actor, targetId, otherId } = await twoIssues()
  const put = (issueId: string, from: number, to: number) =>
    app.db.query(
      `insert into issue_users (issue_id, user_hash, seen_day) select $1, g, '2026-11-01' from generate_series($2::int, $3::int) g`,
      [issueId, from, to],
    )
  for (let others = 0; others < 10; others++) await put(newId(), 1, 2_000)
  await app.db.query('analyze issue_users')
  await put(targetId, 1, 15_000)
  await put(otherId, 10_001, 25_000)
  const usersOf = async (issueId: string): Promise<number> =>
    (await app.db.query<{ n: number }>('select user_count as n from issues where id = $1', [issueId])).rows[0]?.n ?? 0
  await mergeIssues(app, actor, { issueId: targetId, issue_ids: [otherId] })
  expect(await usersOf(targetId)).toBe(25_000)
  await unmergeIssues(app, actor, { issueId: targetId, issue_ids: [otherId] })
  expect([await usersOf(targetId), await usersOf(otherId)]).toEqual([15_000, 15_000])
})
