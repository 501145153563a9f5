import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PlainLines } from './scrub-text.ts'
import { scrubEvent } from './scrub.ts'

test('has only the lines that were added', () => {
  const lines = new PlainLines(4)
  for (const line of ['a', 'b', 'c']) lines.add(line)
  expect(['a', 'b', 'c', 'd', ''].map((line) => lines.has(line))).toEqual([true, true, true, false, false])
  const long = 'x'.repeat(201)
  lines.add(long)
  expect(lines.has(long)).toBe(false)
})

test('is emptied when it is full, and pauses when lines do not repeat', () => {
  const lines = new PlainLines(2)
  const meet = (line: string): boolean => {
    const known = lines.has(line)
    if (!known) lines.add(line)
    return known
  }
  // Two lines that repeat stay known while every third line differs.
  expect(['a', 'b', 'a', 'b', 'c', 'a', 'b', 'c'].map(meet)).toEqual([
    false,
    false,
    true,
    true,
    false,
    false,
    false,
    false,
  ])
  for (let i = 0; i < 30; i++) meet(`only once ${i}`)
  expect([meet('a'), meet('a')]).toEqual([false, false])
  for (let i = 0; i < 60; i++) meet('a')
  expect(meet('a')).toBe(true)
})

test('a line that is plain for one project is checked by the rules of another', () => {
  const event = () => ({ pre_context: ['send to ann@example.com now', '    }', 'nothing at all'] })
  const kept = event()
  expect(scrubEvent(kept)).toBe(false)
  expect(kept).toEqual(event())
  const strict = event()
  expect(scrubEvent(strict, { removeEmails: true })).toBe(true)
  expect(JSON.stringify(strict)).not.toContain('ann@example.com')
  expect(scrubEvent(event(), { defaults: false })).toBe(false)
})

test('repeated lines of source are scrubbed in the same way', () => {
  const piece = fc.constantFrom(
    "password = 'hunter2'",
    'Bearer abcdefghij0123456789',
    'https://ann:secret@example.com/x',
    '4111 1111 1111 1111',
    '/home/ann/x',
    "'token=abc'",
    'if (current === null) {',
    'a@b.example',
    ' ',
    'é',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 4 }), fc.boolean(), (pieces, removeEmails) => {
      const line = pieces.join(' ')
      const once = { context_line: line }
      scrubEvent(once, { removeEmails })
      const again = { pre_context: [line, line] }
      scrubEvent(again, { removeEmails })
      expect(again.pre_context).toEqual([once.context_line, once.context_line])
      // A line of another length is checked again.
      const longer = { context_line: `${line}${' '.repeat(220)}` }
      scrubEvent(longer, { removeEmails })
      expect(longer.context_line.trimEnd()).toBe(once.context_line.trimEnd())
    }),
  )
})
