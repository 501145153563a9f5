import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import type { App } from '#server/platform/context/app.ts'
import { utcDay } from '#server/platform/kernel/day.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import { buildSumRefusals, RECEIVED_DAY_TABLES } from '#server/ingest/digest/digest.ts'
import { createProjectFactsReader, type ProjectFactsReader } from '#server/ingest/digest/project-facts.ts'
import { discardIssue } from '#server/issues/merging/discard-issue.ts'
import { mergeIssues } from '#server/issues/merging/merge-issues.ts'
import type { Occurrence } from '#server/issues/recording/occurrence.ts'
import { type Counting, FOLD_AT_ONCE, foldJournal, ShardJournal } from '#server/issues/recording/journal.ts'
import { DIGESTION, factContext } from '#server/platform/context/actor.ts'
import { recordEvents } from '#server/issues/recording/record-events.ts'
import { unmergeIssues } from '#server/issues/merging/unmerge-issues.ts'
import { ensureDayPartitions } from '#server/platform/storage/day-partitions.ts'
import { aPerson, type Person } from '#test/kit/members.ts'
import { anOccurrence } from '#test/kit/occurrence.ts'
import { testApp } from '#test/kit/test-app.ts'

/**
 * Tests merging against a model that never merges: it keeps the events of every fingerprint and adds up those shown
 * together. After merges, unmerges and further events the rows must equal the model.
 */

const t = await testApp()
const { app, clock } = t
const HOUR_MS = 3_600_000
let facts: ProjectFactsReader
let owner: Person

beforeAll(async () => {
  facts = createProjectFactsReader(app)
  t.onClose(() => Promise.resolve(facts.close()))
  owner = await aPerson(app)
  await ensureDayPartitions(app.db, RECEIVED_DAY_TABLES, utcDay(clock.now()))
})

async function aProject(): Promise<string> {
  const id = newId()
  await app.db.query(
    `insert into projects (id, org_id, name, slug, platform, region, settings, created_at) values ($1, $2, 'P', $3, 'web', 'eu-central-1', '{}', now())`,
    [id, owner.actor.orgId, `p${id}`],
  )
  return id
}

/** Times differ by a second, so that one event is always the newest. */
type Sent = { readonly group: number; readonly user: number; readonly at: number; readonly fatal: boolean }

function occurrence(projectId: string, { group, user, at, fatal }: Sent): Promise<Occurrence> {
  const event = {
    fingerprint: [`group ${group}`],
    timestamp: at / 1000,
    release: `shop@1.0.${at % 7}`,
    level: fatal ? 'fatal' : 'error',
    user: { id: `user${user}` },
    exception: { values: [{ type: `E${group}`, value: `at ${at}`, mechanism: { type: 'x', handled: !fatal } }] },
  }
  return anOccurrence(facts, projectId, event, clock.now())
}

async function record(projectId: string, sent: readonly Sent[], counting: Counting = FOLD_AT_ONCE): Promise<void> {
  const context = { projectId, orgId: owner.actor.orgId, keyId: newId(), receivedAt: clock.now() }
  const facts = await Promise.all(sent.map(async (one) => ({ fact: await occurrence(projectId, one), context })))
  await app.tx((tx) => recordEvents(tx, factContext(app, DIGESTION), facts, counting))
}

type Row = {
  id: string
  merged_into: string | null
  merged_count: number
  title: string
  error_value: string | null
  event_count: number
  user_count: number
  first_seen: Date
  last_seen: Date
  first_release: string | null
  last_release: string | null
  is_unhandled: boolean
  hours: Record<string, number> | null
  users: number
  stored: number
  /** The issue that shows its group. */
  shown_by: string
  group_events: number
  group_users: number
  group_stored: number
  group_user_rows: number
}

