import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { aPerson } from '#test/kit/members.ts'
import { anOccurrence } from '#test/kit/occurrence.ts'
import { cases, PROPERTY_TIMEOUT_MS } from '#test/kit/properties.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { RECEIVED_DAY_TABLES } from '../../ingest/digest/digest.ts'
import { createProjectFactsReader } from '../../ingest/digest/project-facts.ts'
import { changeRelation, lockRelation } from '../rows/groups.queries.ts'
import { eventsIn, selectTrends, selectUsersIn } from '../rows/counts.queries.ts'
import { parseChartWindow, SLOT_MS, toSlot } from '../rules/count-window.ts'
import { deleteIssue } from '../merging/delete-issue.ts'
import { mergeIssues } from '../merging/merge-issues.ts'
import { unmergeIssues } from '../merging/unmerge-issues.ts'
import { updateIssue } from '../triage/update-issue.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { ensureDayPartitions } from '../../platform/storage/day-partitions.ts'
import { DIGESTION, factContext } from '../../platform/context/actor.ts'
import { FOLD_INTERVAL_MS, foldJournal, JournalTakenOverError, type Refusals, ShardJournal } from './journal.ts'
import type { Occurrence } from './occurrence.ts'
import { recordEvents } from './record-events.ts'

/** Counts that are appended and folded later equal those of a recount, however batches, folds, errors and restarts follow. */

const { app, clock, onClose } = await testApp()
const { actor } = await aPerson(app)
const facts = createProjectFactsReader(app)
onClose(() => Promise.resolve(facts.close()))
await ensureDayPartitions(app.db, RECEIVED_DAY_TABLES, utcDay(clock.now()))
const HOUR_MS = 3_600_000
let shards = 0

async function aProject(): Promise<string> {
  const id = newId()
  await app.db.query(
    `insert into projects (id, org_id, name, slug, platform, region, settings, created_at) values ($1, $2, 'P', $3, 'web', 'eu-central-1', '{}', now())`,
    [id, actor.orgId, `p${id}`],
  )
  return id
}

type Sent = {
  readonly group: number
  readonly user?: number
  readonly hoursAgo?: number
  readonly isFatal?: boolean
  readonly isRooted?: boolean
}

function occurrence(
  projectId: string,
  { group, user = 0, hoursAgo = 0, isFatal = false, isRooted = false }: Sent,
): Promise<Occurrence> {
  const at = clock.now().getTime() - hoursAgo * HOUR_MS
  const event = {
    fingerprint: [`group ${group}`],
    timestamp: at / 1000,
    level: isFatal ? 'fatal' : 'error',
    user: { id: `user${user}` },
    ...(isRooted ? { tags: { rooted: true } } : {}),
    exception: { values: [{ type: `E${group}`, value: `at ${at}` }] },
  }
  return anOccurrence(facts, projectId, event, clock.now())
}

const aJournal = () => {
  const shard = 1_000 + shards++
  return new ShardJournal(() => [shard], clock)
}

/** Records a batch as digestion does. */
async function record(
  journal: ShardJournal,
  projectId: string,
  sent: readonly Sent[],
  { isMoreWaiting = true, fails = false } = {},
): Promise<readonly string[]> {
  const occurrences = await Promise.all(sent.map((one) => occurrence(projectId, one)))
  const context = { projectId, keyId: newId(), receivedAt: clock.now(), orgId: actor.orgId }
  const step = journal.begin(isMoreWaiting)
  const outcomes = await app
    .tx(async (tx) => {
      const done = await recordEvents(
        tx,
        factContext(app, DIGESTION),
        occurrences.map((fact) => ({ fact, context })),
        step,
      )
      await step.finish(tx, factContext(app, DIGESTION))
      if (fails) throw new Error('rolled back')
      return done
    })
    .catch((error: unknown) => {
      journal.reset()
      throw error
    })
  step.committed()
  clock.advance(1)
  return outcomes.map(({ outcome }) => outcome)
}

