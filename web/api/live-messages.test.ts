import { expect, test } from 'vitest'
import { missedSince } from './live-messages.ts'

const project = { kind: 'project', project_id: 'p' } as const
const canary = { kind: 'canary' } as const
const recent = JSON.stringify({
  reach_ms: 8_000,
  messages: [
    { age_ms: 5_000, message: project },
    { age_ms: 100, message: canary },
    { age_ms: 50, message: { kind: 'of a later version' } },
  ],
})

test('messages that are younger than what was read were missed', () => {
  expect(missedSince(10_000, 10_000, recent)).toEqual([])
  expect(missedSince(9_900, 10_000, recent)).toEqual([canary])
  expect(missedSince(5_001, 10_000, recent)).toEqual([canary])
  expect(missedSince(5_000, 10_000, recent)).toEqual([project, canary])
  expect(missedSince(2_000, 10_000, recent)).toEqual([project, canary])
})

test('what was read before the messages begin may be out of date, and so may all of it without an answer', () => {
  expect(missedSince(1_999, 10_000, recent)).toBeNull()
  for (const text of ['', 'null', '{}', '{"reach_ms":99999}', undefined])
    expect(missedSince(9_000, 10_000, text)).toBeNull()
})