async function rowsOf(projectId: string): Promise<Row[]> {
  const { rows } = await app.db.query<Row>(
    `select i.id, i.merged_into, i.merged_count, i.title, i.error_value, i.event_count, i.user_count, i.first_seen, i.last_seen,
       i.first_release, i.last_release, i.is_unhandled,
       (select json_object_agg(hour, events) from (
          select extract(epoch from h.hour)::bigint as hour, sum(h.events)::int as events
          from issue_groups m join issue_hours h on h.group_id = m.id where m.issue_id = i.id group by 1) h) as hours,
       (select count(distinct u.user_hash)::int from issue_groups m join issue_users u on u.group_id = m.id where m.issue_id = i.id) as users,
       (select count(*)::int from issue_groups m join events e on e.issue_id = m.id where m.issue_id = i.id) as stored,
       g.issue_id as shown_by, g.event_count as group_events, g.user_count as group_users,
       (select count(*)::int from events e where e.issue_id = g.id) as group_stored,
       (select count(*)::int from issue_users u where u.group_id = g.id) as group_user_rows
     from issues i join issue_groups g on g.id = i.id where i.project_id = $1 order by i.number`,
    [projectId],
  )
  return rows
}

type GroupOfRow = Pick<Row, 'group_events' | 'group_users' | 'group_stored' | 'group_user_rows'>

/** The counts of a group with these events. */
function groupOf(events: readonly Sent[]): GroupOfRow {
  const users = new Set(events.map(({ user }) => user)).size
  return { group_events: events.length, group_users: users, group_stored: events.length, group_user_rows: users }
}

/** The figures of an issue with these events: all of them together, named after the newest of its own. */
function saidOf(
  events: readonly Sent[],
  own: number,
): Omit<Row, 'id' | 'merged_into' | 'merged_count' | 'shown_by' | keyof GroupOfRow> {
  const byTime = events.toSorted((a, b) => a.at - b.at)
  const [oldest, newest] = [byTime[0], byTime.at(-1)]
  const naming = byTime.findLast((one) => one.group === own)
  if (oldest === undefined || newest === undefined || naming === undefined) throw new Error('an issue without events')
  const hours: Record<string, number> = {}
  for (const { at } of events) {
    const hour = (Math.floor(at / HOUR_MS) * HOUR_MS) / 1000
    hours[hour] = (hours[hour] ?? 0) + 1
  }
  const users = new Set(events.map(({ user }) => user)).size
  return {
    title: `E${own}: at ${naming.at}`,
    error_value: `at ${naming.at}`,
    event_count: events.length,
    user_count: users,
    first_seen: new Date(oldest.at),
    last_seen: new Date(newest.at),
    first_release: expect.any(String) as string,
    last_release: `shop@1.0.${newest.at % 7}`,
    is_unhandled: events.some(({ fatal }) => fatal),
    hours,
    users,
    stored: events.length,
  }
}

const GROUPS = 5
const group = fc.nat({ max: GROUPS - 1 })
type Op =
  | { kind: 'send'; events: { group: number; user: number; hour: number; fatal: boolean }[] }
  | { kind: 'merge'; into: number; others: number[] }
  | { kind: 'unmerge'; from: number; others: number[] }
const op: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      events: fc.array(fc.record({ group, user: fc.nat({ max: 5 }), hour: fc.nat({ max: 40 }), fatal: fc.boolean() }), {
        minLength: 1,
        maxLength: 12,
      }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('merge' as const),
      into: group,
      others: fc.uniqueArray(group, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('unmerge' as const),
      from: group,
      others: fc.uniqueArray(group, { minLength: 1, maxLength: 3 }),
    }),
  },
)

