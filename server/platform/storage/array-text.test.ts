import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { arrayText } from './array-text.ts'

const { app } = await testApp()

const readAs = async (type: string, items: readonly unknown[]): Promise<unknown> =>
  (await app.db.query<{ items: unknown }>(`select $1::${type}[] as items`, [arrayText(items)])).rows[0]?.items

test('PostgreSQL reads arrays as they were', async () => {
  const texts = [
    '',
    'NULL',
    'null',
    null,
    'a,b',
    '{}',
    '"',
    '\\',
    '\\"x\\\\',
    "it's",
    ' \n\t',
    'é🎉',
    '\u001f',
    '"\u001f\n\\',
  ]
  expect(await readAs('text', texts)).toEqual(texts)
  expect(await readAs('text', [])).toEqual([])
  expect(await readAs('text', [undefined])).toEqual([null])
  expect(await readAs('float8', [0, -1.5, 1e300, 2 ** 53, Infinity, NaN])).toEqual([
    0,
    -1.5,
    1e300,
    2 ** 53,
    Infinity,
    NaN,
  ])
  expect(await readAs('bool', [true, false, null])).toEqual([true, false, null])
  const times = [0, -1, 1, 1_795_000_000_123].map((ms) => new Date(ms))
  times.push(new Date('1000-01-01T00:00:00Z'), new Date('9999-12-31T23:59:59.999Z'))
  expect(await readAs('timestamptz', times)).toEqual(times)
})

test('leaves to the driver what it writes in another form', () => {
  for (const item of [Buffer.from('a'), ['a'], { a: 1 }, new Date(NaN), new Date('0999-01-01T00:00:00Z'), 1n])
    expect(arrayText(['a', item])).toBeNull()
})
