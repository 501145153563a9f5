import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { ReleaseFacts } from '../../projects/releases/order.ts'
import { StoredFix } from './life-columns.ts'
import { decide, newIssue, onEvents } from './life-cycle.ts'

/**
 * Release histories with a human decision about what an event does to a resolved issue, and why. The decisions were made
 * before the code ran: where they differ, the code is wrong. Days are days of one month.
 */

const Day = z.number().int()
const History = z.strictObject({
  name: z.string(),
  outcome: z.enum(['regressed', 'without the fix', 'not known']),
  reason: z.string().min(10),
  fix: StoredFix,
  resolved: Day,
  releases: z.record(
    z.string(),
    z.strictObject({ released: Day.optional(), created: Day.optional(), seen: Day.optional() }),
  ),
  event: z.strictObject({ release: z.string().nullable(), day: Day }),
})
type History = z.output<typeof History>

const file = new URL('../../../test/fixtures/release-histories.json', import.meta.url)
const { found, further, decorated } = z
  .strictObject({ found: z.array(History), further: z.array(History), decorated: z.array(History) })
  .parse(JSON.parse(readFileSync(file, 'utf8')))
const histories = [...found, ...further, ...decorated]

const dayOf = (day: number): Date => new Date(Date.UTC(2026, 10, day))
const dayOrNull = (day: number | undefined): Date | null => (day === undefined ? null : dayOf(day))

function outcomeOf({ fix, resolved, releases, event }: History): History['outcome'] {
  const facts = Object.entries(releases).map(([version, { released, created, seen }]): [string, ReleaseFacts] => [
    version,
    { version, releasedAt: dayOrNull(released), createdAt: dayOrNull(created), firstSeenAt: dayOrNull(seen) },
  ])
  const { life } = decide(newIssue(dayOf(1)).life, { status: 'resolved', fix }, 'Ada resolved it.', dayOf(resolved))
  const arrived = { eventId: 'a'.repeat(32), occurredAt: dayOf(event.day), release: event.release }
  const step = onEvents(life, { events: [arrived], newUsers: [], releases: new Map(facts) }, dayOf(event.day))
  if (step.life.status === 'regressed') return 'regressed'
  return step.facts[0]?.sentence.includes('not known') === true ? 'not known' : 'without the fix'
}

test('there are at least fifty histories with different names, of all outcomes', () => {
  expect(histories.length).toBeGreaterThanOrEqual(50)
  expect(further.length).toBeGreaterThanOrEqual(40)
  expect(decorated.length).toBeGreaterThanOrEqual(20)
  expect(new Set(histories.map(({ name }) => name)).size).toBe(histories.length)
  for (const outcome of History.shape.outcome.options)
    expect(histories.filter((one) => one.outcome === outcome).length).toBeGreaterThanOrEqual(4)
})

test.each(histories)('$name: $outcome', (history) => {
  expect(outcomeOf(history), history.reason).toBe(history.outcome)
})