test('after merges, unmerges and further events every issue matches its events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(op, { minLength: 3, maxLength: 14 }), async (ops) => {
      const projectId = await aProject()
      const start = clock.now().getTime() - 60 * HOUR_MS
      let tick = 0
      const sent: Sent[] = []
      const send = async (events: (Omit<Sent, 'at'> & { hour: number })[]): Promise<void> => {
        const made = events.map(({ hour, ...one }) => ({ ...one, at: start + hour * HOUR_MS + ++tick * 1000 }))
        sent.push(...made)
        await record(projectId, made)
      }
      await send(Array.from({ length: GROUPS }, (_, index) => ({ group: index, user: index, hour: 0, fatal: false })))
      const ids = (await rowsOf(projectId)).map(({ id }) => id)
      const idOf = (index: number): string => ids[index] ?? ''
      /** The issue that shows each one, and the issue it was merged into by hand. */
      const shownAt = ids.map((_, index) => index)
      const parent: (number | null)[] = ids.map(() => null)
      const check = async (): Promise<void> => {
        for (const [index, row] of (await rowsOf(projectId)).entries()) {
          const into = parent[index] ?? null
          expect(row.merged_into).toBe(into === null ? null : idOf(into))
          expect(row.shown_by).toBe(idOf(shownAt[index] ?? -1))
          expect(row).toMatchObject(groupOf(sent.filter((one) => one.group === index)))
          if (shownAt[index] !== index) continue
          const members = shownAt.flatMap((root, member) => (root === index ? [member] : []))
          expect(row.merged_count).toBe(members.length - 1)
          expect(row).toMatchObject(
            saidOf(
              sent.filter((one) => members.includes(one.group)),
              index,
            ),
          )
        }
      }
      await check()
      for (const step of ops) {
        if (step.kind === 'send') await send(step.events)
        else {
          const target = step.kind === 'merge' ? step.into : step.from
          const input = { issueId: idOf(target), issue_ids: step.others.map(idOf) }
          const allowed =
            !step.others.includes(target) &&
            (step.kind === 'merge'
              ? shownAt[target] === target && step.others.every((one) => shownAt[one] === one)
              : step.others.every((one) => shownAt[one] === target))
          const verb = step.kind === 'merge' ? mergeIssues : unmergeIssues
          const done = await verb(app, owner.actor, input).then(
            () => true,
            (error: unknown) => {
              expect(error).toMatchObject({ code: step.others.includes(target) ? 'invalid' : 'conflict' })
              return false
            },
          )
          expect(done).toBe(allowed)
          if (allowed && step.kind === 'merge') {
            for (const one of step.others) parent[one] = target
            for (const [index, root] of shownAt.entries()) if (step.others.includes(root)) shownAt[index] = target
          } else if (allowed) {
            const before = [...parent]
            for (const index of ids.keys()) {
              if (shownAt[index] !== target) continue
              let at: number | null = index
              while (at !== null && !step.others.includes(at)) at = before[at] ?? null
              if (at !== null) shownAt[index] = at
            }
            for (const one of step.others) parent[one] = null
          }
        }
        await check()
      }
      // All are unmerged again: as if nothing had been merged.
      for (let again = true; again;) {
        again = false
        for (const root of ids.keys()) {
          const members = shownAt.flatMap((at, member) => (at === root && member !== root ? [member] : []))
          if (members.length === 0) continue
          await unmergeIssues(app, owner.actor, { issueId: idOf(root), issue_ids: members.map(idOf) })
          for (const member of members) {
            shownAt[member] = member
            parent[member] = null
          }
          again = true
        }
      }
      await check()
      const left = await app.db.query(
        `select (select count(*)::int from issue_groups g join issues i on i.id = g.id
             where i.project_id = $1 and (g.issue_id <> g.id or coalesce(g.merged_at::text, g.users_day::text, g.high_impact_day::text) is not null)) as merged,
           (select count(*)::int from issue_hours h left join issue_groups g on g.id = h.group_id where g.id is null) as hours,
           (select count(*)::int from issue_users u left join issue_groups g on g.id = u.group_id where g.id is null) as users,
           (select count(*)::int from issue_user_slots s left join issue_groups g on g.id = s.group_id where g.id is null) as slots`,
        [projectId],
      )
      expect(left.rows[0]).toEqual({ merged: 0, hours: 0, users: 0, slots: 0 })
    }),
    { numRuns: 40 },
  )
}, 120_000)

