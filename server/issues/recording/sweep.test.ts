import { beforeEach, describe, expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { aPerson } from '#test/kit/members.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { mergeIssues } from '../merging/merge-issues.ts'
import { pruneCounts } from './tasks.ts'
import { rateByShare, sweepIssues } from './sweep.ts'
import { unmergeIssues } from '../merging/unmerge-issues.ts'
import { updateIssue } from '../triage/update-issue.ts'

const { app, clock } = await testApp()
const START = '2026-11-20T12:00:00.000Z'
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const { actor } = await aPerson(app)

let projectId = ''
beforeEach(async () => {
  clock.set(START)
  projectId = await aProject()
})

async function aProject(settings: Record<string, unknown> = {}): Promise<string> {
  const id = newId()
  await app.db
    .insertInto('projects')
    .values({
      id,
      org_id: actor.orgId,
      name: 'Sweeps',
      slug: `s-${id}`,
      platform: 'web',
      region: 'eu-central-1',
      settings: JSON.stringify(settings),
      created_at: app.clock.now(),
    })
    .execute()
  return id
}

const one = async (id: string) =>
  app.db
    .selectFrom('issues')
    .select(['status', 'status_reason', 'severity', 'resolution', 'resolved_in_release', 'high_impact_day'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
const entriesOf = (id: string) =>
  app.db.selectFrom('issue_activity').selectAll().where('issue_id', '=', id).orderBy('id').execute()
const countIn = async (status: string): Promise<number> => {
  const { rows } = await app.db.query<{ n: number }>(
    'select count(*) as n from issues where project_id = $1 and status = $2',
    [projectId, status],
  )
  return rows[0]?.n ?? 0
}

describe('sweeping', () => {
  test('more issues than a batch resolve automatically, each with one activity entry, also by two sweeps', async () => {
    const ids = await seedIssues(app, projectId, 1_200)
    clock.advance(13 * DAY_MS)
    await sweepIssues(app)
    expect(await countIn('unresolved')).toBe(1_200)
    clock.advance(DAY_MS + HOUR_MS)
    await Promise.all([sweepIssues(app), sweepIssues(app)])
    expect(await countIn('resolved')).toBe(1_200)
    const { rows } = await app.db.query<{ n: number }>(
      `select count(*) as n from issue_activity where issue_id = any($1) and kind = 'status_changed'`,
      [ids],
    )
    expect(rows[0]?.n).toBe(1_200)
    expect((await one(ids[0] ?? '')).status_reason).toContain('no event for 14 days')
  })

  test('issues resolve after the number of days in the project settings, or never', async () => {
    const [short = ''] = await seedIssues(app, await aProject({ auto_resolve_days: 1 }), 1)
    const [never = ''] = await seedIssues(app, await aProject({ auto_resolve_days: 0 }), 1)
    clock.advance(2 * DAY_MS)
    await sweepIssues(app)
    clock.advance(400 * DAY_MS)
    await sweepIssues(app)
    expect((await one(short)).status).toBe('resolved')
    expect(await entriesOf(short)).toHaveLength(1)
    expect((await one(never)).status).toBe('unresolved')
  })

  test('an issue ignored until a time reopens once', async () => {
    const [id = ''] = await seedIssues(app, projectId, 1)
    const time = new Date(app.clock.now().getTime() + HOUR_MS).toISOString()
    await updateIssue(app, actor, { issueId: id, status: 'ignored', ignore_until: { time } })
    await sweepIssues(app)
    expect((await one(id)).status).toBe('ignored')
    clock.advance(HOUR_MS)
    await sweepIssues(app)
    await sweepIssues(app)
    expect(await one(id)).toMatchObject({
      status: 'unresolved',
      status_reason: 'Reopened: it was ignored until 20 Nov 2026 13:00 UTC.',
    })
    expect(await entriesOf(id)).toHaveLength(2)
  })

  test('an escalated issue without recent events becomes unresolved, and its severity falls', async () => {
    const [id = ''] = await seedIssues(app, projectId, 1)
    await updateIssue(app, actor, { issueId: id, status: 'escalated' })
    await app.db.query('update issues set last_seen = $2, event_severity = 3 where id = $1', [
      id,
      new Date(Date.parse(START) + 6 * DAY_MS),
    ])
    clock.advance(7 * DAY_MS)
    await sweepIssues(app)
    expect(await one(id)).toMatchObject({ status: 'unresolved', severity: 2 })
  })

  test('an issue resolved in a commit becomes resolved in the releases with that commit', async () => {
    const [id = '', other = ''] = await seedIssues(app, projectId, 2)
    await updateIssue(app, actor, { issueId: id, status: 'resolved', resolution: { in_commit: 'abcdef1' } })
    await updateIssue(app, actor, { issueId: other, status: 'resolved', resolution: { in_commit: 'abcdef2' } })
    await sweepIssues(app)
    expect(await one(id)).toMatchObject({ resolved_in_release: null, resolution: { kind: 'commit', sha: 'abcdef1' } })
    for (const [version, sha] of [
      ['2.3.1', 'abcdef1000000000000000000000000000000000'],
      ['3.0.2', 'abcdef1000000000000000000000000000000000'],
      ['4.0.0', 'abcdf00000000000000000000000000000000000'],
    ]) {
      const releaseId = newId()
      await app.db.query(`insert into releases (id, project_id, version, created_at) values ($1, $2, $3, $4)`, [
        releaseId,
        projectId,
        version,
        app.clock.now(),
      ])
      await app.db.query('insert into release_commits (release_id, project_id, sha, position) values ($1, $2, $3, 0)', [
        releaseId,
        projectId,
        sha,
      ])
    }
    await sweepIssues(app)
    await sweepIssues(app)
    expect(await one(id)).toMatchObject({
      status: 'resolved',
      status_reason: 'Fixed in 2.3.1 and 3.0.2: commit abcdef1 is part of them.',
      resolved_in_release: '2.3.1',
      resolution: { kind: 'release', versions: ['2.3.1', '3.0.2'] },
    })
    expect((await entriesOf(id)).map((entry) => entry.kind)).toEqual(['status_changed', 'resolution_changed'])
    expect((await one(other)).resolution).toMatchObject({ kind: 'commit' })
  })

  test('commit hashes match when either is abbreviated; a hash of fewer than seven digits matches none', async () => {
    const [before = '', after = '', third = ''] = await seedIssues(app, projectId, 3)
    const sha = 'abcdef1000000000000000000000000000000000'
    const resolve = (issueId: string, sha: string) =>
      updateIssue(app, actor, { issueId, status: 'resolved', resolution: { in_commit: sha } })
    await resolve(before, sha)
    await resolve(third, 'abcdef2000')
    const releaseId = newId()
    await app.db.query('insert into releases (id, project_id, version, created_at) values ($1, $2, $3, $4)', [
      releaseId,
      projectId,
      '2.3.1',
      app.clock.now(),
    ])
    for (const [position, known] of ['abcdef1', 'abcdef', 'abcdef3000'].entries())
      await app.db.query(
        'insert into release_commits (release_id, project_id, sha, position) values ($1, $2, $3, $4)',
        [releaseId, projectId, known, position],
      )
    await sweepIssues(app)
    expect(await one(before)).toMatchObject({ resolved_in_release: '2.3.1' })
    expect(await one(third)).toMatchObject({ resolved_in_release: null })
    await resolve(after, `${sha}abcdef`)
    expect(await one(after)).toMatchObject({ resolved_in_release: '2.3.1' })
  })

  test('an issue resolved in a commit of hundreds of releases is resolved in the first 20', async () => {
    const [id = ''] = await seedIssues(app, projectId, 1)
    await updateIssue(app, actor, { issueId: id, status: 'resolved', resolution: { in_commit: 'abcdef1' } })
    await app.db.query(
      `with made as (
         insert into releases (id, project_id, version, created_at, first_seen_at)
         select gen_random_uuid(), $1, '1.' || n, $2, $2::timestamptz + n * interval '1 minute' from generate_series(1, 300) n returning id)
       insert into release_commits (release_id, project_id, sha, position) select id, $1, 'abcdef1000', 0 from made`,
      [projectId, app.clock.now()],
    )
    await sweepIssues(app)
    const { resolution } = await one(id)
    expect(resolution).toMatchObject({ versions: Array.from({ length: 20 }, (_, at) => `1.${at + 1}`) })
  })

  test('sweeps do not change merged issues before they are unmerged', async () => {
    const [target = '', open = '', ignored = '', escalated = '', resolved = ''] = await seedIssues(app, projectId, 5)
    const time = new Date(app.clock.now().getTime() + HOUR_MS).toISOString()
    await updateIssue(app, actor, { issueId: ignored, status: 'ignored', ignore_until: { time } })
    await updateIssue(app, actor, { issueId: escalated, status: 'escalated' })
    await updateIssue(app, actor, { issueId: resolved, status: 'resolved', resolution: { in_commit: 'abcdef1' } })
    await app.db.query(`update issues set high_impact_day = '2026-11-01' where project_id = $1`, [projectId])
    const merged = [open, ignored, escalated, resolved]
    await mergeIssues(app, actor, { issueId: target, issue_ids: merged })
    const releaseId = newId()
    await app.db.query('insert into releases (id, project_id, version, created_at) values ($1, $2, $3, $4)', [
      releaseId,
      projectId,
      '1.0',
      app.clock.now(),
    ])
    await app.db.query('insert into release_commits (release_id, project_id, sha, position) values ($1, $2, $3, 0)', [
      releaseId,
      projectId,
      'abcdef1000',
    ])
    const before = await Promise.all(merged.map((id) => one(id)))
    clock.advance(30 * DAY_MS)
    await sweepIssues(app)
    expect((await one(target)).status).toBe('resolved')
    expect(await Promise.all(merged.map((id) => one(id)))).toEqual(before)
    await unmergeIssues(app, actor, { issueId: target, issue_ids: merged })
    await sweepIssues(app)
    expect((await Promise.all(merged.map((id) => one(id)))).map((row) => row.status)).toEqual([
      'resolved',
      'unresolved',
      'resolved',
      'resolved',
    ])
    expect((await one(resolved)).resolved_in_release).toBe('1.0')
  })

  test('five concurrent sweeps make each transition once, while members resolve issues', async () => {
    const ids = await seedIssues(app, projectId, 40)
    const time = new Date(app.clock.now().getTime() + HOUR_MS).toISOString()
    for (const [index, issueId] of ids.entries())
      await updateIssue(
        app,
        actor,
        index % 2 === 0 ? { issueId, status: 'ignored', ignore_until: { time } } : { issueId, status: 'escalated' },
      )
    clock.advance(7 * DAY_MS)
    const resolved = ids.slice(0, 10)
    await Promise.all([
      ...Array.from({ length: 5 }, () => sweepIssues(app)),
      ...resolved.map((issueId) => updateIssue(app, actor, { issueId, status: 'resolved' })),
    ])
    // Sweeps skipped the issues that another transaction had locked.
    await sweepIssues(app)
    expect(await countIn('resolved')).toBe(10)
    expect(await countIn('unresolved')).toBe(30)
    for (const id of ids) {
      const transitions = (await entriesOf(id)).map(({ data }) => data as { from: string; to: string })
      expect(transitions.map(({ from }) => from)).toEqual(
        ['unresolved', ...transitions.map(({ to }) => to)].slice(0, -1),
      )
      expect(transitions.length).toBeLessThanOrEqual(3)
    }
  })
})

describe('severity over time', () => {
  test('a share of the active users raises it for that day and the next', async () => {
    const [above = '', below = '', pinned = ''] = await seedIssues(app, projectId, 3, { severity: 1 })
    await app.db.query(
      `update issues set event_severity = 2, last_seen = $2, users_day = '2026-11-20', users_today = case when id = $3 then 4 else 5 end,
         severity_pinned = id = $4 where project_id = $1`,
      [projectId, new Date(START), below, pinned],
    )
    expect(await rateByShare(app, projectId, 5)).toBe(2)
    expect(await rateByShare(app, projectId, 5)).toBe(0)
    expect(await one(above)).toMatchObject({ severity: 2, high_impact_day: '2026-11-20' })
    expect((await one(below)).severity).toBe(1)
    expect((await one(pinned)).severity).toBe(1)
    expect(await entriesOf(pinned)).toHaveLength(0)
    clock.advance(DAY_MS)
    await sweepIssues(app)
    expect((await one(above)).severity).toBe(2)
    clock.advance(DAY_MS)
    await sweepIssues(app)
    expect(await one(above)).toMatchObject({ severity: 1, high_impact_day: null })
    expect((await entriesOf(above)).map((entry) => entry.sentence)).toEqual([
      'Severity rose to high: 5 users on 2026-11-20, a large share of the active users.',
      'Severity fell to medium: the issue no longer affects many users.',
    ])
  })
})

test('hours and minutes older than 400 days are deleted', async () => {
  const [id = ''] = await seedIssues(app, projectId, 1)
  for (const days of [399, 401])
    for (const [table, column, time, key] of [
      ['issue_hours', 'group_id', 'hour', id],
      ['project_minutes', 'project_id', 'minute', projectId],
    ])
      await app.db.query(
        `insert into ${table} (${column}, ${time}, events${table === 'project_minutes' ? ', fatal' : ''}) values ($1, $2, 1${table === 'project_minutes' ? ', 0' : ''})`,
        [key, new Date(Date.parse(START) - days * DAY_MS)],
      )
  expect(await pruneCounts(app)).toMatchObject({ issue_hours: 1, project_minutes: 1 })
  expect(await pruneCounts(app)).toMatchObject({ issue_hours: 0, project_minutes: 0 })
})
