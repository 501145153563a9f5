import { describe, expect, test } from 'vitest'
import { ordered } from './names.ts'
import { matchesMember, mentionParts, typedMention, withMention, writtenAs } from './model.ts'

const ada = { id: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' }
const adam = { id: 'adam', name: 'Ada', email: 'adam@example.com' }
const zoe = { id: 'zoe', name: 'Zoë Müller', email: 'z@example.com' }
const zoe2 = { id: 'zoe2', name: 'zoë müller', email: 'z2@example.com' }
const nameless = { id: 'n', name: ' ', email: 'n@example.com' }

describe('members', () => {
  test('match the beginning of a word of their name, or of their e-mail address', () => {
    for (const typed of ['', 'a', 'LOVE', 'ada l', 'ada@']) expect(matchesMember(ada, typed)).toBe(true)
    for (const typed of ['lace', 'example', 'ada  ', 'x']) expect(matchesMember(ada, typed)).toBe(false)
  })

  test('are sorted by name, the user first', () => {
    expect(ordered([zoe, nameless, ada], 'zoe').map(({ id }) => id)).toEqual(['zoe', 'ada', 'n'])
    expect(ordered([zoe, ada], undefined).map(({ id }) => id)).toEqual(['ada', 'zoe'])
  })
})

describe('a mention that is being typed', () => {
  test.each([
    ['@', 1, { at: 0, text: '' }],
    ['hi @ada lo', 10, { at: 3, text: 'ada lo' }],
    ['hi @ada lo', 6, { at: 3, text: 'ad' }],
    ['mail ada@exam', 13, null],
    ['@ada\nlo', 7, null],
    ['no sign', 4, null],
    [`@${'a'.repeat(70)}`, 71, null],
  ])('%j at %i', (value, caret, expected) => {
    expect(typedMention(value, caret)).toEqual(expected)
  })

  test('replaces the typed text', () => {
    expect(withMention('hi @ad there', 6, { at: 3, text: 'ad' }, '@Ada')).toEqual({ value: 'hi @Ada there', caret: 8 })
    expect(withMention('@z', 2, { at: 0, text: 'z' }, '@Zoë')).toEqual({ value: '@Zoë ', caret: 5 })
  })

  test('is written so that it names one member', () => {
    const all = [ada, adam, zoe, zoe2, nameless]
    expect(all.map((member) => writtenAs(member as never, all))).toEqual([
      '@Ada Lovelace',
      '@Ada',
      '@z@example.com',
      '@z2@example.com',
      '@n@example.com',
    ])
  })
})

describe('mentions in a line', () => {
  const mentions = [
    { text: '@Ada', user: adam },
    { text: '@Ada Lovelace', user: ada },
    { text: '@z+1@example.com', user: zoe },
  ]
  const of = (line: string) =>
    mentionParts(line, mentions).map((part) => (typeof part === 'string' ? part : `<${part.id}>`))

  test.each([
    ['@Ada Lovelace and @Ada, @z+1@example.com.', ['<ada>', ' and ', '<adam>', ', ', '<zoe>', '.']],
    ['@Adaptive x@Ada @Adas', ['@Adaptive x@Ada @Adas']],
    ['no mention', ['no mention']],
    ['', []],
  ])('%s', (line, expected) => {
    expect(line === '' ? of(line).filter((part) => part !== '') : of(line)).toEqual(expected)
  })
})
