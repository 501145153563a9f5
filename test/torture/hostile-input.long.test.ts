import { describe, expect, test } from 'vitest'
import { random } from '#bench/payloads.ts'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { testServer } from '#test/kit/test-server.ts'
import { watchLoop } from '#test/kit/loop-watch.ts'
import { bombCases } from './bomb-cases.ts'
import { defuse } from './bombs.ts'
import { sendCases } from './hostile-json.ts'
import { freshTally, fuzzPurely, sendMutated } from './fuzz-envelopes.ts'
import { jsonCases } from './json-cases.ts'
import { smugglingCases } from './smuggling-cases.ts'
import { trySmuggling } from './smuggling.ts'
import { drip } from './slow-clients.ts'
import { envelopePath, type Target } from './target.ts'

/**
 * Short versions of T-09, T-10, T-11, T-13 and T-14 (docs/reliability.md); `npm run torture -- <name>` runs the long
 * ones and prints their figures.
 */

const SEED = 20_261_120

const server = await testServer({ realTime: true, env: { RATE_LIMIT_SCALE: '0' } })
const project = await aProject(await aFounder(server.url))
const dsn = new URL(project.dsn)
const target: Target = {
  url: server.url,
  project: { number: Number(dsn.pathname.slice(1)), publicKey: dsn.username },
}

/** How long a busy machine may need to close the connections, and to run the other tests meanwhile. */
const PATIENCE_S = 240

/** For T-13, which mostly waits: the others run meanwhile. */
const dripping = drip(
  target.url,
  `POST ${envelopePath(target)} HTTP/1.1\r\nhost: localhost\r\nx-slow: `,
  50,
  PATIENCE_S,
)

/** Everything accepted is digested too, and none of it is in quarantine. */
async function digestedWhole(): Promise<void> {
  await server.service.drain()
  const { rows } = await server.app.db.query('select reason from spool_quarantine')
  expect(rows).toEqual([])
}

test('T-09: mutated recordings crash nothing', async () => {
  const tally = freshTally()
  await fuzzPurely(3_000, SEED, tally)
  expect([...tally.crashes.keys()]).toEqual([])
  expect(tally.taken).toBeGreaterThan(1_000)
  expect(tally.longestMs).toBeLessThan(500)
})

test('T-09: mutated requests to every endpoint are accepted or refused', async () => {
  const answers = new Map<number, number>()
  await sendMutated(target, 600, random(SEED), answers)
  expect([...answers.keys()].filter((status) => status === 0 || status >= 500)).toEqual([])
  expect(answers.get(200)).toBeGreaterThan(100)
  await digestedWhole()
})

test('T-10: bombs of every coding are refused or within the limits, and delay no other request', async () => {
  // The large ones take long on the wire alone.
  const bombs = bombCases(target, SEED).filter(({ body }) => body.length < 2_000_000)
  const loop = watchLoop()
  const { refused, accepted, wrong } = await defuse(target.url, bombs, 1)
  expect(wrong).toEqual([])
  expect(refused + accepted).toBe(bombs.length)
  expect(loop.longestHoldMs()).toBeLessThan(500)
  loop.stop()
  await digestedWhole()
})

test('T-11: JSON that no serializer writes is accepted or refused, and touches no prototype', async () => {
  const cases = jsonCases(target, SEED, 550).filter(({ body }) => body.length < 3_000_000)
  const { accepted, refused, wrong } = await sendCases(target.url, cases)
  expect(wrong).toEqual([])
  expect(accepted).toBeGreaterThan(100)
  expect(refused).toBeGreaterThan(100)
  await digestedWhole()
  expect(Reflect.get({}, 'polluted')).toBeUndefined()
})

describe('T-14: raw requests that two HTTP parsers read differently', () => {
  const cases = smugglingCases(target, SEED)
  test('there are three hundred', () => {
    expect(cases.length).toBeGreaterThanOrEqual(300)
  })
  test.each(['refused', 'echo', 'lawful'] as const)(
    '%s',
    async (want) => {
      const found = await trySmuggling(
        target,
        cases.filter((one) => one.want === want),
      )
      expect(found).toMatchObject({ notRefused: [], unanswered: [], injected: [], seen: 0 })
    },
    60_000,
  )
})

test(
  'T-13: connections with dripping headers are closed',
  async () => {
    const dripped = await dripping
    expect(dripped).toMatchObject({ opened: 50, stillOpen: 0 })
    expect(dripped.slowestS).toBeGreaterThan(5)
  },
  (PATIENCE_S + 60) * 1_000,
)
