import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cpuMs } from '#test/kit/loop-watch.ts'
import { mentionsIn } from './mentions.ts'

const members = [
  { id: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
  { id: 'adam', name: 'Ada', email: 'adam@example.com' },
  { id: 'zoe1', name: 'Zoë Müller', email: 'zoe1@example.com' },
  { id: 'zoe2', name: 'Zoë Müller', email: 'zoe2@example.com' },
  { id: 'grace', name: 'Grace Brewster Hopper', email: 'grace.hopper+x@example.com' },
]
const found = (text: string) => mentionsIn(text, members).map(({ written, userId }) => `${written}=${userId}`)

describe('mentions', () => {
  test.each([
    ['@Ada Lovelace look', ['@Ada Lovelace=ada']],
    ['@ada lovelace, look', ['@ada lovelace=ada']],
    // A full name takes precedence over a first name.
    ['@Ada look', ['@Ada=adam']],
    ['@Ada Lovelaces is no member, so this mentions the other Ada', ['@Ada=adam']],
    ['thanks @Grace!', ['@Grace=grace']],
    ['(@Grace Brewster Hopper)', ['@Grace Brewster Hopper=grace']],
    [
      '@adam@example.com and @GRACE.HOPPER+x@example.com.',
      ['@adam@example.com=adam', '@GRACE.HOPPER+x@example.com=grace'],
    ],
    ['@zoe1@example.com, but which @Zoë Müller?', ['@zoe1@example.com=zoe1']],
    ['@Zoe\u0308 Mu\u0308ller is the name of two members in either encoding', []],
    ['@Zoë is the first name of two members', []],
    ['write to ada@example.com', []],
    ['`@Ada` and ```\n@Ada Lovelace ``` are code', []],
    ['``` never closed @Ada', []],
    ['`` `@Ada` @Ada `` and ~~~ @Grace', ['@Grace=grace']],
    ['~~~\n@Ada\n~~~\n@Grace', ['@Grace=grace']],
    ['    @Ada indented\n\n@Grace', ['@Grace=grace']],
    ['- a list\n\n    @Grace', ['@Grace=grace']],
    ['`a\n\n@Grace `', ['@Grace=grace']],
    ['[@Ada](https://example.com) [x](/@Ada) ![@Ada](/a.png) <https://example.com/@Ada>', []],
    ['https://example.com/@Ada and http://x/?q=@Ada, but @Grace', ['@Grace=grace']],
    ['[@Ada][x]\n\n[x]: https://example.com', []],
    ['**@Grace** > *@Ada*', ['@Grace=grace', '@Ada=adam']],
    ['> @Grace said', ['@Grace=grace']],
    ['<b>@Grace</b>', ['@Grace=grace']],
    ['[ @Grace', ['@Grace=grace']],
    ['\\@Grace', ['@Grace=grace']],
    ['@Adaptive @unknown @ Ada @', []],
    ['@Grace\nBrewster', ['@Grace=grace']],
    ['@Ada @Ada @ADA', ['@Ada=adam', '@ADA=adam']],
    ['', []],
  ])('%s', (text, expected) => {
    expect(found(text)).toEqual(expected)
  })

  test('an @ without a name mentions no member whose name is blank', () => {
    expect(mentionsIn('@ @\t@.', [{ id: 'x', name: '   ', email: 'x@example.com' }])).toEqual([])
  })

  test('a text can mention a hundred members', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => ({
      id: `p${index}`,
      name: `Person ${index}`,
      email: `p${index}@example.com`,
    }))
    expect(mentionsIn(hundred.map(({ name }) => `@${name}`).join(' '), hundred)).toHaveLength(100)
  })

  test('a mention is part of the text and names a member; hostile texts cost little time', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom('@', 'Ada', ' ', 'Lovelace', '`', '\n', '.', 'ß', '😀', '@Grace', '[', '](', ')', '    '),
          { maxLength: 80 },
        ),
        (parts) => {
          const text = parts.join('')
          for (const { written, userId } of mentionsIn(text, members)) {
            expect(text).toContain(written)
            expect(members.map(({ id }) => id)).toContain(userId)
          }
        },
      ),
    )
    const started = cpuMs()
    for (const piece of ['@', '@ ', '@a', '`', '@Ada ', '```', '@.a', '@[', '[@](', '>@', '1. @', '*a @', '<@', '_@_'])
      mentionsIn(piece.repeat(Math.ceil(10_000 / piece.length)), members)
    expect(cpuMs() - started).toBeLessThan(2_000)
  })
})
