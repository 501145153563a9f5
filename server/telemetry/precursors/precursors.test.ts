import { describe, expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import type { PrecursorReport, Sign } from './precursor.ts'
import { countOwners, deleteOwners } from './precursors.queries.ts'
import { purgeRows } from '../../platform/jobs/purge.ts'
import { recordPrecursors, AGING_PRECURSORS } from './record-precursors.ts'

const { app, clock } = await testApp()
const NOW = clock.now()
const MB = 1_048_576
const ago = (minutes: number): number => NOW.getTime() - minutes * 60_000

const report = (
  projectId: string,
  owner: number,
  signs: readonly (readonly [Sign, number])[],
  memory: readonly (readonly [number, number])[] = [],
): PrecursorReport => ({
  projectId,
  owner,
  signs: signs.map(([sign, minutes]) => ({ sign, atMs: ago(minutes) })),
  memory: memory.map(([minutes, mb]) => ({ atMs: ago(minutes), bytes: mb * MB })),
})
const record = (...reports: PrecursorReport[]): Promise<void> => app.tx((tx) => recordPrecursors(tx, reports))
const counted = async (projectId: string, windowMinutes = 15) => {
  const [found] = await countOwners(app.db, [projectId], [NOW], windowMinutes)
  return found === undefined ? null : { owners: found.owners, ...found.bySign }
}

describe('owners with precursors', () => {
  test('are counted once each, with each of their precursors', async () => {
    const projectId = newId()
    await record(
      report(projectId, 1, [
        ['low_memory', 3],
        ['low_memory', 5],
        ['thermal_critical', 4],
      ]),
      report(projectId, 2, [['low_memory', 1]]),
    )
    expect(await counted(projectId)).toEqual({ owners: 2, low_memory: 2, thermal_critical: 1 })
  })

  test('of other projects and times do not count', async () => {
    const projectId = newId()
    await record(report(projectId, 1, [['low_memory', 16]]), report(newId(), 2, [['low_memory', 1]]))
    expect(await counted(projectId)).toBeNull()
    expect(await counted(projectId, 17)).toEqual({ owners: 1, low_memory: 1 })
  })

  test('count by what came before their crash, in whatever order it arrives', async () => {
    const projectId = newId()
    await record(report(projectId, 1, [['crash', 8]]), report(projectId, 2, [['crash', 8]]))
    await record(
      report(projectId, 1, [['app_hang', 9]]),
      report(projectId, 2, [['app_hang', 7]]),
      // The state of the device when it crashed.
      report(projectId, 3, [
        ['crash', 2],
        ['thermal_serious', 2],
      ]),
    )
    expect(await counted(projectId)).toEqual({ owners: 2, app_hang: 1, thermal_serious: 1 })
  })

  test('several projects and windows in one question', async () => {
    const [one, two] = [newId(), newId()]
    await record(report(one, 1, [['low_memory', 3]]), report(two, 1, [['low_memory', 20]]))
    const ends = [NOW, new Date(ago(18))]
    const found = await countOwners(app.db, [one, two], ends, 15)
    expect(new Set(found.map(({ projectId, end }) => `${projectId} ${end.getTime()}`))).toEqual(
      new Set([`${one} ${NOW.getTime()}`, `${two} ${ago(18)}`]),
    )
  })
})

test('memory that grows over several reports is a precursor, a repeated report is not', async () => {
  const projectId = newId()
  const first = report(projectId, 1, [], [[8, 100]])
  const second = report(projectId, 1, [], [[3, 260]])
  await record(first)
  await record(second)
  await record(first, second)
  expect(await counted(projectId)).toEqual({ owners: 1, memory_growth: 1 })
  expect((await app.db.query('select 1 from precursors where project_id = $1', [projectId])).rows).toHaveLength(1)
})

test('reports of one batch are read in the order of their times', async () => {
  const projectId = newId()
  await record(report(projectId, 1, [], [[3, 260]]), report(projectId, 1, [], [[8, 100]]))
  expect(await counted(projectId)).toEqual({ owners: 1, memory_growth: 1 })
})

test('a user is erased, old rows are purged', async () => {
  const projectId = newId()
  await record(report(projectId, 1, [['low_memory', 3]], [[3, 100]]), report(projectId, 2, [['low_memory', 3]]))
  await deleteOwners(app.db, projectId, [1])
  expect(await counted(projectId)).toEqual({ owners: 1, low_memory: 1 })
  expect((await app.db.query('select 1 from memory_levels where project_id = $1', [projectId])).rows).toEqual([])
  await record(report(projectId, 3, [['low_memory', 8 * 1_440 + 1]]))
  expect(await purgeRows(app, AGING_PRECURSORS)).toMatchObject({ precursors: 1 })
  expect(await counted(projectId)).toEqual({ owners: 1, low_memory: 1 })
})
