import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newId } from '../../platform/kernel/ids.ts'
import { aPerson } from '#test/kit/members.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testApp } from '#test/kit/test-app.ts'
import { type CountWindow, parseChartWindow, SLOT_MS } from '../rules/count-window.ts'
import { selectUsersIn } from '../rows/counts.queries.ts'
import { addUsers, deleteUserSlotsBefore, type SeenUser } from './fold.queries.ts'

/** Users of a time, which are sums of slots, equal those of a slow recount that knows every slot of every user. */

const { app } = await testApp()
const { actor } = await aPerson(app)
const START = Math.floor(Date.parse('2026-08-01T00:00Z') / SLOT_MS)
const DAY = 96

async function aProject(): Promise<string> {
  const id = newId()
  await app.db.query(
    `insert into projects (id, org_id, name, slug, platform, region, settings, created_at) values ($1, $2, 'P', $3, 'web', 'eu-central-1', '{}', now())`,
    [id, actor.orgId, `p${id}`],
  )
  return id
}

const fold = (seen: readonly SeenUser[], startOfToday = 0) =>
  app.tx((tx) => addUsers(tx, seen, startOfToday, [...new Set(seen.map(({ groupId }) => groupId))]))

/** The slots of a user, as a fold counts them. */
const chained = (groupId: string, userHash: number, slots: readonly number[]): SeenUser[] =>
  [...new Set(slots)]
    .toSorted((a, b) => a - b)
    .map((slot, index, all) => ({
      groupId,
      userHash,
      slot,
      previous: all[index - 1] ?? null,
      isLast: index === all.length - 1,
    }))

/** All slots of users that counted: a slot up to the last known one of a user adds nothing. */
class Model {
  readonly #slots = new Map<string, number[]>()

  fold(seen: readonly SeenUser[]): void {
    for (const { groupId, userHash, slot } of seen) {
      const key = `${groupId} ${userHash}`
      const slots = this.#slots.get(key) ?? []
      if (slot > (slots.at(-1) ?? -1)) slots.push(slot)
      this.#slots.set(key, slots)
    }
  }

  usersOf(groupId: string, { from, to }: CountWindow): number {
    const isIn = (slot: number) => slot * SLOT_MS >= from && slot * SLOT_MS < to
    return [...this.#slots].filter(([key, slots]) => key.startsWith(groupId) && slots.some(isIn)).length
  }

  everySlot(): readonly number[] {
    return [...this.#slots.values()].flat()
  }
}

const iso = (slot: number): string => new Date(slot * SLOT_MS).toISOString()

test('users of any time equal a recount, after random folds with several slots, gaps of months and late events', async () => {
  // Short and long distances, at the limits of precision too.
  const Distance = fc.oneof(
    fc.nat(6),
    fc.nat(110),
    fc.nat(8 * DAY),
    fc.nat(100 * DAY),
    fc.constantFrom(100, 101, 680, 681),
  )
  const Seen = fc.record({
    group: fc.nat(1),
    user: fc.nat(3),
    steps: fc.array(Distance, { minLength: 1, maxLength: 3 }),
  })
  const Fold = fc.record({ advance: Distance, late: fc.nat(300), seen: fc.array(Seen, { minLength: 1, maxLength: 6 }) })
  const Asked = fc.record({ end: fc.nat(200 * DAY), length: fc.oneof(fc.nat(DAY), fc.nat(8 * DAY), fc.nat(90 * DAY)) })
  const projectId = await aProject()
  await fc.assert(
    fc.asyncProperty(
      fc.array(Fold, { minLength: 1, maxLength: 10 }),
      fc.array(Asked, { minLength: 4, maxLength: 12 }),
      async (folds, asked) => {
        const groups = await seedIssues(app, projectId, 2)
        const model = new Model()
        let at = START
        for (const { advance, late, seen } of folds) {
          at += advance
          const users = new Map<string, SeenUser[]>()
          for (const { group, user, steps } of seen) {
            let slot = at - late
            const slots = steps.map((step) => (slot += step))
            users.set(`${group} ${user}`, chained(groups[group] ?? '', user, slots))
          }
          const rows = [...users.values()].flat()
          const { rows: before } = await app.db.query<{ group_id: string; n: number }>(
            'select group_id, count(*)::int as n from issue_users where group_id = any($1::uuid[]) group by 1',
            [groups],
          )
          const counted = await fold(rows)
          model.fold(rows)
          for (const id of groups) {
            const { rows: after } = await app.db.query<{ n: number }>(
              'select count(*)::int as n from issue_users where group_id = $1',
              [id],
            )
            const added = counted.find(({ groupId }) => groupId === id)?.added ?? 0
            expect(added).toBe((after[0]?.n ?? 0) - (before.find((row) => row.group_id === id)?.n ?? 0))
          }
        }
        const known = model.everySlot()
        const windows = asked.flatMap(({ end, length }, index) => {
          // Half of the windows begin at a slot in which a user was seen.
          const to = index % 2 === 0 ? START + end + 1 : (known[end % known.length] ?? START) + length + 1
          const window = parseChartWindow({ from: iso(to - length - 1), to: iso(to) }, new Date())
          return window === null ? [] : [window]
        })
        for (const window of windows) {
          const users = await selectUsersIn(app.db, groups, window)
          for (const id of groups) expect(users.get(id) ?? 0, JSON.stringify(window)).toBe(model.usersOf(id, window))
        }
      },
    ),
    { numRuns: 30 },
  )
})

test('users of today are counted once a day, those seen before or late are not', async () => {
  const [groupId = ''] = await seedIssues(app, await aProject(), 1)
  const today = START - 100 * DAY
  const of = async (seen: readonly SeenUser[]) => {
    const [counted] = await fold(seen, today)
    return [counted?.added ?? 0, counted?.today ?? 0, counted?.addedHashes ?? [], counted?.todayHashes ?? []]
  }
  expect(await of(chained(groupId, 1, [today - 3, today + 2, today + 5]))).toEqual([1, 1, [1], [1]])
  expect(await of(chained(groupId, 1, [today + 5, today + 9]))).toEqual([0, 0, [], []])
  expect(await of(chained(groupId, 2, [today - 1]))).toEqual([1, 0, [2], []])
  expect(await of(chained(groupId, 2, [today - 2]))).toEqual([0, 0, [], []])
  expect(await of(chained(groupId, 2, [today]))).toEqual([0, 1, [], [2]])
  const { rows } = await app.db.query(
    'select slot::int, before_slot::int, users from issue_user_slots where group_id = $1 order by 1, 2',
    [groupId],
  )
  expect(rows).toEqual([
    { slot: today - 3, before_slot: 0, users: 1 },
    { slot: today - 1, before_slot: 0, users: 1 },
    { slot: today, before_slot: today - 1, users: 1 },
    { slot: today + 2, before_slot: today - 3, users: 1 },
    { slot: today + 5, before_slot: today + 2, users: 1 },
    { slot: today + 9, before_slot: today + 5, users: 1 },
  ])
  expect(await deleteUserSlotsBefore(app.db, new Date((today + 1) * SLOT_MS), 2)).toBe(2)
  expect(await deleteUserSlotsBefore(app.db, new Date((today + 1) * SLOT_MS), 2)).toBe(1)
})
