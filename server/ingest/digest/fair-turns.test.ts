import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cases, PROPERTY_TIMEOUT_MS } from '#test/kit/properties.ts'
import { FairTurns } from './fair-turns.ts'

const TURN_MS = 4

/** A thread whose time only work moves. */
function aThread() {
  let ms = 0
  const turns = new FairTurns({ nowMs: () => ms, usedMs: () => ms })
  const running = new Set<string>()
  const used = new Map<string, number>()
  /** The order of turns, as `org/project`. */
  const order: string[] = []
  return {
    turns,
    nowMs: () => ms,
    usedBy: (prefix: string) => [...used].reduce((sum, [name, of]) => sum + (name.startsWith(prefix) ? of : 0), 0),
    order,
    /** Does pieces of work, each of its cost, of one entry after the other. */
    async work(org: string, project: string, costs: readonly number[], onPiece: () => void = () => {}): Promise<void> {
      const name = `${org}/${project}`
      const turn = await turns.enter(org, project)
      for (const cost of costs) {
        const wait = turn.pause()
        if (wait !== null) await wait
        if (order.at(-1) !== name) order.push(name)
        running.add(name)
        expect(running.size).toBe(1)
        ms += cost
        used.set(name, (used.get(name) ?? 0) + cost)
        onPiece()
        running.delete(name)
        // Other code of the thread runs in between, but no other work.
        await Promise.resolve()
      }
      turn.leave()
    },
  }
}

const Costs = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 60 })
const Orgs = fc.array(fc.array(Costs, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 4 })

test(
  'who waits all the time has used as much as others, up to one turn; no time is wasted and each gets its turns',
  async () => {
    await fc.assert(
      fc.asyncProperty(Orgs, async (orgs) => {
        const thread = aThread()
        const left = new Map(
          orgs.flatMap((projects, org) => projects.map((costs, project) => [`${org}/${project}`, costs.length])),
        )
        const names = [...left.keys()]
        /** Who has had work from the start, and has some. */
        const busyIn = (prefix: string) => names.filter((name) => name.startsWith(prefix) && (left.get(name) ?? 0) > 0)
        const check = (): void => {
          const busyOrgs = orgs.map((_, org) => `${org}/`).filter((org) => busyIn(org).length > 0)
          expectClose(busyOrgs.map(thread.usedBy))
          for (const org of busyOrgs) expectClose(busyIn(org).map(thread.usedBy))
        }
        await Promise.all(
          orgs.flatMap((projects, org) =>
            projects.map((costs, project) =>
              thread.work(String(org), String(project), costs, () => {
                const name = `${org}/${project}`
                left.set(name, (left.get(name) ?? 0) - 1)
                check()
              }),
            ),
          ),
        )
        // Time passes only with work, so everything was done one after the other, without a deadlock.
        expect(thread.nowMs()).toBe(orgs.flat(2).reduce((sum, cost) => sum + cost, 0))
        expect([...left.values()].every((pieces) => pieces === 0)).toBe(true)
      }),
      { numRuns: cases(60, 5_000) },
    )
  },
  PROPERTY_TIMEOUT_MS,
)

/** A turn and the piece of work during which it ended, for each of two. */
const expectClose = (used: readonly number[]): void =>
  expect(Math.max(...used, 0) - Math.min(...used, Infinity)).toBeLessThanOrEqual(2 * (TURN_MS + 20))

test('a newcomer is next, whatever others used before and however many projects they have', async () => {
  const thread = aThread()
  const flood = Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map((project) =>
      thread.work(
        'flood',
        project,
        Array.from({ length: 100 }, () => 2),
      ),
    ),
  )
  await until(() => thread.nowMs() > 100)
  const turnsBefore = thread.order.length
  await thread.work('quiet', 'p', [1])
  expect(thread.order.slice(turnsBefore).indexOf('quiet/p')).toBeLessThanOrEqual(1)
  await flood
})

