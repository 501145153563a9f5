import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { errorForLog } from './app.ts'

const { app } = await testApp()

const refusal = async (sql: string, values: unknown[]): Promise<Error> => {
  try {
    await app.db.query(sql, values)
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('the database refused nothing')
}

test.each([
  ['a wrong value', 'select $1::timestamptz', ['canary']],
  ['broken JSON', 'select $1::jsonb', ['{"password": canary}']],
  ['a broken constraint', `insert into orgs values (null, $1, 'x', 'x', now())`, ['canary']],
])('%s is logged without the value', async (_what, sql, values) => {
  const error = await refusal(sql, values)
  expect(JSON.stringify(Object.entries(error)) + error.message).toContain('canary')
  const shown = errorForLog(error)
  expect(JSON.stringify(shown)).not.toContain('canary')
  expect(shown).toMatchObject({ code: expect.stringMatching(/^2/) as string, stack: expect.any(String) as string })
  expect(shown.message).not.toBe('')
})

test('other errors are logged in full', () => {
  expect(errorForLog(new Error('because: "this"', { cause: new Error('of that') }))).toMatchObject({
    message: 'because: "this": of that',
  })
})

test('a value that is no error is returned unchanged', () => {
  for (const given of ['the connection broke', undefined, null, 7, { code: '23505' }])
    expect(errorForLog(given)).toBe(given)
})