/** Everything stored of issues, except the activity of the merges. */
async function allRows(projectId: string): Promise<Record<string, unknown>> {
  const tables = {
    // Limits of an hour are computed again on demand.
    issues: `select to_jsonb(t) - 'hourly_limit' - 'limit_hour' as row from issues t where t.project_id = $1 order by t.id`,
    hours: 'select t.* from issue_hours t join issues i on i.id = t.group_id where i.project_id = $1 order by 1, 2',
    users: 'select t.* from issue_users t join issues i on i.id = t.group_id where i.project_id = $1 order by 1, 2',
    slots:
      'select t.* from issue_user_slots t join issues i on i.id = t.group_id where i.project_id = $1 order by 1, 2, 3',
    fingerprints: 'select t.* from issue_fingerprints t where t.project_id = $1 order by t.hash',
    documents:
      'select t.issue_id, t.document::text, t.own_document::text from issue_search t join issues i on i.id = t.issue_id where i.project_id = $1 order by 1',
    activity: `select t.* from issue_activity t join issues i on i.id = t.issue_id
               where i.project_id = $1 and t.kind not in ('merged', 'merged_into', 'unmerged') order by t.id`,
    groups: 'select t.* from issue_groups t join issues i on i.id = t.id where i.project_id = $1 order by 1',
  }
  const found = await Promise.all(
    Object.entries(tables).map(async ([name, text]) => [name, (await app.db.query(text, [projectId])).rows] as const),
  )
  return Object.fromEntries(found)
}

test('merged and unmerged in any order, every row is as before', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ into: group, others: fc.uniqueArray(group, { minLength: 1, maxLength: 2 }) }), {
        minLength: 1,
        maxLength: 5,
      }),
      fc.array(group, { minLength: 1, maxLength: 8 }),
      fc.array(fc.record({ group, user: fc.nat({ max: 9 }), hour: fc.nat({ max: 40 }), fatal: fc.boolean() }), {
        maxLength: 30,
      }),
      async (merges, takeOuts, events) => {
        const projectId = await aProject()
        const start = clock.now().getTime() - 60 * HOUR_MS
        const first = Array.from({ length: GROUPS }, (_, index) => ({
          group: index,
          user: index,
          hour: 0,
          fatal: false,
        }))
        await record(
          projectId,
          [...first, ...events].map(({ hour, ...one }, tick) => ({ ...one, at: start + hour * HOUR_MS + tick * 1000 })),
        )
        const ids = (await rowsOf(projectId)).map(({ id }) => id)
        // Members' changes make them differ too.
        await app.db.query(
          `update issues set status = 'ignored', status_reason = 'x', severity_pinned = true, severity = 1 where id = $1`,
          [ids[0]],
        )
        await app.db.query(
          `update issues set status = 'resolved', resolved_at = now(), resolution = $2 where id = $1`,
          [ids[1], JSON.stringify({ kind: 'now', automatic: false, late: null })],
        )
        const before = await allRows(projectId)
        const rootOf = async (id: string): Promise<string | null> =>
          (
            await app.db.query<{ at: string }>(
              'select issue_id as at from issue_groups where id = $1 and issue_id <> id',
              [id],
            )
          ).rows[0]?.at ?? null
        for (const { into, others } of merges)
          await mergeIssues(app, owner.actor, {
            issueId: ids[into] ?? '',
            issue_ids: others.map((one) => ids[one] ?? ''),
          }).catch(() => undefined)
        for (const one of [...takeOuts, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4]) {
          const id = ids[one] ?? ''
          const root = await rootOf(id)
          if (root !== null) await unmergeIssues(app, owner.actor, { issueId: root, issue_ids: [id] })
        }
        expect(await allRows(projectId)).toEqual(before)
      },
    ),
    { numRuns: 25 },
  )
}, 120_000)