test('what was not used is not saved up', async () => {
  const thread = aThread()
  const flood = thread.work(
    'flood',
    'a',
    Array.from({ length: 400 }, () => 1),
  )
  await until(() => thread.nowMs() > 200)
  const startMs = thread.nowMs()
  await thread.work(
    'late',
    'b',
    Array.from({ length: 40 }, () => 1),
  )
  // Half of the time since then, although the other used 200 ms before.
  expect(thread.nowMs() - startMs).toBeGreaterThanOrEqual(2 * 40 - 3 * TURN_MS)
  await flood
})

test('one costly entry is paid back before the next turn', async () => {
  const thread = aThread()
  await Promise.all([
    thread.work('costly', 'a', [200, 1, 1, 1, 1, 1]),
    thread.work(
      'cheap',
      'b',
      Array.from({ length: 150 }, () => 1),
    ),
  ])
  expect(thread.order).toEqual(['costly/a', 'cheap/b', 'costly/a'])
})

test('others have the thread during work outside of it', async () => {
  const thread = aThread()
  const turn = await thread.turns.enter('one', 'a')
  await turn.outside(() => thread.work('two', 'b', [10]))
  expect(thread.order).toEqual(['two/b'])
  expect(turn.leave()).toBe(0)
})

/** A thread with two organisations of which one used much before; time passes with work and by waiting. */
async function besideCommit(committing: string): Promise<{ pauses: readonly number[]; worked: number }> {
  let ms = 0
  const pauses: number[] = []
  const turns = new FairTurns({
    nowMs: () => ms,
    usedMs: () => ms,
    after: (forMs, then) => {
      pauses.push(forMs)
      ms += forMs
      setImmediate(then)
    },
  })
  const little = await turns.enter('light', 'p')
  ms += 1
  little.leave()
  const turn = await turns.enter('heavy', 'p')
  ms += 20
  await turn.pause()
  let worked = 0
  await turns.commit(new Set([committing]), async () => {
    for (; worked < 5; worked++) {
      ms += 20
      await turn.pause()
    }
  })
  turn.leave()
  return { pauses, worked }
}

test('while an organisation that used little commits, others leave it the thread after each turn for as long', async () => {
  expect(await besideCommit('light')).toEqual({ pauses: [20, 20, 20, 20, 20], worked: 5 })
  expect(await besideCommit('unknown')).toEqual({ pauses: [20, 20, 20, 20, 20], worked: 5 })
})

test('a commit of its own, or of one that used as much, does not slow an organisation', async () => {
  expect(await besideCommit('heavy')).toEqual({ pauses: [], worked: 5 })
})

test('work outside of the thread gives way to such a commit, until it ends or for a time', async () => {
  let ms = 0
  const waits: (() => void)[] = []
  const turns = new FairTurns({ nowMs: () => ms, usedMs: () => ms, after: (_ms, then) => void waits.push(then) })
  const turn = await turns.enter('heavy', 'p')
  ms += 20
  turn.leave()
  // Without a commit, and for an organisation that used nothing.
  await turns.giveWay('heavy', 10)
  const ended = Promise.withResolvers<void>()
  const commit = turns.commit(new Set(['light']), () => ended.promise)
  await turns.giveWay('light', 10)
  expect(waits).toHaveLength(0)
  const first = turns.giveWay('heavy', 10)
  expect(waits).toHaveLength(1)
  waits[0]?.()
  await first
  const second = turns.giveWay('heavy', 10)
  ended.resolve()
  await commit
  await second
})

test('the end of a commit ends the pause', async () => {
  const never = Promise.withResolvers<void>()
  let ms = 0
  const turns = new FairTurns({ nowMs: () => ms, usedMs: () => ms, after: () => {} })
  const turn = await turns.enter('heavy', 'p')
  const commit = turns.commit(new Set(['light']), () => never.promise)
  ms += 20
  const pause = turn.pause()
  let isOver = false
  void pause?.then(() => {
    isOver = true
  })
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve))
  expect(isOver).toBe(false)
  never.resolve()
  await commit
  await pause
  turn.leave()
})

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve))
}
