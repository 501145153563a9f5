import { expect, test } from 'vitest'
import { aPerson } from '#test/kit/members.ts'
import { anOccurrence } from '#test/kit/occurrence.ts'
import { testApp } from '#test/kit/test-app.ts'
import { DIGESTION, factContext } from '../../platform/context/actor.ts'
import { RECEIVED_DAY_TABLES } from '../../ingest/digest/digest.ts'
import { createProjectFactsReader } from '../../ingest/digest/project-facts.ts'
import { discardIssue } from '../merging/discard-issue.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { readIntake } from '../../ingest/outcomes/read-intake.ts'
import { createProject } from '../../service/project-settings/create-project.ts'
import { updateProjectSettings } from '../../service/project-settings/update-project-settings.ts'
import { ensureDayPartitions } from '../../platform/storage/day-partitions.ts'
import { recordEvents, OVERFLOW_TITLE } from './record-events.ts'

const { app, clock, onClose } = await testApp()
const { actor } = await aPerson(app)
const facts = createProjectFactsReader(app)
onClose(() => Promise.resolve(facts.close()))
await ensureDayPartitions(app.db, RECEIVED_DAY_TABLES, utcDay(clock.now()))

async function aProject(perHour: number, perDay: number): Promise<string> {
  const { id } = await createProject(app, actor, { name: `P ${newId()}`, platform: 'web', region: 'eu-central-1' })
  await updateProjectSettings(app, actor, id, { new_issues_per_hour: perHour, new_issues_per_day: perDay })
  return id
}

/** Records events of these kinds; each kind has its own fingerprint. */
async function record(projectId: string, ...kinds: readonly string[]): Promise<readonly string[]> {
  const occurrences = await Promise.all(
    kinds.map((kind) =>
      anOccurrence(facts, projectId, { exception: { values: [{ type: kind, value: 'x' }] } }, clock.now()),
    ),
  )
  const context = { projectId, keyId: newId(), receivedAt: clock.now(), orgId: actor.orgId }
  const outcomes = await app.tx((tx) =>
    recordEvents(
      tx,
      factContext(app, DIGESTION),
      occurrences.map((fact) => ({ fact, context })),
    ),
  )
  return outcomes.map(({ outcome }) => outcome)
}

/** Events by title of their issue. */
async function issues(projectId: string): Promise<Record<string, number>> {
  const { rows } = await app.db.query<{ title: string; events: number }>(
    `select title, event_count::int as events from issues where project_id = $1 order by number`,
    [projectId],
  )
  return Object.fromEntries(rows.map(({ title, events }) => [title, events]))
}

const used = async (projectId: string) => (await readIntake(app, actor, projectId, '24h')).limits.new_issues

test('beyond the budget of an hour, events of unknown kinds are collected in one issue and counted there', async () => {
  const projectId = await aProject(2, 100)
  expect(await record(projectId, 'A', 'B', 'C', 'C', 'D')).toEqual(Array(5).fill('accepted'))
  expect(await issues(projectId)).toEqual({ 'A: x': 1, 'B: x': 1, [OVERFLOW_TITLE]: 3 })
  // Known kinds are counted as always.
  await record(projectId, 'A', 'E')
  expect(await issues(projectId)).toEqual({ 'A: x': 2, 'B: x': 1, [OVERFLOW_TITLE]: 4 })
  expect(await used(projectId)).toEqual({ per_hour: 2, used_this_hour: 2, per_day: 100, used_today: 2 })

  // With budget again, a kind gets its issue at its next event; what was collected stays.
  clock.advance(3_600_000)
  await record(projectId, 'C')
  expect(await issues(projectId)).toEqual({ 'A: x': 2, 'B: x': 1, [OVERFLOW_TITLE]: 4, 'C: x': 1 })
  expect(await used(projectId)).toMatchObject({ used_this_hour: 1, used_today: 3 })
  const { rows } = await app.db.query<{ stored: number; numbers: number[] }>(
    `select (select count(*)::int from events where project_id = $1) as stored,
       (select array_agg(number order by number) from issues where project_id = $1) as numbers`,
    [projectId],
  )
  expect(rows).toEqual([{ stored: 8, numbers: [1, 2, 3, 4] }])
})

test('the budget of a day', async () => {
  const projectId = await aProject(0, 3)
  await record(projectId, 'A', 'B')
  clock.advance(3_600_000)
  await record(projectId, 'C', 'D')
  expect(Object.keys(await issues(projectId))).toEqual(['A: x', 'B: x', 'C: x', OVERFLOW_TITLE])
  clock.advance(24 * 3_600_000)
  await ensureDayPartitions(app.db, RECEIVED_DAY_TABLES, utcDay(clock.now()))
  await record(projectId, 'D')
  expect(Object.keys(await issues(projectId))).toContain('D: x')
})

test('no budget, and one project does not use that of another', async () => {
  const [unlimited, other] = [await aProject(0, 0), await aProject(1, 1)]
  await record(unlimited, ...Array.from({ length: 30 }, (_, n) => `K${String.fromCharCode(97 + n)}q`))
  expect(Object.keys(await issues(unlimited))).toHaveLength(30)
  await record(other, 'A')
  expect(await issues(other)).toEqual({ 'A: x': 1 })
})

test('a discarded collection counts its events as discarded', async () => {
  const projectId = await aProject(1, 0)
  await record(projectId, 'A', 'B')
  const { rows } = await app.db.query<{ id: string }>('select id from issues where project_id = $1 and title = $2', [
    projectId,
    OVERFLOW_TITLE,
  ])
  await discardIssue(app, actor, rows[0]?.id ?? '')
  expect(await record(projectId, 'A', 'C')).toEqual(['accepted', 'discarded'])
  expect(await issues(projectId)).toEqual({ 'A: x': 2 })
})
