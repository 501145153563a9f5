import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { respondEarly } from './respond-early.ts'

const { app } = await testApp()

test('what is done in time is answered, what fails in time is told', async () => {
  expect(await respondEarly(app, 'Merging', Promise.resolve(7))).toBe(7)
  await expect(respondEarly(app, 'Merging', Promise.reject(new Error('no')))).rejects.toThrow('no')
})

test('what takes longer goes on, and the answer says so', async () => {
  const work = Promise.withResolvers<number>()
  await expect(respondEarly(app, 'Merging', work.promise, 1)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/^Merging goes on/) as string,
  })
  const fails = Promise.withResolvers<number>()
  await expect(respondEarly(app, 'Taking out', fails.promise, 1)).rejects.toThrow('Taking out goes on')
  work.resolve(1)
  // Nobody waits for it any more: it must not end the process.
  fails.reject(new Error('later'))
  await expect(fails.promise).rejects.toThrow('later')
})
