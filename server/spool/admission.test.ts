import { tmpdir } from 'node:os'
import { afterEach, describe, expect, test } from 'vitest'
import { diskOf, watchAdmission, type Admission, type Disk } from './admission.ts'

const GIB = 1024 ** 3
const MIB = 1024 ** 2

let watched: Admission | null = null
afterEach(() => watched?.close())

function watch(): { admission: Admission; backlog: { entries: number; bytes: number }; disk: { now: Disk | null } } {
  const backlog = { entries: 0, bytes: 0 }
  const disk: { now: Disk | null } = { now: null }
  const admission = watchAdmission(
    { maxBacklogEntries: 100, maxBacklogBytes: 1_000 },
    {
      backlog: () => Promise.resolve({ rows: 0, oldestAgeMs: 0, ...backlog }),
      disk: () => Promise.resolve(disk.now),
    },
  )
  watched = admission
  return { admission, backlog, disk }
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
        states.push(admission.state())
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
    expect(admission.state()).toBe('busy')
  })
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
      states.push(admission.state())
    }
    expect(states).toEqual(['open', 'disk', 'disk', 'open', 'open', 'disk', 'open', 'disk'])
    expect(admission.disk()).toEqual({ freeBytes: 200 * MIB, totalBytes: GIB })
  })

  test('is read from the file system', async () => {
    const { freeBytes, totalBytes } = await diskOf(tmpdir())
    expect(freeBytes).toBeGreaterThan(0)
    expect(totalBytes).toBeGreaterThan(freeBytes)
  })
})