/** The counts in the rows of a project, and a recount of its events. */
async function counts(projectId: string) {
  const { rows } = await app.db.query<Record<string, number | string>>(
    `select i.title, i.event_count::int as events, g.event_count::int as of_group, i.user_count::int as users, g.user_count::int as users_of_group,
       (select count(*)::int from events e where e.issue_id = g.id) as stored,
       (select count(distinct e.user_hash)::int from events e where e.issue_id = g.id) as affected,
       (select coalesce(sum(h.events), 0)::int from issue_hours h where h.group_id = g.id) as hours,
       (select count(*)::int from issue_users u where u.group_id = g.id) as user_rows
     from issues i join issue_groups g on g.id = i.id where i.project_id = $1 order by i.number`,
    [projectId],
  )
  return rows
}

async function expectRecount(projectId: string): Promise<void> {
  for (const row of await counts(projectId)) {
    const { stored, affected } = row
    expect(row).toMatchObject({ events: stored, of_group: stored, hours: stored })
    expect(row).toMatchObject({ users: affected, users_of_group: affected, user_rows: affected })
  }
}

/** Compares events and users by quarters of the last hours with the stored events. */
async function expectSlots(projectId: string): Promise<void> {
  const now = clock.now()
  const from = new Date(now.getTime() - 5 * HOUR_MS)
  const { rows } = await app.db.query<{ id: string; slot: number; user_hash: number; is_fatal: boolean }>(
    `select e.issue_id as id, floor(extract(epoch from e.occurred_at) / 900)::int as slot, e.user_hash::float8 as user_hash, e.level = 'fatal' as is_fatal
     from events e where e.project_id = $1 and e.occurred_at >= $2`,
    [projectId, from],
  )
  const ids = [...new Set(rows.map(({ id }) => id))]
  const window = parseChartWindow({ from: from.toISOString() }, now)!
  const [trendOf, fatal] = await Promise.all([
    selectTrends(app.db, ids, window, SLOT_MS),
    sql<{
      id: string
      n: number
    }>`select g.issue_id as id, sum(q.fatal)::int as n from ${eventsIn(window, { bucketMs: SLOT_MS })}
      where g.issue_id = any(${ids}::uuid[]) group by 1`.execute(app.db),
  ])
  for (const id of ids) {
    const own = rows.filter((row) => row.id === id)
    expect(trendOf(id)).toEqual(
      trendOf(id).map((_, index) => own.filter(({ slot }) => slot === toSlot(window.from) + index).length),
    )
    expect(fatal.rows.find((row) => row.id === id)?.n).toBe(own.filter((row) => row.is_fatal).length)
  }
  // A time up to now is exact, also with late events.
  for (const start of [toSlot(window.from), ...[7, 4, 2, 0].map((ago) => toSlot(now.getTime()) - ago)]) {
    const users = await selectUsersIn(app.db, ids, { ...window, from: start * SLOT_MS })
    for (const id of ids) {
      const seen = new Set(rows.filter((row) => row.id === id && row.slot >= start).map((row) => row.user_hash))
      expect(users.get(id) ?? 0, `since ${start}`).toBe(seen.size)
    }
  }
}

const shownIn = async (projectId: string) =>
  (
    await app.db.query<{ id: string; merged_into: string | null }>(
      'select id, merged_into from issues where project_id = $1 order by number',
      [projectId],
    )
  ).rows

/** Merges, unmerges or deletes issues, if the project has them. */
async function change(projectId: string, what: 'merge' | 'unmerge' | 'delete', at: readonly [number, number]) {
  const all = await shownIn(projectId)
  const shown = all.filter((row) => row.merged_into === null)
  const merged = all.filter((row) => row.merged_into !== null)
  const [one, other] = at.map((index) => shown[index % shown.length]?.id ?? '')
  const inner = merged[at[0] % merged.length]
  if (what === 'merge' && one !== undefined && other !== undefined && one !== other)
    await mergeIssues(app, actor, { issueId: one, issue_ids: [other] })
  if (what === 'unmerge' && inner !== undefined) {
    const { rows } = await app.db.query<{ id: string }>('select issue_id as id from issue_groups where id = $1', [
      inner.id,
    ])
    await unmergeIssues(app, actor, { issueId: rows[0]?.id ?? '', issue_ids: [inner.id] })
  }
  if (what === 'delete' && one !== undefined && one !== '') await deleteIssue(app, actor, one)
}

async function unmergeAll(projectId: string): Promise<void> {
  while ((await shownIn(projectId)).some((row) => row.merged_into !== null)) await change(projectId, 'unmerge', [0, 0])
}

