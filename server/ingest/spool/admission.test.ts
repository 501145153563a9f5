import { tmpdir } from 'node:os'
import { afterEach, describe, expect, test } from 'vitest'
import { readDisk, watchAdmission, type Admission, type Disk } from './admission.ts'

const GIB = 1024 ** 3
const MIB = 1024 ** 2

let watched: Admission | null = null
afterEach(() => watched?.close())

type Own = { projectNumber: number; orgId: string; entries: number; bytes: number }

function watch() {
  const backlog = { entries: 0, bytes: 0 }
  const own: Own[] = []
  const disk: { now: Disk | null } = { now: null }
  const admission = watchAdmission(
    { maxBacklogEntries: 100, maxBacklogBytes: 1_000 },
    {
      backlog: () => Promise.resolve({ rows: 0, oldestAgeMs: 0, ...backlog }),
      backlogs: () => Promise.resolve(own),
      disk: () => Promise.resolve(disk.now),
    },
  )
  watched = admission
  return { admission, backlog, own, disk }
}

describe('a backlog', () => {
  test.each(['entries', 'bytes'] as const)(
    'with too many %s refuses requests until it is a little smaller',
    async (what) => {
      const { admission, backlog } = watch()
      const max = what === 'entries' ? 100 : 1_000
      const states: string[] = []
      for (const share of [0, 0.99, 1, 0.995, 0.99, 0.98, 0.995, 1.5, 0.5]) {
        backlog[what] = max * share
        await admission.refresh()
        states.push(admission.state(null))
      }
      expect(states).toEqual(['open', 'open', 'busy', 'busy', 'busy', 'open', 'open', 'busy', 'open'])
    },
  )

  test('that cannot be read leaves the state unchanged', async () => {
    const { admission, backlog } = watch()
    await admission.refresh()
    backlog.entries = 100
    await admission.refresh()
    Object.defineProperty(backlog, 'entries', {
      get: () => {
        throw new Error('away')
      },
    })
    await admission.refresh()
    expect(admission.state(null)).toBe('busy')
  })
})

describe('the reserve of a backlog', () => {
  const owner = (projectNumber: number, orgId: string) => ({ projectNumber, orgId })

  test.each(['entries', 'bytes'] as const)(
    'is for projects and organisations under their share of %s',
    async (what) => {
      const { admission, backlog, own } = watch()
      const max = what === 'entries' ? 100 : 1_000
      const set = async (shares: readonly [number, string, number][]): Promise<void> => {
        own.length = 0
        for (const [projectNumber, orgId, share] of shares)
          own.push({ projectNumber, orgId, entries: 0, bytes: 0, [what]: max * share })
        backlog[what] = max * shares.reduce((sum, [, , share]) => sum + share, 0)
        await admission.refresh()
      }
      const states = (): string[] =>
        [owner(1, 'a'), owner(2, 'a'), owner(3, 'b'), owner(4, 'c')].map((one) => admission.state(one))
      // Below the reserve nothing is refused.
      await set([[1, 'a', 0.79]])
      expect(states()).toEqual(['open', 'open', 'open', 'open'])
      // A project over its share takes its organisation along when that is over its own.
      await set([[1, 'a', 0.8]])
      expect(states()).toEqual(['busy', 'busy', 'open', 'open'])
      await set([
        [1, 'a', 0.3],
        [2, 'a', 0.1],
        [3, 'b', 0.24],
        [4, 'c', 0.24],
      ])
      expect(states()).toEqual(['busy', 'open', 'open', 'open'])
      // A share is free again a little below it.
      await set([
        [1, 'a', 0.249],
        [2, 'a', 0.1],
        [3, 'b', 0.249],
        [4, 'c', 0.249],
      ])
      expect(states()).toEqual(['busy', 'open', 'open', 'open'])
      await set([
        [1, 'a', 0.246],
        [3, 'b', 0.249],
        [4, 'c', 0.33],
      ])
      expect(states()).toEqual(['open', 'open', 'open', 'busy'])
      await set([
        [1, 'a', 0.5],
        [3, 'b', 0.5],
      ])
      expect(states()).toEqual(['busy', 'busy', 'busy', 'busy'])
      await set([[1, 'a', 0.7]])
      expect(states()).toEqual(['open', 'open', 'open', 'open'])
    },
  )
})

describe('a disk', () => {
  test('with less than a twentieth free refuses requests; a gibibyte is always enough', async () => {
    const { admission, disk } = watch()
    const states: string[] = []
    for (const [freeBytes, totalBytes] of [
      [600 * MIB, 10 * GIB],
      [500 * MIB, 10 * GIB],
      [560 * MIB, 10 * GIB],
      [580 * MIB, 10 * GIB],
      [1.01 * GIB, 1_000 * GIB],
      [0.99 * GIB, 1_000 * GIB],
      [300 * MIB, GIB],
      [200 * MIB, GIB],
    ] as const) {
      disk.now = { freeBytes, totalBytes }
      await admission.refresh()
      states.push(admission.state(null))
    }
    expect(states).toEqual(['open', 'disk', 'disk', 'open', 'open', 'disk', 'open', 'disk'])
    expect(admission.disk()).toEqual({ freeBytes: 200 * MIB, totalBytes: GIB })
  })

  test('is read from the file system', async () => {
    const { freeBytes, totalBytes } = await readDisk(tmpdir())
    expect(freeBytes).toBeGreaterThan(0)
    expect(totalBytes).toBeGreaterThan(freeBytes)
  })
})
