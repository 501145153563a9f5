import { expect, test } from 'vitest'
import { csvText } from './csv.ts'

test('a table has a header, CRLF, and quotes around commas, quotes and line breaks', () => {
  const rows = [
    { name: 'a,b', sessions: 3, rate: 0.5 },
    { name: 'say "hi"\nthen go', sessions: -1, rate: null },
  ]
  expect(csvText(['name', 'sessions', 'rate'], rows)).toBe(
    'name,sessions,rate\r\n"a,b",3,0.5\r\n"say ""hi""\nthen go",-1,\r\n',
  )
})

test('a text that a spreadsheet would run stays text; a negative number stays a number', () => {
  const texts = [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\tx',
    '\rx',
    ' =1',
    "'x",
    ';=1',
    'a;=1',
    ';x',
    '\n=1',
    '＝1',
    'a;b',
    'a-b; c',
  ]
  const lines = csvText(
    ['name'],
    texts.map((name) => ({ name })),
  )
  expect(lines).toBe(
    [
      'name',
      "'=1+1",
      "'+1",
      "'-1",
      "'@SUM(A1)",
      `"'\tx"`,
      `"'\rx"`,
      "' =1",
      "'x",
      `"';'=1"`,
      `"a;'=1"`,
      `"';x"`,
      `"'\n'=1"`,
      "'＝1",
      '"a;b"',
      '"a-b; c"',
      '',
    ].join('\r\n'),
  )
  expect(csvText(['n'], [{ n: -1 }])).toBe('n\r\n-1\r\n')
})
