import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mentionsIn } from './mentions.ts'

const people = [
  { id: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
  { id: 'adam', name: 'Ada', email: 'adam@example.com' },
  { id: 'zoe1', name: 'Zoë Müller', email: 'zoe1@example.com' },
  { id: 'zoe2', name: 'Zoë Müller', email: 'zoe2@example.com' },
  { id: 'grace', name: 'Grace Brewster Hopper', email: 'grace.hopper+x@example.com' },
]
const found = (text: string) => mentionsIn(text, people).map(({ written, userId }) => `${written}=${userId}`)

describe('mentions', () => {
  test.each([
    ['@Ada Lovelace look', ['@Ada Lovelace=ada']],
    ['@ada lovelace, look', ['@ada lovelace=ada']],
    // A whole name goes before a first name.
    ['@Ada look', ['@Ada=adam']],
    ['@Ada Lovelaces is nobody, so it is the other Ada', ['@Ada=adam']],
    ['thanks @Grace!', ['@Grace=grace']],
    ['(@Grace Brewster Hopper)', ['@Grace Brewster Hopper=grace']],
    [
      '@adam@example.com and @GRACE.HOPPER+x@example.com.',
      ['@adam@example.com=adam', '@GRACE.HOPPER+x@example.com=grace'],
    ],
    ['@zoe1@example.com, but which @Zoë Müller?', ['@zoe1@example.com=zoe1']],
    ['@Zoe\u0308 Mu\u0308ller is two people however it is written', []],
    ['@Zoë is two people', []],
    ['write to ada@example.com', []],
    ['`@Ada` and ```\n@Ada Lovelace\n``` are code', []],
    ['``` never closed @Ada', []],
    ['@Adaptive @nobody @ Ada @', []],
    ['@Grace\nBrewster', ['@Grace=grace']],
    ['@Ada @Ada @ADA', ['@Ada=adam', '@ADA=adam']],
    ['', []],
  ])('%s', (text, expected) => {
    expect(found(text)).toEqual(expected)
  })

  test('nobody is called by emptiness', () => {
    expect(mentionsIn('@ @\t@.', [{ id: 'x', name: '   ', email: 'x@example.com' }])).toEqual([])
  })

  test('what it finds stands in the text, of a member, and costs little however it is asked', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('@', 'Ada', ' ', 'Lovelace', '`', '\n', '.', 'ß', '😀', '@Grace'), { maxLength: 80 }),
        (parts) => {
          const text = parts.join('')
          for (const { written, userId } of mentionsIn(text, people)) {
            expect(text).toContain(written)
            expect(people.map(({ id }) => id)).toContain(userId)
          }
        },
      ),
    )
    const started = performance.now()
    for (const piece of ['@', '@ ', '@a', '`', '@Ada ', '```', '@.a'])
      mentionsIn(piece.repeat(Math.ceil(10_000 / piece.length)), people)
    expect(performance.now() - started).toBeLessThan(1_000)
  })
})
