import { expect, test } from 'vitest'
import { prepareClientReport } from './preparers.ts'
import type { ItemInput } from './item.ts'

const prepare = async (payload: string): Promise<unknown> => {
  const decoded = Buffer.from(payload)
  const item = { type: 'client_report', headers: {}, headerStart: 0, start: 0, end: decoded.length, surplus: false }
  // This item type does not read the other fields.
  const input = { decoded, item, project: { scrubbing: {} } } as unknown as ItemInput
  return prepareClientReport(input)
}
const invalid = (reason: string) => [{ category: 'internal', quantity: 1, outcome: 'invalid', reason }]

test('a report becomes losses; reasons with secrets are scrubbed', async () => {
  const report = (reason: string) => JSON.stringify({ discarded_events: [{ reason, category: 'error', quantity: 2 }] })
  expect(await prepare(report('before_send'))).toEqual([
    {
      category: 'internal',
      quantity: 1,
      kind: 'client_report',
      fact: [{ kind: 'discarded', reason: 'before_send', category: 'error', quantity: 2 }],
    },
  ])
  expect(JSON.stringify(await prepare(report('card 4111 1111 1111 1111')))).not.toContain('4111')
})

test('an item that is no report is invalid with a reason', async () => {
  expect(await prepare('{"discarded_events":')).toEqual(invalid('not_json'))
  expect(await prepare(`{"x":${'['.repeat(70)}${']'.repeat(70)}}`)).toEqual(invalid('too_deep'))
  expect(await prepare(`[${'1,'.repeat(100_001)}1]`)).toEqual(invalid('too_many_values'))
  expect(await prepare('[]')).toEqual(invalid('not_a_report'))
  expect(await prepare('{"discarded_events":[{"reason":1}]}')).toEqual(invalid('not_a_report'))
})
