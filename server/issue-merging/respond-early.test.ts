import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { respondEarly } from './respond-early.ts'

const { app } = await testApp()

test('returns the result or throws the error of work that ends in time', async () => {
  expect(await respondEarly(app, 'Merging', Promise.resolve(7))).toBe(7)
  await expect(respondEarly(app, 'Merging', Promise.reject(new Error('no')))).rejects.toThrow('no')
})

test('throws "unavailable" for work that takes longer, which continues', async () => {
  const work = Promise.withResolvers<number>()
  await expect(respondEarly(app, 'Merging', work.promise, 1)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/^Merging continues in the background/) as string,
  })
  const fails = Promise.withResolvers<number>()
  await expect(respondEarly(app, 'Unmerging', fails.promise, 1)).rejects.toThrow('Unmerging continues')
  work.resolve(1)
  // A later failure must not end the process.
  fails.reject(new Error('later'))
  await expect(fails.promise).rejects.toThrow('later')
})
