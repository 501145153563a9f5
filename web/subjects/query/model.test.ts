import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chipsAround, partAt, removed, reopened, shown, taken, typed, typedText, type FieldState } from './model.ts'

/** The field as it is read: chips in brackets, the input between bars. */
function drawn(state: FieldState): string {
  const { before, after } = chipsAround(state)
  const chips = (all: typeof before) => all.map(({ text, term }) => (term === null ? `{${text}}` : `<${text}>`))
  return [...chips(before), `|${typedText(state)}|`, ...chips(after)].join(' ')
}

describe('a query is shown', () => {
  test.each([
    ['', '||'],
    ['checkout', '|checkout|'],
    ['is:unresolved', '<is:unresolved> ||'],
    ['is:unresolved check', '<is:unresolved> |check|'],
    ['checkout "on pay" is:unresolved', '{checkout} {"on pay"} <is:unresolved> ||'],
    ['(a OR b) -level:[error, fatal] ', '{(a OR b)} <-level:[error, fatal]> ||'],
    ['a:1 OR b:2', '|a:1 OR b:2|'],
    ['a:1 AND (', '|a:1 AND (|'],
    ['a:1 release:"open', '<a:1> |release:"open|'],
    ['a:1"open', '|a:1"open|'],
    ['a:1(b c) d:2', '{a:1(b c)} <d:2> ||'],
    ['https://x.example level:', '|https://x.example level:|'],
    ['a) b:1', '|a) b:1|'],
  ])('%j', (text, field) => expect(drawn(shown(text))).toBe(field))
})

const all = (text: string): FieldState => ({ text, from: 0, to: text.length })

describe('typing', () => {
  test('a space behind a finished term makes it a chip, words stay words', () => {
    expect(drawn(typed(all(''), 'checkout '))).toBe('|checkout |')
    expect(drawn(typed(all('checkout '), 'checkout is:unresolved'))).toBe('|checkout is:unresolved|')
    expect(drawn(typed(all('is:unresolved'), 'is:unresolved '))).toBe('<is:unresolved> ||')
    expect(drawn(typed(all(''), 'release:"a '))).toBe('|release:"a |')
    expect(drawn(typed(all(''), 'a:1 OR b:2 '))).toBe('|a:1 OR b:2 |')
  })

  test('a chip is edited in its place', () => {
    const state = shown('a:1 b:2 c:3')
    const chip = chipsAround(state).before[1] ?? { start: 0, end: 0 }
    const open = reopened(state, chip)
    expect(drawn(open)).toBe('<a:1> |b:2| <c:3>')
    expect(typed(open, 'b:22').text).toBe('a:1 b:22 c:3 ')
    expect(drawn(typed(open, 'b:22 '))).toBe('<a:1> <b:22> <c:3> ||')
  })

  test('what cannot be a chip stays in the input when another chip is edited', () => {
    const state = shown('a:1 "open')
    expect(drawn(reopened(state, { start: 0, end: 3 }))).toBe('|a:1 "open|')
  })

  test('a chip is removed, what is typed stays', () => {
    const state = typed(shown('a:1 b:2 '), 'check')
    expect(drawn(removed(state, { start: 0, end: 3 }))).toBe('<b:2> |check|')
    expect(drawn(removed(state, { start: 4, end: 7 }))).toBe('<a:1> |check|')
    expect(removed(shown('a:1'), { start: 0, end: 3 }).text).toBe('')
  })
})

describe('any text', () => {
  const bits = [
    'is:resolved',
    'level:[a, b]',
    '"a b"',
    'OR',
    'NOT',
    '(',
    ')',
    '-',
    '[',
    '"',
    ':',
    ' ',
    ' ',
    'foo',
    'x:"y z"',
  ]
  const text = fc.oneof(
    fc.array(fc.constantFrom(...bits), { maxLength: 12 }).map((parts) => parts.join('')),
    fc.array(fc.constantFrom(...bits), { maxLength: 8 }).map((parts) => parts.join(' ')),
  )
  const seen = (state: FieldState): string => {
    const { before, after } = chipsAround(state)
    return [...before.map((chip) => chip.text), typedText(state), ...after.map((chip) => chip.text)].join('')
  }
  const plain = (value: string): string => value.replaceAll(/\s/g, '')

  test('is all in the field, whatever is done with its chips', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(), { maxLength: 4 }), text, (given, picks, more) => {
        let state = shown(given)
        expect(state.text.trimEnd()).toBe(given.trimEnd())
        for (const pick of picks) {
          const { before, after } = chipsAround(state)
          const chips = [...before, ...after]
          const chip = chips[pick % Math.max(1, chips.length)]
          if (chip !== undefined) state = pick % 3 === 0 ? removed(state, chip) : reopened(state, chip)
          expect(plain(seen(state))).toBe(plain(state.text))
        }
        state = typed(state, more)
        expect(plain(state.text)).toContain(plain(more))
        expect(plain(seen(state))).toBe(plain(state.text))
      }),
      { numRuns: 500 },
    )
  })
})

describe('what is being typed', () => {
  const at = (marked: string) => partAt(marked.replace('|', ''), marked.indexOf('|'))
  test.each([
    ['|', null, ''],
    ['rel|', null, 'rel'],
    ['checkout -rel|', null, 'rel'],
    ['release:|', 'release', ''],
    ['release:1.2|', 'release', '1.2'],
    ['Release:"a b|', 'release', 'a b'],
    ['-level:[error, fa|', 'level', 'fa'],
    ['tag:["a, b", c|', 'tag', 'c'],
    ['tag:[🔥🔥, c|', 'tag', 'c'],
    ['(level:er|', 'level', 'er'],
    ['events:>1|', 'events', '>1'],
    ['is:unresolved |', null, ''],
  ])('%s', (marked, key, prefix) => expect(at(marked)).toMatchObject({ key, prefix }))

  test.each(['"on p|', 'https://x|', 'std::v|', '100%|'])('%s has no suggestions', (marked) => {
    expect(at(marked)).toBe(null)
  })

  test.each([
    ['rel|', 'release:', '|release:|', 8],
    ['-rel|', 'release:', '|-release:|', 9],
    ['rel|ease:1', 'release:', '|release:1|', 8],
    ['release:1|', '1.2.3', '<release:1.2.3> ||', 0],
    ['release:"a|', '"a b"', '<release:"a b"> ||', 0],
    ['level:[error, fa|', 'fatal', '|level:[error, fatal|', 19],
    ['is:un| checkout', 'unresolved', '|is:unresolved checkout|', 13],
    ['a OR is:un|', 'unresolved', '|a OR is:unresolved |', 19],
  ])('%s takes %s', (marked, text, field, caret) => {
    const value = marked.replace('|', '')
    const part = partAt(value, marked.indexOf('|'))
    const next = part === null ? null : taken(all(value), part, text)
    expect([next === null ? '' : drawn(next.state), next?.caret]).toEqual([field, caret])
  })
})