describe('at once', () => {
  test('events arrive while issues are merged and unmerged: none is counted twice or lost', async () => {
    const projectId = await aProject()
    const at = clock.now().getTime() - HOUR_MS
    let tick = 0
    const sent: Sent[] = []
    const batch = (): Sent[] =>
      Array.from({ length: 10 }, (_, index) => ({
        group: index % 3,
        user: (tick + index) % 17,
        at: at + ++tick * 1000,
        fatal: false,
      }))
    const begin = batch()
    sent.push(...begin)
    await record(projectId, begin)
    const [a = '', b = '', c = ''] = (await rowsOf(projectId)).map(({ id }) => id)
    let sending = true
    const merging = (async () => {
      let rounds = 0
      while (sending) {
        const into = rounds++ % 2 === 0 ? a : b
        const other = into === a ? b : a
        await mergeIssues(app, owner.actor, { issueId: into, issue_ids: [other, c] })
        await unmergeIssues(app, owner.actor, { issueId: into, issue_ids: [other, c] })
      }
      return rounds
    })()
    // Two workers append to a journal and fold later, the third counts at once.
    await Promise.all(
      Array.from({ length: 3 }, async (_, shard) => {
        const journal = new ShardJournal(() => [100 + shard], clock)
        for (let round = 0; round < 15; round++) {
          const made = batch()
          sent.push(...made)
          const step = shard === 2 ? undefined : journal.begin(round % 4 !== 3)
          await record(projectId, made, step)
          step?.committed()
        }
        await foldJournal(app, journal, buildSumRefusals(app))
      }),
    )
    sending = false
    expect(await merging).toBeGreaterThan(2)
    for (const [index, row] of (await rowsOf(projectId)).entries()) {
      expect(row.merged_into).toBeNull()
      const own = sent.filter((one) => one.group === index)
      expect(row).toMatchObject({ ...saidOf(own, index), ...groupOf(own) })
    }
  }, 60_000)

  test('events that are not counted yet when their issue is merged or unmerged count for the issue that shows them', async () => {
    const projectId = await aProject()
    const at = clock.now().getTime() - HOUR_MS
    const [first, second, third] = [0, 1, 2].map((round) =>
      [0, 1].map((index) => ({
        group: index,
        user: round + index,
        at: at + round * 10_000 + index * 1000,
        fatal: false,
      })),
    )
    await record(projectId, first ?? [])
    const [a = '', b = ''] = (await rowsOf(projectId)).map(({ id }) => id)
    const journal = new ShardJournal(() => [200], clock)
    // The first fold of a shard is due at once.
    const append = async (sent: readonly Sent[] | undefined): Promise<void> => {
      const step = journal.begin(true)
      await record(projectId, sent ?? [], step)
      step.committed()
    }
    await append([])
    await append(second)
    await mergeIssues(app, owner.actor, { issueId: a, issue_ids: [b] })
    expect((await rowsOf(projectId))[0]).toMatchObject({ event_count: 2, stored: 4 })
    await foldJournal(app, journal, buildSumRefusals(app))
    const events = (upTo: number) => [first, second, third].slice(0, upTo).flatMap((sent) => sent ?? [])
    expect((await rowsOf(projectId))[0]).toMatchObject(saidOf(events(2), 0))
    await append(third)
    await unmergeIssues(app, owner.actor, { issueId: a, issue_ids: [b] })
    await foldJournal(app, journal, buildSumRefusals(app))
    for (const [index, row] of (await rowsOf(projectId)).entries()) {
      const own = events(3).filter((one) => one.group === index)
      expect(row).toMatchObject({ ...saidOf(own, index), ...groupOf(own) })
    }
  })

  test('three levels: an issue leaves with those merged into it, or one of these leaves directly', async () => {
    const projectId = await aProject()
    const at = clock.now().getTime() - HOUR_MS
    const sent = [0, 1, 2].map((index) => ({ group: index, user: index, at: at + index * 1000, fatal: false }))
    await record(projectId, sent)
    const [a = '', b = '', c = ''] = (await rowsOf(projectId)).map(({ id }) => id)
    const shown = async () => (await rowsOf(projectId)).map((row) => [row.shown_by, row.merged_into, row.merged_count])
    await mergeIssues(app, owner.actor, { issueId: b, issue_ids: [a] })
    await mergeIssues(app, owner.actor, { issueId: c, issue_ids: [b] })
    const merged = [
      [c, b, 0],
      [c, c, 0],
      [c, null, 2],
    ]
    expect(await shown()).toEqual(merged)
    expect((await rowsOf(projectId))[2]).toMatchObject(saidOf(sent, 2))

    await unmergeIssues(app, owner.actor, { issueId: c, issue_ids: [b] })
    expect(await shown()).toEqual([
      [b, b, 0],
      [b, null, 1],
      [c, null, 0],
    ])
    expect((await rowsOf(projectId))[1]).toMatchObject(saidOf(sent.slice(0, 2), 1))

    await mergeIssues(app, owner.actor, { issueId: c, issue_ids: [b] })
    await unmergeIssues(app, owner.actor, { issueId: c, issue_ids: [a] })
    expect(await shown()).toEqual([
      [a, null, 0],
      [c, c, 0],
      [c, null, 1],
    ])
    const rows = await rowsOf(projectId)
    expect(rows[0]).toMatchObject(saidOf(sent.slice(0, 1), 0))
    expect(rows[2]).toMatchObject(saidOf(sent.slice(1), 2))
    await mergeIssues(app, owner.actor, { issueId: b, issue_ids: [a] }).then(
      () => expect.unreachable(),
      (error: unknown) => expect(error).toMatchObject({ code: 'conflict' }),
    )
  })

  test('an issue merged into another that is being discarded is discarded with it', async () => {
    const projectId = await aProject()
    const at = clock.now().getTime() - HOUR_MS
    await record(
      projectId,
      [0, 1, 2].map((index) => ({ group: index, user: 0, at: at + index * 1000, fatal: false })),
    )
    const [a = '', b = '', c = ''] = (await rowsOf(projectId)).map(({ id }) => id)
    let transactions = 0
    const between: App = {
      ...app,
      tx: async (work) => {
        // Its fingerprints are recorded, nothing is deleted yet.
        if (++transactions === 2) await mergeIssues(app, owner.actor, { issueId: a, issue_ids: [b] })
        return app.tx(work)
      },
    }
    expect(await discardIssue(between, owner.actor, a)).toMatchObject({ event_count: 1, fingerprints: 2 })
    expect((await rowsOf(projectId)).map(({ id }) => id)).toEqual([c])
  })

  test('two concurrent merges of one issue: the second one is refused', async () => {
    const projectId = await aProject()
    const at = clock.now().getTime() - HOUR_MS
    await record(
      projectId,
      [0, 1, 2].map((index) => ({ group: index, user: 0, at: at + index * 1000, fatal: false })),
    )
    const [a = '', b = '', c = ''] = (await rowsOf(projectId)).map(({ id }) => id)
    const ends = await Promise.allSettled([
      mergeIssues(app, owner.actor, { issueId: a, issue_ids: [c] }),
      mergeIssues(app, owner.actor, { issueId: b, issue_ids: [c] }),
    ])
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const [first = ''] = (await rowsOf(projectId)).flatMap((row) => (row.id === c ? [row.shown_by] : []))
    const twice = await Promise.allSettled([
      unmergeIssues(app, owner.actor, { issueId: first, issue_ids: [c] }),
      unmergeIssues(app, owner.actor, { issueId: first, issue_ids: [c] }),
    ])
    expect(twice.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const same = await Promise.allSettled([
      mergeIssues(app, owner.actor, { issueId: a, issue_ids: [c] }),
      mergeIssues(app, owner.actor, { issueId: a, issue_ids: [c] }),
    ])
    expect(same.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const circle = await Promise.allSettled([
      mergeIssues(app, owner.actor, { issueId: a, issue_ids: [b] }),
      mergeIssues(app, owner.actor, { issueId: b, issue_ids: [a] }),
    ])
    expect(circle.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const rows = await rowsOf(projectId)
    expect(rows.filter((row) => row.merged_into === null)).toHaveLength(1)
    expect(rows.find((row) => row.merged_into === null)).toMatchObject({ event_count: 3, merged_count: 2 })
  })
})