/** Compares the events and users of issues, of merge targets too, with the stored events. */
async function expectUnions(projectId: string): Promise<void> {
  const { rows } = await app.db.query(
    `select i.event_count::int as events, i.user_count::int as users, i.merged_count as merged,
       count(*)::int as stored, count(distinct e.user_hash)::int as affected, count(distinct g.id)::int - 1 as others
     from issues i join issue_groups g on g.issue_id = i.id join events e on e.issue_id = g.id
     where i.project_id = $1 and i.merged_into is null group by i.id`,
    [projectId],
  )
  for (const row of rows)
    expect(row).toMatchObject({ events: row['stored'], users: row['affected'], merged: row['others'] })
}

const dropped: (string | null)[] = []
const REFUSALS: Refusals = {
  isRefusal: () => false,
  onDropped: (sums) => dropped.push(sums?.newest.title.replaceAll('\0', '').slice(0, 2) ?? null),
}

const journalRows = async (): Promise<number> =>
  (await app.db.query<{ n: number }>('select count(*)::int as n from issue_journal')).rows[0]?.n ?? 0

test('a batch that others follow appends, and the next fold counts', async () => {
  const [journal, projectId] = [aJournal(), await aProject()]
  await record(journal, projectId, [{ group: 1 }], { isMoreWaiting: false })
  await record(journal, projectId, [{ group: 1, user: 1 }, { group: 1, user: 2 }, { group: 2 }])
  // A new issue is counted at once.
  expect(await counts(projectId)).toMatchObject([
    { events: 1, stored: 3, users: 1 },
    { events: 1, stored: 1 },
  ])
  await record(journal, projectId, [{ group: 2 }], { isMoreWaiting: false })
  expect(await counts(projectId)).toMatchObject([{ events: 3, users: 3 }, { events: 2 }])
  await expectRecount(projectId)
})

test('while batches follow each other, one of them folds after a while', async () => {
  const [journal, projectId] = [aJournal(), await aProject()]
  await record(journal, projectId, [{ group: 1 }])
  await record(journal, projectId, [{ group: 1 }])
  expect(await counts(projectId)).toMatchObject([{ events: 1 }])
  clock.advance(FOLD_INTERVAL_MS)
  await record(journal, projectId, [{ group: 1 }])
  expect(await counts(projectId)).toMatchObject([{ events: 3 }])
})

test('a batch without events folds what is due', async () => {
  const [journal, projectId] = [aJournal(), await aProject()]
  await record(journal, projectId, [{ group: 1 }])
  await record(journal, projectId, [{ group: 1 }])
  await foldJournal(app, journal, REFUSALS)
  await expectRecount(projectId)
  expect(await counts(projectId)).toMatchObject([{ events: 2 }])
})

test('after a restart the first fold counts what the ended process appended', async () => {
  const projectId = await aProject()
  const shard = 1_000 + shards++
  const ended = new ShardJournal(() => [shard], clock)
  await record(ended, projectId, [{ group: 1 }])
  await record(ended, projectId, [{ group: 1, user: 7, hoursAgo: 3 }])
  await record(ended, projectId, [{ group: 1, user: 8 }])
  await foldJournal(app, new ShardJournal(() => [shard], clock), REFUSALS)
  expect(await counts(projectId)).toMatchObject([{ events: 3, users: 3 }])
  await expectRecount(projectId)
})

test('a process without shards counts nothing', () => {
  const journal = new ShardJournal(() => [], clock)
  expect(() => journal.begin(false)).toThrow(JournalTakenOverError)
})

test('a process that lost its shard cannot fold what another one folded', async () => {
  const projectId = await aProject()
  const shard = 1_000 + shards++
  const [old, young] = [new ShardJournal(() => [shard], clock), new ShardJournal(() => [shard], clock)]
  await record(old, projectId, [{ group: 1 }])
  await record(old, projectId, [{ group: 1 }])
  await foldJournal(app, young, REFUSALS)
  await expect(record(old, projectId, [{ group: 1 }], { isMoreWaiting: false })).rejects.toThrow(JournalTakenOverError)
  await record(old, projectId, [{ group: 1 }], { isMoreWaiting: false })
  expect(await counts(projectId)).toMatchObject([{ events: 3 }])
  await expectRecount(projectId)
})

