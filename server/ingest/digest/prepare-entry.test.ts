import { expect, test } from 'vitest'
import { newEventId } from '#test/kit/sdk.ts'
import { prepareEntry } from './prepare-entry.ts'
import { someProject } from './project-facts.fixture.ts'
import { spoolEntry } from '../spool/entry.fixture.ts'

const project = someProject()

const RECEIVED = Date.parse('2026-11-20T05:00:00Z')

async function occurredAt(sentAt: unknown, timestamp: string): Promise<string | undefined> {
  const eventId = newEventId()
  const [item] = await prepareEntry(
    spoolEntry({
      projectId: project.projectId,
      receivedAtMs: RECEIVED,
      eventId,
      body: [{ sent_at: sentAt }, { type: 'event' }, { message: 'x', timestamp }]
        .map((one) => JSON.stringify(one))
        .join('\n'),
    }),
    project,
  )
  return item !== undefined && 'kind' in item && item.kind === 'event'
    ? item.fact.event.occurredAt.toISOString()
    : undefined
}

test.each([
  ['55 minutes behind', '2026-11-20T04:05:00Z', '2026-11-20T04:55:00.000Z'],
  ['55 minutes ahead', '2026-11-20T05:55:00Z', '2026-11-20T03:05:00.000Z'],
  ['just less, behind', '2026-11-20T04:05:00.001Z', '2026-11-20T04:00:00.000Z'],
  ['just less, ahead', '2026-11-20T05:54:59.999Z', '2026-11-20T04:00:00.000Z'],
  ['another zone', '2026-11-20T09:55:00+04:00', '2026-11-20T03:05:00.000Z'],
  ['no time zone, which means UTC', '2026-11-20T05:00:00', '2026-11-20T04:00:00.000Z'],
  ['a clock that started at 1970', '1970-01-01T00:00:00Z', '2026-11-20T05:00:00.000Z'],
])('corrects a clock that is %s', async (_, sentAt, expected) => {
  expect(await occurredAt(sentAt, '2026-11-20T04:00:00Z')).toBe(expected)
})

test.each(['1', 'yesterday 3', '20', 'Fri Nov 20', '', 5, null, '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'])(
  'does not correct the clock for a sent_at of %j',
  async (sentAt) => {
    expect(await occurredAt(sentAt, '2026-11-20T04:00:00Z')).toBe('2026-11-20T04:00:00.000Z')
  },
)