test('a member decides between append and fold: events of before are late, events of after reopen the issue', async () => {
  const [journal, projectId] = [aJournal(), await aProject()]
  await record(journal, projectId, [{ group: 1 }, { group: 2 }], { isMoreWaiting: false })
  const ids = (
    await app.db.query<{ id: string }>('select id from issues where project_id = $1 order by number', [projectId])
  ).rows.map(({ id }) => id)
  await record(journal, projectId, [{ group: 1 }])
  clock.advance(10)
  for (const issueId of ids) await updateIssue(app, actor, { issueId, status: 'resolved' })
  clock.advance(10)
  await record(journal, projectId, [{ group: 2 }])
  await foldJournal(app, journal, REFUSALS)
  const { rows } = await app.db.query('select status from issues where project_id = $1 order by number', [projectId])
  expect(rows).toEqual([{ status: 'resolved' }, { status: 'regressed' }])
})

async function issueIdsOf(projectId: string): Promise<readonly [string, string]> {
  const { rows } = await app.db.query<{ id: string }>('select id from issues where project_id = $1 order by number', [
    projectId,
  ])
  return [rows[0]?.id ?? '', rows[1]?.id ?? '']
}

test('events between append and fold count once towards the conditions of an issue that is unmerged meanwhile', async () => {
  const [journal, projectId] = [aJournal(), await aProject()]
  await record(journal, projectId, [{ group: 1 }, { group: 2 }], { isMoreWaiting: false })
  const [target, other] = await issueIdsOf(projectId)
  clock.advance(10)
  await updateIssue(app, actor, { issueId: other, status: 'ignored', ignore_until: { count: 5 } })
  clock.advance(10)
  await mergeIssues(app, actor, { issueId: target, issue_ids: [other] })
  clock.advance(10)
  await record(journal, projectId, [{ group: 2 }], { isMoreWaiting: false })
  await record(journal, projectId, [{ group: 2 }, { group: 2 }])
  await unmergeIssues(app, actor, { issueId: target, issue_ids: [other] })
  await foldJournal(app, journal, REFUSALS)
  const read = () => app.db.query('select status, event_count::int as events from issues where id = $1', [other])
  expect((await read()).rows).toEqual([{ status: 'ignored', events: 4 }])
  await record(journal, projectId, [{ group: 2 }, { group: 2 }], { isMoreWaiting: false })
  expect((await read()).rows).toEqual([{ status: 'unresolved', events: 6 }])
})

test('a group that is deleted between append and fold is skipped; its fingerprint makes a new issue', async () => {
  const [journal, projectId] = [aJournal(), await aProject()]
  await record(journal, projectId, [{ group: 1 }, { group: 2 }])
  await record(journal, projectId, [{ group: 1 }, { group: 2 }])
  await app.tx(async (tx) => {
    await changeRelation(tx, projectId)
    await tx.query('delete from issues where project_id = $1 and number = 1', [projectId])
  })
  await record(journal, projectId, [{ group: 1 }, { group: 2 }], { isMoreWaiting: false })
  const { rows } = await app.db.query(
    'select number, event_count::int as events from issues where project_id = $1 order by number',
    [projectId],
  )
  expect(rows).toEqual([
    { number: 2, events: 3 },
    { number: 3, events: 1 },
  ])
})

test('folds of different projects run side by side, folds of one project one after the other', async () => {
  const [one, two] = [await aProject(), await aProject()]
  await record(aJournal(), one, [{ group: 1 }], { isMoreWaiting: false })
  let later: Promise<unknown> = Promise.resolve()
  await app.tx(async (tx) => {
    await lockRelation(tx, [one])
    await record(aJournal(), two, [{ group: 1 }], { isMoreWaiting: false })
    expect(await counts(two)).toMatchObject([{ events: 1 }])
    later = record(aJournal(), one, [{ group: 1 }], { isMoreWaiting: false })
    await waitFor('the fold of the same project to wait', async () => {
      const { rowCount } = await app.db.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ~* 'issue_generations'`,
      )
      return rowCount === 1
    })
  })
  await later
  expect(await counts(one)).toMatchObject([{ events: 2 }])
  await expectRecount(one)
})

test('sums that the database refuses stop neither the shard nor other sums', async () => {
  const [journal, projectId] = [aJournal(), await aProject()]
  await record(journal, projectId, [{ group: 1 }, { group: 2 }])
  await record(journal, projectId, [{ group: 1 }, { group: 2 }])
  await record(journal, projectId, [{ group: 3 }])
  await record(journal, projectId, [{ group: 3 }])
  await app.db.query(
    `update issue_journal set body = replace(body, '"manyUsers"', '"formerName"') where body like '%"E3"%'`,
  )
  const broken = `update issue_journal set body = replace(body, '"title":"E1', '"title":"\\u0000E1')`
  await app.db.query(broken)
  journal.reset()
  await foldJournal(app, journal, { ...REFUSALS, isRefusal: () => true })
  expect(dropped).toEqual([null, 'E1'])
  expect(await counts(projectId)).toMatchObject([{ events: 1 }, { events: 2 }, { events: 1 }])
})

test('a security event that brings an issue back fires when the fold has decided so', async () => {
  const projectId = await aProject()
  await app.db.query(
    `insert into alert_rules (id, org_id, project_id, name, trigger_type, conditions, enabled, cooldown_minutes, close_with_issue, created_at, updated_at)
     values ($1, $2, $3, 'Rooted', 'security_event', '{}', true, 0, true, now(), now())`,
    [newId(), actor.orgId, projectId],
  )
  const journal = aJournal()
  await record(journal, projectId, [{ group: 1 }, { group: 2 }], { isMoreWaiting: false })
  const [back, ignored] = await shownIn(projectId)
  await updateIssue(app, actor, { issueId: back?.id ?? '', status: 'resolved' })
  await updateIssue(app, actor, { issueId: ignored?.id ?? '', status: 'ignored' })
  clock.advance(1)
  await record(journal, projectId, [
    { group: 1, isRooted: true },
    { group: 2, isRooted: true },
  ])
  await record(journal, projectId, [{ group: 1, isRooted: true }])
  const fired = async () =>
    (
      await app.db.query<{ issue_id: string; explanation: string }>(
        'select issue_id, explanation from fired_alerts where project_id = $1',
        [projectId],
      )
    ).rows
  expect(await fired()).toEqual([])
  await foldJournal(app, journal, REFUSALS)
  const alerts = await fired()
  expect(alerts.map(({ issue_id: id }) => id)).toEqual([back?.id])
  expect(alerts[0]?.explanation).toContain('Regressed: event')
})

test(
  'random histories of batches, folds, rollbacks, restarts, merging and two projects equal a recount',
  async () => {
    const Step = fc.record({
      project: fc.nat(1),
      sent: fc.array(
        fc.record({
          group: fc.nat(3),
          user: fc.nat(4),
          hoursAgo: fc.nat(9).map((quarters) => quarters / 4),
          isFatal: fc.boolean(),
        }),
        {
          minLength: 1,
          maxLength: 6,
        },
      ),
      isMoreWaiting: fc.boolean(),
      fails: fc.boolean(),
      next: fc.constantFrom('nothing', 'restart', 'fold', 'wait', 'forget', 'merge', 'unmerge', 'delete'),
      issues: fc.tuple(fc.nat(3), fc.nat(3)),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(Step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const shard = 1_000 + shards++
        const before = await journalRows()
        let journal = new ShardJournal(() => [shard], clock)
        const projects = [await aProject(), await aProject()]
        for (const { project, sent, isMoreWaiting, fails, next, issues } of steps) {
          const projectId = projects[project] ?? ''
          await record(journal, projectId, sent, { isMoreWaiting, fails }).catch((error: unknown) => {
            if (!fails) throw error
          })
          if (next === 'restart') journal = new ShardJournal(() => [shard], clock)
          else if (next === 'fold') await foldJournal(app, journal, REFUSALS)
          else if (next === 'wait') clock.advance(FOLD_INTERVAL_MS)
          else if (next === 'forget') journal.reset()
          else if (next !== 'nothing') await change(projectId, next, issues)
        }
        await foldJournal(app, new ShardJournal(() => [shard], clock), REFUSALS)
        for (const projectId of projects) {
          await expectUnions(projectId)
          await unmergeAll(projectId)
          await expectRecount(projectId)
          await expectSlots(projectId)
        }
        expect(await journalRows()).toBe(before)
      }),
      { numRuns: cases(25, 500) },
    )
  },
  PROPERTY_TIMEOUT_MS,
)
